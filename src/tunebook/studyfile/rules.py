"""What a first study does with a parameter of each kind, by the playbook's rules of thumb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.expressions import names_in
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


def learning_rate(found: Found) -> list[Entry]:
    why = "the most important of all; on a log scale"
    return [
        Entry("nuisance", found.name, _around(found.default, 1e-3), why),
        Entry("knobs", "learning_rate", found.name),
    ]


def weight_decay(found: Found) -> list[Entry]:
    why = "how much regularisation is best depends on all the rest"
    return [Entry("nuisance", found.name, _around(found.default, 1e-4), why)]


def dropout(found: Found) -> list[Entry]:
    return [Entry("nuisance", found.name, {"linear": [0, 0.5], "limit": "low"}, "never below 0")]


def label_smoothing(found: Found) -> list[Entry]:
    return [Entry("nuisance", found.name, {"linear": [0, 0.2], "limit": "low"}, "never below 0")]


def momentum(found: Found) -> list[Entry]:
    head, _, last = found.name.rpartition(".")
    rest = ".".join(filter(None, [head, f"one_minus_{last}"]))
    try:
        usable = names_in(f"1 - {rest}") == {rest}
    except StudyError:
        usable = False
    if not usable:
        return fixed(found)
    why = f"{found.name} matters on the scale of its distance from 1"
    return [
        Entry("nuisance", rest, {"log": [0.005, 0.5]}, why),
        Entry("derive", found.name, f"1 - {rest}"),
    ]


def later(found: Found) -> list[Entry]:
    return fixed(found, "worth searching with more than 25 trials, not before")


def depth(found: Found) -> list[Entry]:
    return _compared(found, lambda size: size + 1)


def width(found: Found) -> list[Entry]:
    return _compared(found, lambda size: 2 * size)


def _compared(found: Found, larger: Callable[[int], int]) -> list[Entry]:
    if not isinstance(found.default, int) or isinstance(found.default, bool):
        return candidate(found)
    return _ask(found, [found.default, larger(found.default)])


def candidate(found: Found) -> list[Entry]:
    return _ask(found, [*found.choices])


def _ask(found: Found, values: Sequence[Value]) -> list[Entry]:
    given = inline([*values]) if values else "[...]"
    return fixed(found, f"to ask about it, move it: scientific: {{{found.name}: {given}}}")


def optimizer(found: Found) -> list[Entry]:
    return _ask(found, found.choices or ("sgd", "adam"))


def batch_size(found: Found) -> list[Entry]:
    why = "never searched: with another batch size everything else must be tuned again"
    knob = [Entry("knobs", "batch_size", found.name)]
    return [*fixed(found, why), *(knob if _is_number(found.default, above=0) else [])]


def warmup(found: Found) -> list[Entry]:
    if found.default is None and not found.required:
        found = found._replace(default=0)
    lines = fixed(found, "0 until training is seen to be unstable")
    # A part of the training, or a number of epochs, is no number of steps.
    name = found.name.lower().replace("-", "_")
    steps = name.rpartition(".")[2] == "warmup" or name.endswith(("_steps", "_iters"))
    whole = isinstance(found.default, int) and _is_number(found.default, above=-1)
    return [*lines, Entry("knobs", "warmup_steps", found.name)] if steps and whole else lines


def epochs(found: Found) -> list[Entry]:
    lines = fixed(found, "the budget of a trial, never searched")
    if not _is_number(found.default, above=0):
        return lines
    return [*lines, Entry("knobs", "steps", found.name), Entry("knobs", "steps_unit", "epochs")]


def knob(knob: str, why: str) -> Rule:
    def rule(found: Found) -> list[Entry]:
        lines = fixed(found, why)
        fits = _is_number(found.default)
        return [*lines, Entry("knobs", knob, found.name)] if fits else lines

    return rule


def schedule(found: Found) -> list[Entry]:
    lines = fixed(found)
    named = isinstance(found.default, str)
    return [*lines, Entry("knobs", "schedule", found.name)] if named else lines


def place(placeholder: str, why: str) -> Rule:
    def rule(found: Found) -> list[Entry]:
        return [Entry(PLACE, found.name, placeholder, why)]

    return rule


def max_steps(found: Found) -> list[Entry]:
    # Not a number, or -1 for "as many as the epochs have", is no budget.
    usable = _is_number(found.default, above=0)
    if not usable and not found.required:
        return left("its default is no budget")(found)
    return [Entry(PLACE, found.name, "max_steps", "the budget of a trial")]


def rank(found: Found) -> list[Entry]:
    # The first of several processes is 0, and -1 stands for one alone: a size is neither.
    if _is_number(found.default, above=0):
        return fixed(found, "taken for a size, as of LoRA; if it numbers a process, remove it")
    why = "taken for the number of a process; if it is a size, as of LoRA, write its value"
    return left(why)(found)


def left(why: str) -> Rule:
    def rule(found: Found) -> list[Entry]:
        return [Entry("fixed", found.name, None, f"left to the program: {why}")]

    return rule


def switch(found: Found) -> list[Entry]:
    why = "a switch, as the program has it: to turn it, add its option to the command"
    return [Entry("fixed", found.name, None, why)]


def fixed(found: Found, why: str = "") -> list[Entry]:
    if found.default is None:
        lacking = "no default was found: write its value, or remove it"
        return [Entry("fixed", found.name, None, lacking)]
    if not why and found.choices:
        why = f"one of {inline([*found.choices])}"
    return [Entry("fixed", found.name, found.default, why)]


def unusable(found: Found) -> list[Entry]:
    return [Entry("fixed", shown(found.name), None, "cannot name a parameter: rename it")]


def _is_number(value: Value, above: float = float("-inf")) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > above


def _around(default: Value, guess: float) -> dict[str, Any]:
    """One and a half orders of magnitude on either side."""
    usable = isinstance(default, int | float) and 1e-300 < default < 1e300
    middle = float(default) if usable and default is not None else guess
    return {"log": [float(f"{middle / _FACTOR:.2g}"), float(f"{middle * _FACTOR:.2g}")]}
