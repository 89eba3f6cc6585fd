"""How to train: the parameters of a configuration that are the loop's own, checked once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_type_hints

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.training.checks import ABOVE_0, BELOW_1, FROM_0_TO_1, SWITCH, Check, one_of, whole
from tunebook.training.distribution import Spread
from tunebook.training.optimisers import OPTIMISERS, named
from tunebook.training.schedules import SHAPES, Schedule, Shape

Precision: TypeAlias = Literal["float32", "bfloat16"]
Averaging: TypeAlias = Literal["none", "ema", "polyak"]

_EVALUATIONS = 20
_CHECKPOINTS = 4
# Parameters that do something only where another has one of these values.
_NEEDS = {
    "decay_steps": ("schedule", tuple(shape for shape in SHAPES if shape != "constant")),
    "lr_floor": ("schedule", tuple(shape for shape in SHAPES if shape != "constant")),
    "lr_power": ("schedule", ("polynomial",)),
    "ema_decay": ("average", ("ema",)),
}
# How the name of a parameter begins from which one without this beginning is derived.
_SOURCES = ("one_minus_", "base_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The loop's parameters. What a configuration does not name keeps its default here."""

    learning_rate: Annotated[float, ABOVE_0]
    # Those of the schedule's body: warmup comes on top.
    steps: Annotated[int, whole(1)]
    optimizer: Annotated[str, one_of(OPTIMISERS)] = "adamw"
    batch_size: Annotated[int, whole(1)] = 128
    schedule: Annotated[Shape, one_of(SHAPES)] = "constant"
    warmup_steps: Annotated[int, whole(0)] = 0
    decay_steps: Annotated[int | None, whole(1)] = None
    lr_floor: Annotated[float, FROM_0_TO_1] = 0.0
    lr_power: Annotated[float, ABOVE_0] = 1.0
    clip_norm: Annotated[float | None, ABOVE_0] = None
    average: Annotated[Averaging, one_of(get_args(Averaging))] = "none"
    ema_decay: Annotated[float, BELOW_1] = 0.99
    eval_every: Annotated[int | None, whole(1)] = None
    eval_batch_size: Annotated[int | None, whole(1)] = None
    valid_sample: Annotated[int | None, whole(1)] = None
    train_sample: Annotated[int | None, whole(1)] = None
    log_every: Annotated[int, whole(1)] = 25
    checkpoint_every: Annotated[int | None, whole(1)] = None
    keep_best: Annotated[int, whole(0)] = 1
    saved_predictions: Annotated[int, whole(0)] = 0
    precision: Annotated[Precision, one_of(get_args(Precision))] = "float32"
    compile: Annotated[bool, SWITCH] = False
    fused: Annotated[bool | None, SWITCH] = None
    foreach: Annotated[bool | None, SWITCH] = None
    spread: Annotated[Spread, one_of(get_args(Spread))] = "ddp"
    prefetch: Annotated[int, whole(0)] = 0
    # What is null follows the run's own seed; the split is then the same in every run.
    seed_init: Annotated[int | None, whole(0)] = None
    seed_data: Annotated[int | None, whole(0)] = None
    seed_split: Annotated[int | None, whole(0)] = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None or field.default is not None:
                object.__setattr__(self, field.name, _CHECKS[field.name](field.name, value))

    @staticmethod
    def of(params: Config, budget: Budget | None) -> Recipe:
        """The recipe in a configuration; a budget of steps gives the steps of the body."""
        own: dict[str, Any] = _given(params, _CHECKS)
        if "steps" not in own:
            if budget is None or budget.unit != "steps":
                got = f"a budget of {budget}" if budget else "no budget"
                raise StudyError(f"the loop needs a number of steps, got {got}: set max_steps")
            own["steps"] = budget.amount
        if "learning_rate" not in own:
            raise StudyError("the loop needs a learning rate: add learning_rate", "learning_rate")
        recipe = Recipe(**own)
        for name in own:
            recipe._warn_if_inert(name)
        return recipe

    def hyper(self, params: Config) -> dict[str, Value]:
        """The optimiser's hyperparameters that a configuration names."""
        known = named(self.optimizer).defaults
        return {"learning_rate": self.learning_rate, **_given(params, known)}

    @property
    def plan(self) -> Schedule:
        return Schedule(
            base=self.learning_rate,
            steps=self.steps,
            shape=self.schedule,
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
        return self.checkpoint_every or max(self.plan.total // _CHECKPOINTS, 1)

    @property
    def evaluation_batch(self) -> int:
        """At least the training batch: evaluation keeps no activations for a backward pass."""
        return max(self.eval_batch_size or 0, self.batch_size)

    def _warn_if_inert(self, name: str) -> None:
        # Not an error: in a study of schedules, what is fixed for some does nothing in others.
        other, values = _NEEDS.get(name, (name, (getattr(self, name),)))
        if getattr(self, other) not in values:
            warnings.warn(
                f"{name} does nothing where {other} is {getattr(self, other)}; if it is searched, "
                f"say `when: {{{name}: {{{other}: {values[0]}}}}}`",
                stacklevel=3,
            )


def _checks() -> dict[str, Check]:
    hints = get_type_hints(Recipe, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


_CHECKS = _checks()


def seed_of_split(params: Config) -> int | None:
    """The seed of the split in a configuration, for those who need no more of its recipe."""
    given = _given(params, ("seed_split",))
    seed: int | None = next((_CHECKS[name](name, value) for name, value in given.items()), None)
    return seed


def _given(params: Config, names: Iterable[str]) -> dict[str, Value]:
    """Those of the named parameters that a configuration has; null means the default."""
    found = {name: params.get(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


class ReadParams(Mapping[str, Value]):
    """A configuration that knows which of its parameters have been read.

    In a configuration with `optimizer: adam`, the parameter `adam.beta1` is read as `beta1`: so
    each choice of a study can have ranges of its own.
    """

    def __init__(self, params: Config) -> None:
        self._params = params
        self._read: set[str] = set()
        self._asked: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        self._asked.add(name)
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        self._read.add(found)
        return self._params[found]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def check_all_read(self) -> None:
        """A parameter that nobody reads is a typing mistake, or a search for nothing."""
        unread = sorted(name for name in self._params if not self._accounted_for(name))
        if not unread:
            return
        near = did_you_mean(unread[0], sorted(self._asked - self._read))
        remedy = near or "; remove it, or say by `when` where it exists"
        raise StudyError(
            f"neither the loop nor the task reads {', '.join(unread)}{remedy}", unread[0]
        )

    def _find(self, name: str) -> str | None:
        if name in self._params:
            return name
        choices = (value for value in self._params.values() if isinstance(value, str))
        places = (f"{choice}.{name}" for choice in choices)
        return next((place for place in places if place in self._params), None)

    def _accounted_for(self, name: str) -> bool:
        """Read, or what one that is read is derived from: `one_minus_beta1`, `base_batch_size`."""
        place, dot, own = name.rpartition(".")
        parents = (own.removeprefix(prefix) for prefix in _SOURCES if own.startswith(prefix))
        return name in self._read or any(
            f"{place}{dot}{parent}" in self._read for parent in parents
        )
