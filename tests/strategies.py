"""Studies of every kind, for tests of what must hold for all of them."""

from __future__ import annotations

import keyword
from typing import Any

from hypothesis import strategies as st

from tunebook.core.commands import Command
from tunebook.core.domains import Choice, Domain, Float, Int, Limit, Value
from tunebook.core.knobs import METRIC_KNOBS, PARAMETER_KNOBS, Knobs
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space, When
from tunebook.core.study import Budget, Divergence, MoreTrials, Resources, Sampling, Study

# What writers and readers of text tend to take for something else.
AMBIGUOUS = (
    *("", " ", "no", "yes", "on", "y", "true", "True", "null", "~", "none", "nan", ".nan", "-.inf"),
    *("1", "-1", "1.0", "1e3", "1e-3", ".5e3", ".5e+3", "1_000", "-_", "._", "0x1F", "0o17", "0b1"),
    *("012", "1:30", "2001-01-01", "<<", "=", "-", "- a", "?", ": ", "a: b", "a #b", "#", "|", ">"),
    *(
        "%",
        "@a",
        "`a`",
        "!a",
        "&a",
        "*a",
        "{a: 1}",
        "[1]",
        ",",
        "'",
        '"',
        "\\",
        "\\n",
        "a\\",
        "---",
    ),
    *(
        "...",
        "a\n",
        "\na",
        "a\n\n",
        "a\n b",
        " a\nb",
        "a \nb",
        "a\tb",
        "\t",
        "\r",
        "a\r\nb",
        "\x00",
    ),
    *("\x1b[0m", "\x85", "\u2028", "\ufeff", "\xa0", "é", "日本", "😀", "x" * 200, "a b " * 60),
)

texts = st.one_of(
    st.sampled_from(AMBIGUOUS),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
# What a program can be passed.
arguments = texts.filter(lambda text: "\0" not in text)
numbers = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)
)
values: st.SearchStrategy[Value] = st.one_of(st.none(), st.booleans(), numbers, texts)
names = st.one_of(
    st.sampled_from(["learning_rate", "adam.beta1", "null", "true", "no", "_1", "y", "e1", "a-b"]),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.\-]{0,8}", fullmatch=True),
)
limits: st.SearchStrategy[Limit] = st.sampled_from(["low", "high", "both", None])


@st.composite
def ranges(draw: st.DrawFn) -> Float | Int:
    """A range of real or of whole numbers."""
    log = draw(st.booleans())
    if draw(st.booleans()):
        low, high = sorted(draw(_two(st.integers(1 if log else -(10**9), 10**9))))
        return Int(low, high, log, draw(limits))
    bounds = st.floats(1e-300 if log else -1e300, 1e300, allow_nan=False)
    low, high = sorted(draw(_two(bounds)))
    return Float(low, high, log, draw(limits))


choices = st.lists(
    values, min_size=1, max_size=4, unique_by=lambda value: (isinstance(value, bool), value)
).map(lambda content: Choice(tuple(content)))


@st.composite
def spaces(draw: st.DrawFn, most: int = 8) -> Space:
    """Parameters of every role, some of which depend on those before them."""
    parameters: list[Parameter] = []
    for name in draw(st.lists(names, unique=True, max_size=most)):
        role = draw(st.sampled_from(Role))
        source = draw(_sources(role, parameters))
        settings = role is Role.SCIENTIFIC and isinstance(source, Choice)
        when = draw(conditions(parameters, sampled=not settings))
        buckets = None
        if role is Role.SCIENTIFIC and not settings:
            buckets = draw(st.none() | st.integers(2, 9))
        parameters.append(Parameter(name, role, source, when, buckets))
    return Space(tuple(draw(st.permutations(parameters))))


@st.composite
def conditions(
    draw: st.DrawFn, parameters: list[Parameter], sampled: bool = True
) -> tuple[When, ...]:
    """Conditions on some of the discrete parameters; on sampled ones only where that may be."""
    usable = [p for p in parameters if p.is_discrete and (sampled or not p.is_sampled)]
    if not usable:
        return ()
    chosen = draw(st.lists(st.sampled_from(usable), max_size=2, unique_by=lambda p: p.name))
    return tuple(When(p.name, tuple(draw(_values_of(p)))) for p in chosen)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """A study with everything that one may say about it."""
    space = draw(spaces())
    arms = [p for p in space if p.makes_settings]
    more = st.builds(MoreTrials, conditions(arms), st.integers(1, 1000))
    return Study(
        name=draw(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,8}", fullmatch=True)),
        space=space,
        objective=draw(objectives),
        goal=draw(texts),
        **draw(_programs(space)),
        trials=draw(st.integers(1, 1_000_000)),
        more_trials=draw(_tuples(more)),
        budget=draw(st.none() | budgets),
        knobs=draw(knobs(space)),
        resources=draw(resources),
        divergence=draw(st.builds(Divergence, _tuples(texts), st.none() | numbers)),
        sampling=draw(samplings),
        seed=draw(st.integers(-(10**20), 10**20)),
        parent=draw(st.none() | texts),
        baseline=draw(_pairs(texts)),
        note=draw(texts),
    )


