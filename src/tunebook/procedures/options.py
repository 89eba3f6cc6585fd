"""The options of each probe: what they are called, what they take, what holds without them.

The command line and Python read them from here. It imports nothing heavy: help is to come at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError, did_you_mean

# Of the probe batch-size: the last size to try, and runs to the goal at each size.
LARGEST: Final = 65536
GOAL_SEEDS: Final = 3


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its kind, its least value, and what it is where nobody gives it.

    Where it must be `above` a value, it has no least one. A `default` is kept with what a probe was
    asked; one that depends on the study is None, and the help tells it. A `reader` makes a value of
    what is no number, or refuses it. One that `is_of_answer` changes no trial, and may be given
    anew at any time.
    """

    name: str
    kind: type[int | float | bool | str]
    metavar: str | None
    help: str
    least: float | None = None
    default: int | None = None
    reader: Callable[[object], Value] | None = None
    above: float | None = None
    is_of_answer: bool = False

    def read(self, probe: str, value: object) -> Value:
        """The value as it is kept, if it is one of this option's."""
        if self.reader is not None:
            return self.reader(value)
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
        if self.kind is bool:
            fits, wanted = isinstance(value, bool), "True or False"
        elif self.kind is int:
            fits, wanted = number is not None and float(number).is_integer(), "a whole number"
        else:
            fits, wanted = number is not None and math.isfinite(number), "a number"
        if not fits:
            raise StudyError(f"{self.name} of the probe {probe} is {wanted}, got {value!r}")
        if self.least is not None and number is not None and number < self.least:
            raise StudyError(
                f"{self.name} of the probe {probe} is at least {self.least:g}, got {value!r}"
            )
        if self.above is not None and number is not None and number <= self.above:
            raise StudyError(
                f"{self.name} of the probe {probe} is above {self.above:g}, got {value!r}"
            )
        return int(number) if self.kind is int and number is not None else value  # type: ignore[return-value]


def read_all(
    probe: str, options: Sequence[Option], given: Mapping[str, object]
) -> dict[str, Value]:
    """What is given for a probe's options, as it is kept; what is none of them is refused."""
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            others = f"; it has {', '.join(known) or 'none'}"
            raise StudyError(
                f"the probe {probe} has no option {name!r}{did_you_mean(name, known) or others}"
            )
    return {name: known[name].read(probe, value) for name, value in given.items()}


def batch_sizes(value: object) -> tuple[int, ...]:
    """Batch sizes from text, in rising order.

    >>> batch_sizes("64, 16,64")
    (16, 64)
    """
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise StudyError(f"sizes takes batch sizes in one text, such as 16,64,256; got {value!r}")
    return tuple(sorted({int(part) for part in parts}))


def memory_limit(value: object) -> int:
    """Bytes from a number of them or from text such as 8GB, as a study file has it."""
    from tunebook.studyfile.contents import memory_bytes, whole

    digits = isinstance(value, str) and value.isdecimal()
    try:
        found = memory_bytes(int(str(value)) if digits else whole(value))
    except ValueError as error:
        raise StudyError(f"memory: {error}") from None
    if found < 1:
        raise StudyError(f"memory: expected more than no bytes, got {value!r}")
    return found


_SWEEP_STEPS: Final = Option(
    "steps", int, "N", "Steps of the sweep's trials [default: at most 1000].", 40
)
_ARM_SEEDS: Final = Option(
    "seeds", int, "N", "Fresh seeds of each arm in the last comparison, at most.", 3, default=20
)

OPTIONS: Final[Mapping[str, tuple[Option, ...]]] = {
    "steps": (
        Option(
            "max_steps", int, "N", "Steps of each training of the sweep [default: the study's].", 20
        ),
        Option(
            "loss",
            float,
            "VALUE",
            "The training loss that counts as fitted [default: a training error of 0].",
        ),
        Option("seeds", int, "N", "Trainings at each learning rate.", 1, default=2),
        Option(
            "longest",
            int,
            "N",
            "Steps of the longest training of the study's own [default: 8 times the guess].",
            1,
        ),
    ),
    "stability": (
        Option(
            "steps",
            int,
            "N",
            "Steps of each training [default: 500, or the study's if they are fewer].",
            20,
        ),
        Option("seeds", int, "N", "Trainings at each learning rate.", 2, default=3),
    ),
    "warmup": (_SWEEP_STEPS, _ARM_SEEDS),
    "clipping": (
        _SWEEP_STEPS,
        _ARM_SEEDS,
        Option(
            "off",
            float,
            "VALUE",
            "The value that means no clipping [default: null; a command may need 0].",
        ),
    ),
    "variance": (
        Option("seeds", int, "N", "Runs for each source of variance.", 2, default=10),
        Option(
            "difference",
            float,
            "D",
            "The difference that is to be seen [default: a hundredth of the best result].",
            above=0.0,
            is_of_answer=True,
        ),
    ),
    "batch-size": (
        Option("smallest", int, "N", "The first size to try.", 1),
        Option("largest", int, "N", f"The last size to try [default: {LARGEST}].", 1),
        Option("steps", int, "N", "Steps of each timed trial [default: a few seconds'].", 8),
        Option(
            "memory",
            str,
            "SIZE",
            "The limit of a trial, such as 8GB [default: the study's, or 80% of the free].",
            reader=memory_limit,
        ),
        Option(
            "to_goal",
            bool,
            None,
            "Also train to a goal at several sizes, to find the critical one.",
        ),
        Option(
            "goal",
            float,
            "VALUE",
            "The goal, a value of the objective; with it, --to-goal [default: the knob target].",
        ),
        Option(
            "sizes",
            str,
            "N,N,...",
            "Sizes to train to the goal at, such as 16,64,256 [default: four].",
            reader=lambda value: ",".join(map(str, batch_sizes(value))),
        ),
        Option("seeds", int, "N", f"Runs to the goal at each size [default: {GOAL_SEEDS}].", 1),
    ),
}
