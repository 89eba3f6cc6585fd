"""How to train: the parameters of a configuration that are the loop's own, checked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.training.distribution import Spread
from tunebook.training.optimisers import named
from tunebook.training.schedules import Schedule

Precision: TypeAlias = Literal["float32", "bfloat16"]
_EVALUATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The loop's parameters. What a configuration does not name keeps its default here."""

    learning_rate: float
    steps: int
    optimizer: str = "adamw"
    batch_size: int = 128
    schedule: str = "constant"
    warmup_steps: int = 0
    decay_steps: int | None = None
    lr_floor: float = 0.0
    lr_power: float = 1.0
    clip_norm: float | None = None
    average: Literal["none", "ema", "polyak"] = "none"
    ema_decay: float = 0.99
    eval_every: int | None = None
    eval_batch_size: int | None = None
    valid_sample: int | None = None
    train_sample: int | None = None
    log_every: int = 25
    checkpoint_every: int | None = None
    keep_best: int = 1
    saved_predictions: int = 0
    precision: Precision = "float32"
    compile: bool = False
    fused: bool | None = None
    foreach: bool | None = None
    spread: Spread = "ddp"
    prefetch: int = 0

    @staticmethod
    def of(params: Config, budget: Budget | None) -> Recipe:
        """The recipe in a configuration; a budget of steps gives the steps of the body."""
        own = {name: params[name] for name in _OWN if name in params}
        if "steps" not in own:
            if budget is None or budget.unit != "steps":
                raise StudyError("the reference loop needs a number of steps: set max_steps")
            own["steps"] = int(budget.amount)
        if "learning_rate" not in own:
            raise StudyError("the reference loop needs a learning rate: add learning_rate")
        recipe = Recipe(**own)  # type: ignore[arg-type]
        recipe._check()
        return recipe

    def hyper(self, params: Config) -> dict[str, float]:
        """The optimiser's hyperparameters that a configuration names."""
        known = named(self.optimizer).defaults
        given = {name: float(params[name]) for name in known if name in params}  # type: ignore[arg-type]
        return {"learning_rate": self.learning_rate, **given}

    @property
    def plan(self) -> Schedule:
        return Schedule(
            base=self.learning_rate,
            steps=self.steps,
            shape=self.schedule,  # type: ignore[arg-type]
            warmup=self.warmup_steps,
            decay=self.decay_steps,
            floor=self.lr_floor,
            power=self.lr_power,
        )

    @property
    def past_share(self) -> float | None:
        """What the past keeps in an average of the weights; None: every step counts equally."""
        return self.ema_decay if self.average == "ema" else None

    @property
    def evaluation_interval(self) -> int:
        return self.eval_every or max(self.plan.total // _EVALUATIONS, 1)

    @property
    def checkpoint_interval(self) -> int:
        return self.checkpoint_every or max(self.plan.total // 4, 1)

    @property
    def evaluation_batch(self) -> int:
        """At least the training batch: evaluation keeps no activations for a backward pass."""
        return max(self.eval_batch_size or 0, self.batch_size)

    def _check(self) -> None:
        named(self.optimizer)
        for name, allowed in (
            ("precision", ("float32", "bfloat16")),
            ("average", ("none", "ema", "polyak")),
            ("spread", ("ddp", "fsdp")),
        ):
            if getattr(self, name) not in allowed:
                raise StudyError(
                    f"{name} must be {' or '.join(allowed)}, got {getattr(self, name)!r}"
                )
        for name in ("batch_size", "log_every"):
            if getattr(self, name) < 1:
                raise StudyError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.clip_norm is not None and self.clip_norm <= 0:
            raise StudyError(f"clip_norm must be above 0, got {self.clip_norm}")
        if self.keep_best < 0:
            raise StudyError(f"keep_best must not be negative, got {self.keep_best}")


_OWN = tuple(field.name for field in fields(Recipe))


class ReadParams(Mapping[str, Value]):
    """A configuration that knows which of its parameters have been read."""

    def __init__(self, params: Config) -> None:
        self._params = params
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        self._read.add(name)
        return self._params[name]

    def __contains__(self, name: object) -> bool:
        return name in self._params

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self._params else default

    def check_all_read(self) -> None:
        """A parameter that nobody reads is a typing mistake, or a search for nothing."""
        unread = sorted(name for name in self._params if name not in self._read)
        # `one_minus_momentum` is there for what is derived from it.
        unread = [name for name in unread if not name.startswith("one_minus_")]
        if unread:
            near = did_you_mean(unread[0], [*_OWN, *self._read])
            raise StudyError(f"neither loop nor task reads {', '.join(unread)}{near}")
