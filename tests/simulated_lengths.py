"""Trainings whose result depends on their steps, and the procedure that makes them longer."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from simulated_probes import Made, Training, results_of, subject_of
from tunebook.core.curves import Curve
from tunebook.core.knobs import Knobs
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.steps.longer import Longer, lengthened
from tunebook.procedures.subjects import Subject

KNOBS = Knobs(learning_rate="lr")
GUESS = 100
LOST = Outcome(OutcomeKind.INFEASIBLE, "NaN")


def improves(until: float, noise: float = 0.005, by_seed: float = 0.05) -> Training:
    """Each doubling gains 0.02 until so many steps; a seed moves all of its trials alike."""

    def train(config: Config, seed: int, steps: int) -> Made:
        own = by_seed * np.random.default_rng(seed).normal()
        luck = noise * np.random.default_rng([seed, steps]).normal()
        value = 0.3 - 0.02 * math.log2(min(steps, until) / GUESS) + own + luck
        return {"valid/error": Curve.of([steps], [value])}

    return train


def loses(train: Training, share: float) -> Training:
    """The same, but a share of the trainings comes to nothing by luck."""

    def lossy(config: Config, seed: int, steps: int) -> Made:
        is_lost = np.random.default_rng([seed, steps, 1]).random() < share
        return LOST if is_lost else train(config, seed, steps)

    return lossy


def followed(
    train: Training,
    *,
    seed: int = 0,
    longest: int | None = None,
    subject: Subject | None = None,
) -> tuple[Longer, list[Study]]:
    subject = subject or subject_of({"lr": 0.1}, KNOBS, steps=50, seed=seed)
    return ended(lengthened(subject, GUESS, longest, goal="?"), train)


def ended(
    procedure: Generator[Study, Results, Longer], train: Training
) -> tuple[Longer, list[Study]]:
    """What came of making trainings longer, and the studies that it took."""
    studies: list[Study] = []
    try:
        study = next(procedure)
        while True:
            studies.append(study)
            study = procedure.send(results_of(study, train))
    except StopIteration as ended:
        made: Longer = ended.value
        return made, studies
