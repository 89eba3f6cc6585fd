"""Does the learning rate fall at the end of a trial? Then so does the loss, and not for long."""

from __future__ import annotations

import re

from tunebook.core.evidence import Evidence, Reading
from tunebook.diagnosis.signals import finite_points

# Said of what improves while the rate falls.
ONLY_THE_DECAY = "The learning rate falls meanwhile, so this may only be the decay."
# A logged rate that ends below this share of what it was has fallen.
FALLEN = 0.95
_RATE = re.compile(r"(?i)(^|[^a-z])(learning_?rate|lr)$")
_SCHEDULE = re.compile(r"(?i)(^|[^a-z])scheduler?$")
_UNCHANGING = ("", "constant", "none", "fixed")


def decays(evidence: Evidence, reading: Reading, share: float) -> bool:
    """Whether a trial's learning rate falls over the last share of its training.

    A logged rate tells; without one, a schedule that is not constant.
    """
    rates = [name for name in reading.record.curves if _RATE.search(name)]
    fallen = [known for name in rates if (known := _has_fallen(reading, name, share)) is not None]
    return any(fallen) if fallen else _has_schedule(evidence, reading)


def _has_fallen(reading: Reading, name: str, share: float) -> bool | None:
    steps, values = finite_points(reading.curve(name))
    if len(steps) < 2:
        return None
    late = values[steps >= (1.0 - share) * steps[-1]]
    return bool(late[-1] < FALLEN * late[0])


def _has_schedule(evidence: Evidence, reading: Reading) -> bool:
    config, named = reading.record.trial.config, evidence.study.knobs.schedule
    names = [named] if named is not None else [n for n in config if _SCHEDULE.search(n)]
    chosen = (config.get(name) for name in names)
    return any(isinstance(v, str) and v.lower() not in _UNCHANGING for v in chosen)
