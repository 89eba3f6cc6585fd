"""A study file to begin with: commented, and following the playbook's rules of thumb."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tunebook.core.commands import OverrideStyle
from tunebook.core.domains import Value
from tunebook.core.objective import Better
from tunebook.studyfile.layout import inline
from tunebook.studyfile.roles import PLACE, Entry, Found, entries

_STEPS = 1000


def template(
    study: str,
    program: str,
    parameters: Sequence[tuple[str, Value]] = (),
    metric: str = "valid/error",
    better: Better = "lower",
    arguments: Sequence[tuple[str, Value]] = (),
    *,
    gpus: bool = False,
) -> str:
    """The text of a first study file for a training function.

    `parameters` are names with default values; None stands for a default that is not known. With no
    parameters, the file proposes a learning rate. `arguments` are others of the signature, which
    the run does not fill in: what they could be stands in comments. `gpus` says whether there are
    accelerators: then a trial gets one.
    """
    found = [Found(name, default) for name, default in parameters]
    known = {name for name, _ in parameters}
    proposed = [Found(name, default) for name, default in arguments if name not in known]
    lines = entries(found or ([] if proposed else [Found("learning_rate")]))
    what = _PROGRAM.format(program=inline(program))
    if arguments:
        what += _ARGUMENTS.format(names=", ".join(n for n, _ in arguments), name=arguments[0][0])
    budget = f"max_steps: {_STEPS}"
    return _fill(study, what, lines, metric, better, budget, entries(proposed), gpus=gpus)


def command_template(
    study: str,
    arguments: Sequence[str],
    parameters: Mapping[str, Found],
    style: OverrideStyle,
    metrics: Mapping[str, Any] | None = None,
    metric: str = "valid/error",
    better: Better = "lower",
    lacking: Sequence[str] = (),
    variables: Mapping[str, Found] | None = None,
    *,
    gpus: bool = False,
) -> str:
    """The text of a first study file for a command.

    `parameters` are by their options, such as `--weight-decay`; `metrics` says where metrics are
    found, None that the program logs them itself, and nothing in it that this is not known.
    `lacking` are arguments without a name that are still to be written. A program without options
    may read `variables`: what they could be stands in comments. With `gpus`, a trial gets one.
    """
    lines = entries([*parameters.values()], command=True)
    options = {found.name: option for option, found in parameters.items()}
    values = {found.name: found.default for found in parameters.values()}
    places = [entry for entry in lines if entry.section == PLACE]
    passed = [e.name for e in lines if e.content is not None and e.section in _PASSED]
    unlike = [n for n in passed if n in options and not _fits(n, options[n], style)]
    rest = [name for name in passed if name in options and name not in unlike]
    command = [
        *((inline(_escaped(argument)), "") for argument in arguments),
        *((None, f"{n}: the program needs this argument; write it here") for n in lacking),
        *((inline(f"{options[e.name]}={{{e.content}}}"), e.comment) for e in places),
        *_by_style(style, [(name, options[name]) for name in unlike], rest),
    ]
    proposed = entries([*(variables or {}).values()], command=True)
    what = _COMMAND.format(
        command="\n".join(_argument(text, why) for text, why in command),
        overrides=_overrides(style, [name for name in passed if name not in options]),
        metrics=_metrics(metrics),
    )
    if style == "environment":
        what = _variables(variables or {}, proposed) + what
    steps = [values[entry.name] for entry in places if entry.content == "max_steps"]
    budget = _budget(steps[0]) if steps else "# max_seconds: 3600"
    return _fill(study, what, lines, metric, better, budget, proposed, gpus=gpus)


def _by_style(
    style: OverrideStyle, unlike: Sequence[tuple[str, str]], rest: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Arguments that pass parameters; those `unlike` what the style writes stand by themselves."""
    if style == "hydra":
        yield inline("hydra.run.dir='{run_dir}'"), "where Hydra puts its files"
    for name, option in unlike:
        yield inline(f"{option}={{{name}}}"), ""
    if style != "environment":
        example = f"the other parameters, such as {_example(rest[0], style)}" if rest else ""
        yield inline("{overrides}"), example


def _budget(steps: Value) -> str:
    """As many steps as the program makes by itself, where that is known."""
    if isinstance(steps, str) or not steps or steps < 0:
        steps = _STEPS
    return f"max_steps: {inline(steps)}"


def _argument(text: str | None, why: str) -> str:
    return f"  - {text}{_comment(why)}" if text is not None else f"  # - ...{_comment(why)}"


def _variables(variables: Mapping[str, Found], proposed: Sequence[Entry]) -> str:
    """How a program without options is told its parameters."""
    names = {found.name: variable for variable, found in variables.items()}
    places = [(names[e.name], e.content) for e in proposed if e.section == PLACE]
    begin = [
        f'# For ${name}, begin the command with: env, "{name}={{{p}}}"\n' for name, p in places
    ]
    return "".join([_ENVIRONMENT, *begin])


