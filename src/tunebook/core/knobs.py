"""Which parameter or metric plays which part, so that procedures can turn them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from tunebook.core.domains import Value, check_value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.space import Space


@dataclass(frozen=True, slots=True)
class Knobs:
    """The parts of a training program by name. A procedure names the knobs it lacks and refuses."""

    # Parameters, by name.
    learning_rate: str | None = None
    batch_size: str | None = None
    accumulation: str | None = None
    steps: str | None = None
    warmup_steps: str | None = None
    clipping: str | None = None
    eval_interval: str | None = None
    schedule: str | None = None
    seed_init: str | None = None
    seed_data: str | None = None
    seed_split: str | None = None
    # Parameter values that switch something off.
    no_regularisation: tuple[tuple[str, Value], ...] = ()
    no_augmentation: tuple[tuple[str, Value], ...] = ()
    # Metrics, by name.
    train_loss: str | None = None
    train_error: str | None = None
    grad_norm: str | None = None
    # Facts.
    batch_size_per: Literal["global", "device"] = "global"
    steps_unit: Literal["steps", "epochs", "tokens"] = "steps"
    valid_examples: int | None = None
    chance: float | None = None
    target: float | None = None

    def check(self, space: Space) -> None:
        """Every knob that names a parameter must name one of the space."""
        named = [(knob, getattr(self, knob)) for knob in PARAMETER_KNOBS]
        for off in ("no_regularisation", "no_augmentation"):
            named += [(off, name) for name, _ in getattr(self, off)]
        check_value(self.chance)
        check_value(self.target)
        for knob, name in named:
            if name is not None and name not in space:
                raise StudyError(
                    f"the knob {knob} names {name!r}, which is no parameter"
                    f"{did_you_mean(name, space.names)}"
                )

    def missing(self, *names: str) -> tuple[str, ...]:
        """Those of the named knobs that have not been given."""
        return tuple(name for name in names if getattr(self, name) in (None, ()))


PARAMETER_KNOBS = tuple(field.name for field in fields(Knobs))[:11]
METRIC_KNOBS = ("train_loss", "train_error", "grad_norm")
