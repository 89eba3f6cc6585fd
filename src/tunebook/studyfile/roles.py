"""The playbook's rules of thumb: which part a parameter plays in a first study, by its name.

Parameters of the optimiser and of regularisation are nuisances; what the model is made of is held
until a study asks about it; the batch size is never searched, and the budget is one for all trials.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.expressions import names_in
from tunebook.core.masking import is_secret
from tunebook.core.space import Fixed, Parameter, Role
from tunebook.studyfile.layout import inline
from tunebook.studyfile.problems import shown

PLACE = "place"
_FACTOR = 30


class Found(NamedTuple):
    """A parameter that a program has; a default of None is one that is not known.

    A `switch` is an option that takes no value, and `several` one that takes more than one. `left`
    is why the program must be left to choose its value, where that is so.
    """

    name: str
    default: Value = None
    choices: tuple[Value, ...] = ()
    required: bool = False
    switch: bool = False
    several: bool = False
    left: str = ""


class Entry(NamedTuple):
    """One line of a section; without a content it is a comment.

    In the section `PLACE` the content is a placeholder that the command is passed.
    """

    section: str
    name: str
    content: Any
    comment: str = ""


Rule: TypeAlias = Callable[[Found], list[Entry]]


def entries(parameters: Sequence[Found], *, command: bool = False) -> list[Entry]:
    """What a first study does with each parameter; a name that comes again is passed over."""
    lines: dict[tuple[str, str], Entry] = {}
    knobs: list[tuple[int, Entry]] = []
    for parameter in parameters:
        for entry in _choose(parameter, command)(parameter):
            if entry.section == "knobs":
                knobs.append((len(_WORDS.split(parameter.name)), entry))
                continue
            # A parameter stands in one section only; a knob may have its name.
            kind = entry.section if entry.section == PLACE else "parameter"
            lines.setdefault((kind, entry.name if kind != PLACE else str(entry.content)), entry)
    # `batch_size` rather than `teacher.batch_size`, in whichever order they come.
    for _, entry in sorted(knobs, key=lambda knob: knob[0]):
        lines.setdefault(("knobs", entry.name), entry)
    return [*lines.values()]


def _choose(found: Found, command: bool) -> Rule:
    try:
        Parameter(found.name, Role.FIXED, Fixed(None))
    except StudyError:
        return _unusable
    values = (found.default, *found.choices)
    if any(isinstance(value, str) and is_secret(found.name, value) for value in values):
        return _left("its default looks like a secret, and a study holds none")
    if found.left:
        return _left(found.left)
    rule = _rule(found.name.lower().replace("-", "_"), command)
    if command and rule not in _COMMAND_RULES.values():
        if found.switch:
            return _switch
        if found.several:
            return _left("takes several values")
        if rule not in _SEARCHED and found.default is None and not found.required:
            return _left("no default is known")
    return rule or _fixed


def _rule(name: str, command: bool) -> Rule | None:
    table = [*_COMMAND_RULES.items(), *_RULES.items()] if command else [*_RULES.items()]
    for names, rule in table:
        if found := re.fullmatch(names, name):
            # `test.batch_size` has no part in training.
            other = _NOT_TRAINING.intersection(_WORDS.split(found["before"] or ""))
            return None if other else rule
    return None


def _learning_rate(found: Found) -> list[Entry]:
    why = "the most important of all; on a log scale"
    return [
        Entry("nuisance", found.name, _around(found.default, 1e-3), why),
        Entry("knobs", "learning_rate", found.name),
    ]


def _weight_decay(found: Found) -> list[Entry]:
    why = "how much regularisation is best depends on all the rest"
    return [Entry("nuisance", found.name, _around(found.default, 1e-4), why)]


def _dropout(found: Found) -> list[Entry]:
    return [Entry("nuisance", found.name, {"linear": [0, 0.5], "limit": "low"}, "never below 0")]


def _label_smoothing(found: Found) -> list[Entry]:
    return [Entry("nuisance", found.name, {"linear": [0, 0.2], "limit": "low"}, "never below 0")]


def _momentum(found: Found) -> list[Entry]:
    head, _, last = found.name.rpartition(".")
    rest = ".".join(filter(None, [head, f"one_minus_{last}"]))
    try:
        usable = names_in(f"1 - {rest}") == {rest}
    except StudyError:
        usable = False
    if not usable:
        return _fixed(found)
    why = f"{found.name} matters on the scale of its distance from 1"
    return [
        Entry("nuisance", rest, {"log": [0.005, 0.5]}, why),
        Entry("derive", found.name, f"1 - {rest}"),
    ]


def _later(found: Found) -> list[Entry]:
    return _fixed(found, "worth searching with more than 25 trials, not before")


def _depth(found: Found) -> list[Entry]:
    return _compared(found, lambda size: size + 1)


def _width(found: Found) -> list[Entry]:
    return _compared(found, lambda size: 2 * size)


def _compared(found: Found, larger: Callable[[int], int]) -> list[Entry]:
    if not isinstance(found.default, int) or isinstance(found.default, bool):
        return _candidate(found)
    return _ask(found, [found.default, larger(found.default)])


def _candidate(found: Found) -> list[Entry]:
    return _ask(found, [*found.choices])


def _ask(found: Found, values: Sequence[Value]) -> list[Entry]:
    given = inline([*values]) if values else "[...]"
    return _fixed(found, f"to ask about it, move it: scientific: {{{found.name}: {given}}}")


def _optimizer(found: Found) -> list[Entry]:
    return _ask(found, found.choices or ("sgd", "adam"))


def _batch_size(found: Found) -> list[Entry]:
    why = "never searched: with another batch size everything else must be tuned again"
    knob = [Entry("knobs", "batch_size", found.name)]
    return [*_fixed(found, why), *(knob if _is_number(found.default, above=0) else [])]


def _warmup(found: Found) -> list[Entry]:
    if found.default is None and not found.required:
        found = found._replace(default=0)
    lines = _fixed(found, "0 until training is seen to be unstable")
    # A part of the training, or a number of epochs, is no number of steps.
    name = found.name.lower().replace("-", "_")
    steps = name.rpartition(".")[2] == "warmup" or name.endswith(("_steps", "_iters"))
    whole = isinstance(found.default, int) and _is_number(found.default, above=-1)
    return [*lines, Entry("knobs", "warmup_steps", found.name)] if steps and whole else lines


def _epochs(found: Found) -> list[Entry]:
    lines = _fixed(found, "the budget of a trial, never searched")
    if not _is_number(found.default, above=0):
        return lines
    return [*lines, Entry("knobs", "steps", found.name), Entry("knobs", "steps_unit", "epochs")]


def _knob(knob: str, why: str) -> Rule:
    def rule(found: Found) -> list[Entry]:
        lines = _fixed(found, why)
        fits = _is_number(found.default)
        return [*lines, Entry("knobs", knob, found.name)] if fits else lines

    return rule


def _schedule(found: Found) -> list[Entry]:
    lines = _fixed(found)
    named = isinstance(found.default, str)
    return [*lines, Entry("knobs", "schedule", found.name)] if named else lines


def _place(placeholder: str, why: str) -> Rule:
    def rule(found: Found) -> list[Entry]:
        return [Entry(PLACE, found.name, placeholder, why)]

    return rule


def _max_steps(found: Found) -> list[Entry]:
    # Not a number, or -1 for "as many as the epochs have", is no budget.
    usable = _is_number(found.default, above=0)
    if not usable and not found.required:
        return _left("its default is no budget")(found)
    return [Entry(PLACE, found.name, "max_steps", "the budget of a trial")]


def _left(why: str) -> Rule:
    def rule(found: Found) -> list[Entry]:
        return [Entry("fixed", found.name, None, f"left to the program: {why}")]

    return rule


def _switch(found: Found) -> list[Entry]:
    why = "a switch, as the program has it: to turn it, add its option to the command"
    return [Entry("fixed", found.name, None, why)]


def _fixed(found: Found, why: str = "") -> list[Entry]:
    if found.default is None:
        lacking = "no default was found: write its value, or remove it"
        return [Entry("fixed", found.name, None, lacking)]
    if not why and found.choices:
        why = f"one of {inline([*found.choices])}"
    return [Entry("fixed", found.name, found.default, why)]


def _unusable(found: Found) -> list[Entry]:
    return [Entry("fixed", shown(found.name), None, "cannot name a parameter: rename it")]


def _is_number(value: Value, above: float = float("-inf")) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > above


def _around(default: Value, guess: float) -> dict[str, Any]:
    """One and a half orders of magnitude on either side."""
    usable = isinstance(default, int | float) and 1e-300 < default < 1e300
    middle = float(default) if usable and default is not None else guess
    return {"log": [float(f"{middle / _FACTOR:.2g}"), float(f"{middle * _FACTOR:.2g}")]}


def _table(prefix: str, rows: dict[str, Rule]) -> dict[str, Rule]:
    return {rf"(?P<before>{prefix})?(?:{names})": rule for names, rule in rows.items()}


_WORDS = re.compile(r"[._\-]")
_NOT_TRAINING = frozenset({"test", "eval", "evaluation", "val", "valid", "validation", "dev"})


_NOT_LEARNT = "it does not change what is learnt"
_READ = "where it reads from, and on which machine"
# Whatever stands in front of a name: `adam.learning_rate`, `base_lr`.
_RULES = _table(
    r".*[._]",
    {
        "grad(?:ient)?_?clip(?:ping)?(?:_norm)?|clip(?:_grad)?(?:_norm)?|max_grad_norm": _knob(
            "clipping", "held: a remedy for unstable training, not a thing to search"
        ),
        "warmup(?:_steps|_iters|_epochs)?": _warmup,
        "lr|learning_?rate": _learning_rate,
        "wd|weight_?decay|l2": _weight_decay,
        "drop_?out(?:_rate|_prob|_p)?": _dropout,
        "label_smoothing": _label_smoothing,
        "momentum|beta_?1": _momentum,
        "beta_?2|eps(?:ilon)?": _later,
        "depth|(?:n_|num_)?(?:layers|blocks|layer)": _depth,
        "width|hidden(?:_size|_dim)?|(?:n_|num_)?channels|embed_dim|d_model": _width,
        "model|arch(?:itecture)?|activation|norm(?:ali[sz]ation)?": _candidate,
        "optimi[sz]er|optim|opt": _optimizer,
        "batch_?size|bs": _batch_size,
        "(?:n_|num_|max_)?epochs": _epochs,
        "eval(?:uation)?_(?:interval|every|freq|steps)": _knob(
            "eval_interval", "evaluate by steps, not by time, and equally often in every trial"
        ),
        "(?:lr_)?(?:schedule|scheduler|decay_type)": _schedule,
    },
)
# What a program of its own has that a function is given by its run, and what is none of a study's.
_COMMAND_RULES = _table(
    r".*\.",
    {
        "(?:random_|rng_)?seed": _place("seed", "equal for paired trials of all settings"),
        "(?:max_|num_|n_|train_|total_|training_)*(?:steps|iters|iterations)": _max_steps,
        "(?:out|output|log|save|run|work|results?|exp)_?(?:dir|path|folder)|out|output": (
            _place("run_dir", "a fresh folder for each attempt")
        ),
        "checkpoints|(?:checkpoint|ckpt)s?_?(?:dir|path|folder)": _place(
            "checkpoint_dir", "stays with the trial, so that it can go on after a crash"
        ),
        "(?:train_|valid_|val_|test_)?data(?:set)?_?(?:dir|path|root|file|folder)|data|root": (
            _left(_READ)
        ),
        "device|gpus?|cuda|local_rank|rank|world_size|host|port|master_.*": _left(_READ),
        "(?:num_|n_)?(?:workers|threads|procs)|verbose|debug|quiet|resume(?:_from)?|config": (
            _left(_NOT_LEARNT)
        ),
        "(?:log|print|save|checkpoint)_?(?:interval|every|freq|steps|level)|wandb.*|project": (
            _left(_NOT_LEARNT)
        ),
    },
)
# With a range for those whose default is not known.
_SEARCHED = (_learning_rate, _weight_decay, _dropout, _label_smoothing, _momentum)
