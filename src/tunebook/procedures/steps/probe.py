"""How many steps should a trial have? Those that the training set takes to be fitted, at first.

Without regularisation and at a constant learning rate, the steps of the fastest rate are a first
guess. Once the study has results, the steps at which its good trials were best say more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.evidence import Reading
from tunebook.core.findings import Question
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.needs import MAX_STEPS, Need, remedy
from tunebook.procedures.steps import words
from tunebook.procedures.steps.fitting import Fit, fit_of, fitted, is_falling, left_over, needed
from tunebook.procedures.steps.pictures import picture
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep, orders, sweep

QUESTION: Final = Question(
    "probe-steps",
    "How many steps does the training set take to be fitted?",
    "number-of-steps",
)
NEEDS: Final = (
    Need("learning_rate", "to sweep it"),
    Need(MAX_STEPS, "to know how long to try"),
    Need("train_error", "to see the training set fitted", required=False),
    Need("train_loss", "to see it fall to a level given by --loss", required=False),
    Need("schedule", "to keep the learning rate constant", required=False),
    Need("warmup_steps", "to train without a warmup", required=False),
    Need("no_regularisation", "to switch regularisation off", required=False),
    Need("no_augmentation", "to switch augmentation off", required=False),
    Need("eval_interval", "to see the step more finely", required=False),
)
SEEDS: Final = 2
# Evaluations of a trial: so finely the steps are known.
EVALUATIONS: Final = 50


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a sweep of `most` steps says: between which steps the fastest rate fits its data."""

    sweep: Sweep
    fit: Fit
    most: int

    @property
    def best(self) -> tuple[Reading, ...]:
        """The trials at the best rate."""
        return () if self.sweep.best is None else self.sweep.readings[self.sweep.best]

    @property
    def interval(self) -> tuple[float, float] | None:
        """From the fewest to the most steps that a trial at the best rate may have needed."""
        reached = [found for r in self.best if (found := fitted(r, self.fit)) is not None]
        if not reached or not all(one.reached for one in reached):
            return None
        return min(one.after for one in reached), max(one.until for one in reached)

    @property
    def is_falling(self) -> bool:
        return any(is_falling(reading, self.fit, self.most) for reading in self.best)

    @property
    def left(self) -> float:
        """What is left of the metric at the best rate."""
        return min((left_over(r, self.fit) for r in self.best), default=math.inf)


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """A sweep at constant rates, regularisation off, and then the study's own best steps."""
    loss, wanted = options.get("loss"), options.get("max_steps")
    most = int(wanted or subject.steps or 0)
    fit = fit_of(subject, None if loss is None else float(loss))
    if not most:
        raise StudyError(
            f"the probe steps needs a number of steps: {remedy(MAX_STEPS, subject.study)}"
        )
    if fit is None:
        error, low = (remedy(knob, subject.study) for knob in ("train_error", "train_loss"))
        raise StudyError(
            "the probe steps cannot see whether the training set is fitted: "
            f"{error}; or {low}, and give a low level by --loss"
        )
    made = yield from sweep(
        subject,
        "sweep",
        str(subject.knobs.learning_rate),
        orders(subject.number("learning_rate"), 1, 1, 3),
        goal=QUESTION.text,
        fix={**_plain(subject, most), **fit.fix},
        steps=most,
        replicates=int(options.get("seeds") or SEEDS),
        judge=needed(fit, most),
    )
    found = Fitted(made, fit, most)
    finding, guess = words.answer(QUESTION, subject, found)
    later = words.histogram(subject)
    edits = words.edits(subject, guess, later)
    figures = (*picture(QUESTION, found), *words.histogram_picture(subject))
    retune = words.retune(subject) if edits else ()
    return Answer((finding, *((later,) if later else ())), figures, edits, retune)


def _plain(subject: Subject, most: int) -> dict[str, Value]:
    """Constant rate, no warmup, nothing that makes the training set harder to fit."""
    knobs = subject.knobs
    fix: dict[str, Value] = {**dict(knobs.no_regularisation), **dict(knobs.no_augmentation)}
    if knobs.schedule is not None:
        fix[knobs.schedule] = "constant"
    if knobs.warmup_steps is not None:
        fix[knobs.warmup_steps] = 0
    if knobs.eval_interval is not None:
        fix[knobs.eval_interval] = max(most // EVALUATIONS, 1)
    return fix