def _fill(
    study: str,
    what: str,
    lines: Sequence[Entry],
    metric: str,
    better: Better,
    budget: str,
    proposed: Sequence[Entry] = (),
    *,
    gpus: bool,
) -> str:
    far = "low" if better == "lower" else "high"
    return _TEXT.format(
        study=inline(study),
        goal=inline(f"How {far} can tuning alone bring {metric}?"),
        what=what,
        objective=inline({"metric": metric, "better": better}),
        budget=budget,
        resources="resources: {gpus: 1}" if gpus else "# resources: {gpus: 1}",
        **{section: _section(section, lines, proposed) for section in _EXAMPLES},
    )


def _fits(name: str, option: str, style: OverrideStyle) -> bool:
    """Whether the style writes a parameter as this option."""
    return _option(name, style) == option


def _option(name: str, style: OverrideStyle) -> str:
    if style == "hydra":
        return name
    return f"--{name}" if style == "equals" else f"--{name.replace('_', '-')}"


def _example(name: str, style: OverrideStyle) -> str:
    return f"{_option(name, style)}{' ' if style == 'dashes' else '='}..."


def _overrides(style: OverrideStyle, without: Sequence[str]) -> str:
    if without:
        return f"overrides: {inline({'style': style, 'without': [*without]})}"
    return f"overrides: {style}"


def _metrics(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "# The program logs its metrics by tunebook.log."
    if not found:
        return _NO_METRICS
    return f"{_METRICS}\nmetrics: {inline(found)}"


def _escaped(argument: str) -> str:
    return argument.replace("{", "{{").replace("}", "}}")


def _section(section: str, lines: Sequence[Entry], proposed: Sequence[Entry]) -> str:
    own = [_line(entry) for entry in lines if entry.section == section]
    own += [f"# {_line(e).removeprefix('# ')}" for e in proposed if e.section == section]
    return "\n  ".join([f"{section}:", *(own or [f"# {_EXAMPLES[section]}"])])


def _line(entry: Entry) -> str:
    if entry.content is None:
        return f"# {entry.name}: {_comment(entry.comment)}"
    return f"{inline(entry.name)}: {inline(entry.content)}{_comment(entry.comment)}"


def _comment(why: str) -> str:
    return f"  # {why}" if why else ""


_PASSED = ("scientific", "nuisance", "fixed", "derive")
_EXAMPLES = {
    "scientific": "blocks: [2, 3]",
    "nuisance": "learning_rate: {log: [1e-5, 0.1]}",
    "fixed": "batch_size: 128",
    "derive": "momentum: 1 - one_minus_momentum",
    "knobs": "learning_rate: learning_rate",
}
_PROGRAM = """\
# The file and the function that trains one model. For any other script, write instead of it, say,
# command: [python, train.py, "{{overrides}}"]
program: {program}"""
_ARGUMENTS = """
# It is called with the run alone, so that these of its arguments keep their defaults: {names}.
# To make one a parameter, read run["{name}"] in the function, and take the '#' from its line."""
_COMMAND = """\
# The command of one trial. It runs in the folder of this file, and no shell reads it.
command:
{command}
# How it is passed what is not named above: dashes, equals, hydra, json or environment.
{overrides}
{metrics}"""
_ENVIRONMENT = """\
# The command names no options. Parameters reach it as variables of its environment: lr as $LR.
# Lines below that begin with '#' are proposals: take the '#' from those that are right.
"""
_METRICS = "# Where metrics are found, by the source of the program: check this."
_NO_METRICS = """\
# Where metrics are found: fill in one of these, unless the program says tunebook.log({...}, step=).
# metrics: {pattern: 'step (?P<step>\\d+) loss (?P<loss>\\S+)'}
# metrics: {json_lines: stdout}
# metrics: {tensorboard: "{run_dir}"}"""
_TEXT = """\
# A study asks one question about a training program. Lines that begin with '#' are comments.
study: {study}
# The question, as narrow as you can make it.
goal: {goal}
{what}
# The metric that decides, as the program logs it, and which way is better: lower or higher.
objective: {objective}
# What one trial may spend: max_steps, max_examples or max_seconds.
{budget}

# Scientific parameters are the question: each combination of their values is a setting to compare.
{scientific}

# Nuisance parameters are tuned anew for each setting, so that the comparison is fair.
{nuisance}

# Fixed parameters have one value: the answer holds for these values only.
{fixed}

# Derived parameters are computed from the others.
{derive}

# Knobs say which parameter plays which part, so that tunebook can turn it.
{knobs}

# Trials for each setting: more of them search the nuisance parameters better.
trials: 20

# What one trial gets of the machine. It sees no GPU but those that it is given here.
{resources}
"""
