"""The tables of what each probe needs, as the documentation has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tunebook.core.commands import Command
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Study
from tunebook.procedures import needs, subjects
from tunebook.procedures.catalogue import PROBES, Probe
from tunebook.procedures.needs import Need

_BARE = Study("bare", Space(), Objective(Metric("valid/error")))
_FUNCTION = replace(_BARE, program="train.py:train")
_COMMAND = replace(_BARE, command=Command(("python", "train.py", "{overrides}")))
_TASK = subjects.completed(replace(_BARE, task="tasks.py:task"))
_KNOWN = "known"
BEGIN, END = "<!-- python -m tunebook.procedures docs/probes.md -->", "<!-- end -->"


def document(probes: Iterable[Probe] = PROBES.values()) -> str:
    """A table of the probes with their knobs, and one of how each knob is made known by whom."""
    asked = list(probes)
    knobs = dict.fromkeys(need.knob for probe in asked for need in probe.needs)
    first = _table(
        ("probe", "asks", "needs", "uses, where it is known"),
        [
            (
                f"[{p.name}](#{p.name})",
                p.question,
                *(_uses(p, required) for required in (True, False)),
            )
            for p in asked
        ],
    )
    second = _table(
        ("knob", "of a command", "of a function", "of a task"),
        [(f"`{k}`", *(_cell(k, study) for study in (_COMMAND, _FUNCTION, _TASK))) for k in knobs],
    )
    return f"{first}\n\n{second}"


def put(tables: str, page: str) -> str:
    """A page with these tables between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def _uses(probe: Probe, required: bool) -> str:
    chosen = [need for need in probe.needs if need.required is required]
    return "; ".join(f"`{need.knob}`, {need.use}" for need in chosen) or "nothing"


def _cell(knob: str, study: Study) -> str:
    if not needs.lacking(study, [Need(knob, "")]):
        return _KNOWN
    return needs.remedy(knob, study).replace("'", "`")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
