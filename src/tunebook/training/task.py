"""A task: what the reference loop must be told about a problem. A model, losses, metrics, data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from torch import Tensor, nn

from tunebook.core.errors import StudyError
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.training.data import Augment, Batch, Examples

# A metric as (weighted sum, weight): sums can be added over batches and ranks, means cannot.
Pair: TypeAlias = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Training and validation examples, and test examples, at which no loop of a study looks.

    They are for `evaluate_on_test`, once, at the end. `augment` changes the inputs of a training
    batch, drawing from the generator it is given.
    """

    train: Examples
    valid: Examples
    test: Examples | None = None
    augment: Augment | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a task: its objective, what guessing achieves, what some steps reached."""

    metric: Metric
    chance: float
    reached: float
    steps: int


class Task(Protocol):
    """A problem for the reference loop.

    A task may also have a method `prepare()`, called once before the processes of trials are
    forked: what it keeps for `data` is then made once for all of them.
    """

    @property
    def facts(self) -> Facts:
        """The objective and its chance level."""

    def data(self, params: Config) -> Data:
        """The examples; called once in each process.

        What is drawn here from the global generators of torch, numpy and Python is the same in
        every trial that has the same `seed_split`: a split at random varies with that parameter.
        """

    def build(self, params: Config) -> nn.Module:
        """The model, from parameters of the configuration."""

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        """The training loss of each example, `(n,)`."""

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        """Validation metrics of a batch as pairs; padding weighs nothing."""


class BundledTask(Task, Protocol):
    """A task that ships with tunebook, and what its authors would train it with."""

    @property
    def defaults(self) -> Config:
        """A good configuration, picked by hand.

        It reaches `facts.reached` in `facts.steps`, in front of which its warmup comes, if any.
        """


def check_losses(losses: Tensor, examples: int) -> None:
    """A task must give one loss for each example: of another shape, the mean is of other things."""
    if tuple(losses.shape) != (examples,):
        raise StudyError(
            f"the task's losses have the shape {tuple(losses.shape)} instead of ({examples},), one "
            "for each example. Often targets (n,) were subtracted from outputs (n, 1), which makes "
            "(n, n): squeeze the outputs first. Leave the mean over the batch to the loop, and "
            "take that over the parts of an example in `losses`"
        )


def weighted(values: Tensor, weights: Tensor) -> Pair:
    """A metric with one value for each example (or part of one), as a pair."""
    return (values * weights).sum(), weights.sum()


def classification_measures(logits: Tensor, batch: Batch) -> dict[str, Pair]:
    """Loss and error, over all examples and over those of each class.

    The weight of `error/class_k` is the number of examples of the class, which tells how much a
    metric over a rare class means.
    """
    losses = nn.functional.cross_entropy(logits.float(), batch.targets, reduction="none")
    wrong = (logits.argmax(-1) != batch.targets).float()
    pairs = {"loss": weighted(losses, batch.weights), "error": weighted(wrong, batch.weights)}
    of_class = nn.functional.one_hot(batch.targets, logits.shape[-1])
    # Sums, not products of matrices: autocast would round the counts to bfloat16.
    weights = of_class * batch.weights[:, None]
    mistakes, counts = (weights * wrong[:, None]).sum(0), weights.sum(0)
    for number in range(logits.shape[-1]):
        pairs[f"error/class_{number}"] = (mistakes[number], counts[number])
    return pairs


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Cross entropy of each example with label smoothing, `(n,)`."""
    return nn.functional.cross_entropy(
        logits.float(), targets, label_smoothing=smoothing, reduction="none"
    )
