"""The probes by name: what each asks, what it needs and takes, and how it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tunebook.core.domains import Value
from tunebook.core.errors import UnknownName, did_you_mean
from tunebook.procedures.answers import Procedure
from tunebook.procedures.batch_size import probe as batch_size
from tunebook.procedures.needs import Need
from tunebook.procedures.options import OPTIONS, Option
from tunebook.procedures.remedies import clipping, warmup
from tunebook.procedures.stability import probe as stability
from tunebook.procedures.steps import probe as steps
from tunebook.procedures.subjects import Subject
from tunebook.procedures.variance import probe as variance

Options: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Probe:
    """A procedure that people can ask for.

    The trials of a stage whose name begins with one of `timed` are measured by the clock, and run
    one at a time. One that tries how much fits, `limited`, is told how much memory is free.
    """

    name: str
    question: str
    needs: tuple[Need, ...]
    begin: Callable[[Subject, Options], Procedure]
    options: tuple[Option, ...] = ()
    timed: tuple[str, ...] = ()
    limited: bool = False


PROBES: Final[Mapping[str, Probe]] = {
    probe.name: probe
    for probe in (
        Probe("steps", steps.QUESTION.text, steps.NEEDS, steps.probe, OPTIONS["steps"]),
        Probe(
            "stability",
            stability.QUESTION.text,
            stability.NEEDS,
            stability.probe,
            OPTIONS["stability"],
        ),
        Probe("warmup", warmup.QUESTION.text, warmup.NEEDS, warmup.probe, OPTIONS["warmup"]),
        Probe(
            "clipping", clipping.QUESTION.text, clipping.NEEDS, clipping.probe, OPTIONS["clipping"]
        ),
        Probe(
            "variance", variance.QUESTION.text, variance.NEEDS, variance.probe, OPTIONS["variance"]
        ),
        Probe(
            "batch-size",
            batch_size.QUESTION.text,
            batch_size.NEEDS,
            batch_size.probe,
            OPTIONS["batch-size"],
            timed=("sizes", "memory"),
            limited=True,
        ),
    )
}


def named(name: str) -> Probe:
    """The probe of this name."""
    if name not in PROBES:
        known = f"; there are {', '.join(PROBES)}"
        raise UnknownName(f"no probe is named {name!r}{did_you_mean(name, PROBES) or known}")
    return PROBES[name]
