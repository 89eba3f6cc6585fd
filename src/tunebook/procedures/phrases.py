"""What several probes say in the same words."""

from __future__ import annotations

from typing import Final

from tunebook.core.representation import value_text
from tunebook.procedures.subjects import CONSTANT, Subject

# What helps against instability where neither warming up nor clipping does.
OTHER_REMEDIES: Final = (
    "After that, in this order: another optimiser; residual connections with the normalisation "
    "inside; residual branches that begin at zero; and last, a lower learning rate."
)


def kept_schedule(subject: Subject) -> str:
    """What to add where the rate should be constant, and the schedule had to stay as it is."""
    name, value = subject.knobs.schedule, subject.value("schedule")
    if name is None or value is None or subject.constant_rate():
        return ""
    own = value_text(value)
    return (
        f" {name} stayed {own}, which may decay: whether the program has a constant one is not "
        f"known. If it has, write '{name}: [{own}, {CONSTANT}]' under scientific."
    )
