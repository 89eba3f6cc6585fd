"""What the reference loop calls its parts: for those who turn its knobs without importing torch."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config

LOOP_KNOBS: Final = Knobs(
    learning_rate="learning_rate",
    batch_size="batch_size",
    warmup_steps="warmup_steps",
    clipping="clip_norm",
    eval_interval="eval_every",
    schedule="schedule",
    seed_init="seed_init",
    seed_data="seed_data",
    # Known only where a study names it: of no other task is it known whether its split is random.
    seed_split="seed_split",
    train_loss="train/loss",
    # Of a task that measures an error, where train_sample says on how many examples.
    train_error="train_sample/error",
    grad_norm="grad_norm",
)
# What these parameters are in a study that does not name them.
LOOP_DEFAULTS: Final[Config] = MappingProxyType[str, Value](
    {
        "batch_size": 128,
        "warmup_steps": 0,
        "clip_norm": None,
        "eval_every": None,
        "schedule": "constant",
        # Those of the run's own seed.
        "seed_init": None,
        "seed_data": None,
        # That of the optimiser.
        "weight_decay": None,
    }
)
# Strengths of regularisation that 0 switches off.
REGULARISERS: Final = ("weight_decay", "dropout", "label_smoothing")
