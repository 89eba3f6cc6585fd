"""How many steps should a trial have? Those that the training set takes to be fitted, at first.

Without regularisation and at a constant learning rate, the steps of the fastest rate are a first
guess. It is only where to begin: the study's own training is then made longer until that gains
nothing. Once the study has results, the steps at which its good trials were best say more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.findings import Finding, Question
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.needs import MAX_STEPS, Need, remedy
from tunebook.procedures.steps import longer_pictures, longer_words, words
from tunebook.procedures.steps.fitted import Fitted
from tunebook.procedures.steps.fitting import fit_of, needed
from tunebook.procedures.steps.longer import Longer, lengthened
from tunebook.procedures.steps.pictures import picture
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import orders, sweep

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


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """A sweep at constant rates, regularisation off, then the study's own training made longer."""
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
        subject.name("learning_rate"),
        orders(subject.number("learning_rate"), 1, 1, 3),
        goal=QUESTION.text,
        fix={**_plain(subject, most), **fit.fix},
        steps=most,
        replicates=int(options.get("seeds") or SEEDS),
        judge=needed(fit, most),
        # What stands for more steps than there were is no measurement.
        tells=lambda steps: steps <= most,
    )
    found = Fitted(made, fit, most)
    finding, guess = words.answer(QUESTION, subject, found)
    made_longer: Longer | None = None
    # Where a program counts in epochs, its steps cannot be set from a number of steps.
    if guess is not None and subject.knobs.steps_unit == "steps":
        longest = options.get("longest")
        made_longer = yield from lengthened(
            subject,
            guess,
            None if longest is None else int(longest),
            goal=longer_words.LONGER.text,
            fastest=made.best,
        )
    return _answer(subject, found, finding, guess, made_longer)


def _answer(
    subject: Subject, found: Fitted, finding: Finding, guess: int | None, longer: Longer | None
) -> Answer:
    later = words.histogram(subject)
    findings, figures = [finding], [*picture(QUESTION, found)]
    advised, because = guess, words.FIRST_GUESS
    if longer is not None:
        # What to do comes before where it began.
        findings.insert(0, longer_words.answer(subject, longer))
        figures += longer_pictures.picture(longer)
        advised, because = longer.steps, longer_words.because(subject, longer)
    findings += [later] if later else []
    edits = words.edits(subject, advised, later, because)
    retune = words.retune(subject) if edits else ()
    figures += words.histogram_picture(subject)
    return Answer(words.never_tuned(findings), tuple(figures), edits, retune)


def _plain(subject: Subject, most: int) -> dict[str, Value]:
    """Constant rate, no warmup, nothing that makes the training set harder to fit."""
    knobs = subject.knobs
    fix: dict[str, Value] = {**dict(knobs.no_regularisation), **dict(knobs.no_augmentation)}
    fix |= subject.constant_rate()
    if knobs.warmup_steps is not None:
        fix[knobs.warmup_steps] = 0
    if knobs.eval_interval is not None:
        fix[knobs.eval_interval] = max(most // EVALUATIONS, 1)
    return fix
