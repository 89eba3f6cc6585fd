"""The mappings of a study file, key by key. The text under a field is what an editor shows."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from tunebook.studyfile.contents import (
    Bounds,
    Memory,
    Number,
    Texts,
    Trials,
    Value,
    Values,
    When,
    Whole,
)


class Part(BaseModel):
    """A mapping of the file. An unknown key is an error, and text is never taken for a number."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )


class Constraint(Part):
    """A bound on another metric."""

    metric: str
    """The metric's name, as the program logs it."""
    at_most: Number | None = None
    """The largest value allowed."""
    at_least: Number | None = None
    """The smallest value allowed."""


class Objective(Part):
    """What the study optimises."""

    metric: str
    """The metric's name, as the program logs it."""
    better: Literal["lower", "higher"]
    """Which way is better."""
    reduction: Literal["best", "last", "mean"] = "best"
    """How a curve becomes one number."""
    over: Whole = 1
    """How many of the last points the mean is over."""
    constraints: list[Constraint] = []
    """Bounds on other metrics, such as {metric: latency, at_most: 30}."""


class Range(Part):
    """Numbers from low to high."""

    linear: Bounds | None = None
    """[low, high], evenly spread."""
    log: Bounds | None = None
    """[low, high], evenly spread over orders of magnitude; low must be above 0."""
    whole: bool = False
    """Only whole numbers."""
    limit: Literal["low", "high", "both"] | None = None
    """A side that must never be expanded, such as dropout at 0."""
    buckets: Whole | None = None
    """Into how many buckets analysis puts a scientific range."""
    when: When = {}
    """Values of other parameters under which this one exists, such as {blocks: [2, 3]}."""


class Choices(Part):
    """One of a few values, where a plain list does not say enough."""

    values: list[Value]
    """The values."""
    when: When = {}
    """Values of other parameters under which this one exists, such as {optimizer: adam}."""


class Held(Part):
    """A fixed value that exists only under a condition."""

    value: Value
    """The value."""
    when: When = {}
    """Values of other parameters under which this one exists, such as {optimizer: adam}."""


class Derivation(Part):
    """A derived value that exists only under a condition."""

    value: str
    """The expression, such as 1 - one_minus_momentum."""
    when: When = {}
    """Values of other parameters under which this one exists, such as {optimizer: sgd}."""


class Knobs(Part):
    """Which parameter or metric plays which part. A procedure names the knobs it lacks."""

    learning_rate: str | None = None
    """The parameter that is the learning rate."""
    batch_size: str | None = None
    """The parameter that is the batch size."""
    accumulation: str | None = None
    """The parameter that is the number of gradient accumulation steps."""
    steps: str | None = None
    """The parameter that is the length of training."""
    warmup_steps: str | None = None
    """The parameter that is the length of the warmup."""
    clipping: str | None = None
    """The parameter that is the gradient clipping threshold."""
    eval_interval: str | None = None
    """The parameter that is the number of steps between evaluations."""
    schedule: str | None = None
    """The parameter that chooses the learning rate schedule."""
    seed_init: str | None = None
    """The parameter that seeds the initialisation."""
    seed_data: str | None = None
    """The parameter that seeds the order of the data."""
    seed_split: str | None = None
    """The parameter that seeds the split of the data."""
    no_regularisation: Values = {}
    """Parameter values that switch regularisation off, such as {dropout: 0}."""
    no_augmentation: Values = {}
    """Parameter values that switch augmentation off, such as {flip: false}."""
    train_loss: str | None = None
    """The metric that is the training loss."""
    train_error: str | None = None
    """The metric that is the training error."""
    grad_norm: str | None = None
    """The metric that is the gradient norm."""
    batch_size_per: Literal["global", "device"] = "global"
    """Whether the batch size counts all devices or one."""
    steps_unit: Literal["steps", "epochs", "tokens"] = "steps"
    """What the length of training counts."""
    valid_examples: Whole | None = None
    """The number of validation examples."""
    chance: Number | None = None
    """The objective of a model that has learnt nothing."""
    target: Number | None = None
    """The objective one wants to reach."""


Style: TypeAlias = Literal["dashes", "equals", "hydra", "json", "environment"]


class Overrides(Part):
    """How a command is passed the parameters that none of its arguments names."""

    style: Style = "dashes"
    """--a-b 1 (dashes), --a_b=1 (equals), a.b=1 (hydra), a JSON file, or variables."""
    without: list[str] = []
    """Parameters that are not passed, such as those of which others are derived."""


class Metrics(Part):
    """Where a command's metrics are found, besides tunebook.log."""

    json_lines: Texts = []
    """Files with a JSON object on each line, such as {run_dir}/metrics.jsonl; or stdout."""
    tensorboard: Texts = []
    """Folders of TensorBoard's event files, such as {run_dir}/logs."""
    pattern: Texts = []
    """Regular expressions over the output, with groups named step and after the metrics."""


class MoreTrials(Part):
    """A larger number of trials for some settings."""

    when: When
    """The settings, such as {optimizer: adam}."""
    trials: Trials
    """How many trials each of them gets."""


class Resources(Part):
    """What one trial needs."""

    cpus: Whole = 1
    """Processor cores."""
    gpus: Whole = 0
    """Accelerators."""
    memory: Memory | None = None
    """Such as 4GB (a GB has 1024 MB), or a number of bytes."""


class Divergence(Part):
    """When a trial counts as diverged, besides NaN and infinity in the objective."""

    metrics: list[str] = []
    """Further metrics in which NaN or infinity means divergence."""
    above: Number | None = None
    """A value above which these metrics mean divergence."""


Method: TypeAlias = Literal["halton", "sobol", "random", "grid", "list"]


class Sampling(Part):
    """How configurations are chosen."""

    method: Method
    """Quasi-random (halton, sobol), random, a grid, or a list of configurations."""
    points: Whole = 5
    """The number of grid points for each range."""
    configs: list[Values] = []
    """The configurations of a list, such as {learning_rate: 0.1}."""