def _programs(space: Space) -> st.SearchStrategy[dict[str, Any]]:
    named = st.sampled_from([{}, {"program": "a:b"}, {"task": "c:d"}])
    return named | commands(space).map(lambda command: {"command": command})


@st.composite
def commands(draw: st.DrawFn, space: Space) -> Command:
    """A command that passes the parameters of a space on."""
    plain = arguments.map(lambda text: text.replace("{", "{{").replace("}", "}}"))
    paths = plain.map(lambda text: f"{{run_dir}}/{text}")
    always = [p.name for p in space if not p.when and not isinstance(p.source, Derived)]
    named = [f"--{name}={{{name}}}" for name in always]
    some = plain | st.sampled_from(named) if named else plain
    style = draw(st.sampled_from(["dashes", "equals", "hydra", "json"]))
    return Command(
        ("python", *draw(st.lists(some, max_size=3)), "{overrides}"),
        style,  # type: ignore[arg-type]
        draw(_tuples(st.sampled_from(space.names))) if space.names else (),
        draw(_tuples(paths | st.just("stdout"))),
        draw(_tuples(paths)),
        draw(_tuples(st.sampled_from([r"(?P<loss>\S+)", "(?P<name>a) (?P<value>b{1,2})"]))),
        draw(_tuples(st.integers(1, 255))),
    )


@st.composite
def knobs(draw: st.DrawFn, space: Space) -> Knobs:
    """Knobs that name parameters of a space."""
    fields: dict[str, Any] = {
        "batch_size_per": draw(st.sampled_from(["global", "device"])),
        "steps_unit": draw(st.sampled_from(["steps", "epochs", "tokens"])),
        "valid_examples": draw(st.none() | st.integers(1, 10**9)),
        "chance": draw(st.none() | numbers),
        "target": draw(st.none() | numbers),
    }
    fields |= {knob: draw(st.none() | texts) for knob in METRIC_KNOBS}
    if space.names:
        known = st.sampled_from(space.names)
        fields |= {knob: draw(st.none() | known) for knob in PARAMETER_KNOBS}
        fields |= {off: draw(_pairs(known)) for off in ("no_regularisation", "no_augmentation")}
    return Knobs(**fields)


constraints = st.one_of(
    st.builds(Constraint, texts, at_most=numbers), st.builds(Constraint, texts, at_least=numbers)
)
objectives = st.builds(
    Objective,
    st.builds(Metric, texts.filter(bool), st.sampled_from(["lower", "higher"])),
    st.sampled_from(["best", "last", "mean"]),
    st.integers(1, 100),
    st.lists(constraints, max_size=2).map(tuple),
)
budgets = st.builds(
    Budget,
    st.integers(1, 10**9) | st.floats(1e-3, 1e9),
    st.sampled_from(["steps", "examples", "seconds"]),
)
resources = st.builds(
    Resources,
    st.integers(1, 100),
    st.integers(0, 8),
    st.one_of(st.none(), st.integers(2**20, 2**45), st.integers(1, 999).map(lambda n: n * 2**30)),
)


def _two(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(numbers, min_size=2, max_size=2, unique=True)


def _tuples(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


def _pairs(keys: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[tuple[str, Value], ...]]:
    return st.dictionaries(keys, values, max_size=3).map(lambda content: tuple(content.items()))


samplings = st.one_of(
    st.builds(
        Sampling, st.sampled_from(["halton", "sobol", "random", "grid"]), st.integers(2, 100)
    ),
    st.builds(
        Sampling,
        st.just("list"),
        configs=st.lists(_pairs(names), min_size=1, max_size=3).map(tuple),
    ),
)


def _sources(
    role: Role, parameters: list[Parameter]
) -> st.SearchStrategy[Domain | Fixed | Derived]:
    if role is not Role.FIXED:
        return st.one_of(ranges(), choices)
    known = [p.name for p in parameters if p.name.isidentifier() and not keyword.iskeyword(p.name)]
    fixed = st.builds(Fixed, values)
    if not known:
        return fixed
    return fixed | st.sampled_from(known).map(lambda name: Derived(f"1 - {name} / 2"))


def _values_of(parameter: Parameter) -> st.SearchStrategy[list[Value]]:
    if isinstance(parameter.source, Choice):
        return st.lists(st.sampled_from(parameter.source.values), max_size=3)
    return st.lists(values, max_size=3)
