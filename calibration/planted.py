"""The faults that calibration plants, one for each question, in sizes fixed before any was tried.

Sizes go from the smallest to the largest, in the units that `unit` names. `healthy` is the size at
which the question must stay calm. Questions that look at the best trials' curves hardly depend on
the number of dimensions, so they are tried in two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from simulation import NAMES, Plan, draw
from tunebook.core.findings import Finding, Verdict
from tunebook.core.results import AttemptRecord, Results
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.diagnosis.baseline import baseline
from tunebook.diagnosis.boundaries import search_space
from tunebook.diagnosis.clipping import clipping
from tunebook.diagnosis.diagnosing import Answer
from tunebook.diagnosis.fairness import fairness
from tunebook.diagnosis.importance import nothing_matters, which_matter
from tunebook.diagnosis.infeasible import infeasible
from tunebook.diagnosis.late_variance import late_variance
from tunebook.diagnosis.overfitting import overfitting
from tunebook.diagnosis.periodicity import periodicity
from tunebook.diagnosis.progress import improving, saturated
from tunebook.diagnosis.replication import trial_variance
from tunebook.diagnosis.spikes import spikes
from tunebook.diagnosis.stability import stability
from tunebook.diagnosis.step_budget import step_budget
from tunebook.diagnosis.training_loss import training_loss
from tunebook.diagnosis.validation import validation_size
from tunebook.diagnosis.warmup import warmup
from tunebook.diagnosis.winner import winner

ALL_DIMENSIONS = (2, 4, 6)
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "valid/error is NaN", Cause.DIVERGED)


def by_claims(said: Finding) -> tuple[float, float]:
    """The smallest p-value of any claim, and of any that may be a problem; 0 for a fact.

    A claim that something is unknown is no alarm, and finds nothing.
    """
    alarms = [c for c in said.claims if c.level in (Verdict.PROBLEM, Verdict.WATCH)]
    p = [(0.0 if c.p is None else c.p, c.level is Verdict.PROBLEM) for c in alarms]
    return min((x for x, _ in p), default=1.0), min((x for x, bad in p if bad), default=1.0)


def by_winner(said: Finding) -> tuple[float, float]:
    """A confident winner, whichever it is, counts as found; it is never a problem."""
    return (0.0 if said.verdict is Verdict.GOOD and " wins " in said.sentence else 1.0), 1.0


def by_weight_decay(said: Finding) -> tuple[float, float]:
    """Weight decay is named among what matters, in the first sentence."""
    first = said.sentence.partition(". ")[0]
    named = said.verdict is Verdict.GOOD and "matter" in first and "weight_decay" in first
    return (0.0 if named else 1.0), 1.0


@dataclass(frozen=True)
class Fault:
    """A fault that one question should find: `plant` puts one of a size into a plan."""

    question: str
    what: str
    unit: str
    answer: Answer
    plant: Callable[[Plan, float], Plan]
    sizes: tuple[float, ...]
    healthy: float
    dimensions: tuple[int, ...] = (2,)
    results: Callable[[Plan, float], Results] | None = None
    read: Callable[[Finding], tuple[float, float]] = by_claims

    def draw(self, plan: Plan, size: float) -> Results:
        planted = self.plant(plan, size)
        return self.results(planted, size) if self.results else draw(planted)


def half_for_the_rate(plan: Plan) -> dict[str, float]:
    """Weights that give the learning rate half of the surface, and the others the rest."""
    others = NAMES[1 : plan.dimensions]
    return {NAMES[0]: 1.0, **{name: 1.0 / len(others) for name in others}}


def _optimum(plan: Plan, place: float) -> Plan:
    return replace(plan, optimum={NAMES[0]: place}, weights=half_for_the_rate(plan))


def _cliff(plan: Plan, below: float) -> Plan:
    return replace(_optimum(plan, 0.6), cliff=0.6 - below)


def _share_of_decay(plan: Plan, share: float) -> Plan:
    """The learning rate has what weight decay has not; the others have nothing."""
    return replace(
        plan, weights={**dict.fromkeys(NAMES, 0.0), NAMES[0]: 1 - share, NAMES[1]: share}
    )


def _little_learnt(plan: Plan, gain: float) -> Plan:
    """At chance equal trials differ by the sampling of 10,000 examples and by nothing else."""
    flat = {"height": 0.0, "noise": 0.003} if gain < 0.1 else {}
    return replace(plan, floor=0.9 - gain, **flat)


def _broken_setting(plan: Plan, share: float) -> Results:
    """The last setting loses a share of its trials, whatever their parameters."""
    results, rng = draw(plan), np.random.default_rng([plan.seed, 2])
    last = results.study.space.settings()[-1]
    ended = (AttemptRecord(1, "token", "", outcome=DIVERGED, seconds=1.0),)
    broken = tuple(
        replace(record, attempts=ended)
        if record.trial.setting == last and rng.uniform() < share
        else record
        for record in results
    )
    return replace(results, trials=broken)


def _plain(field: str, **others: object) -> Callable[[Plan, float], Plan]:
    """A plan with one field set to the size."""
    return lambda plan, size: replace(plan, **{field: size}, **others)  # type: ignore[arg-type]


FAULTS = (
    Fault(
        "search-space",
        "the optimum of the learning rate lies beyond the end of its range",
        "place of the optimum (1 is the end; health is 0.75)",
        search_space,
        _optimum,
        (1.0, 1.1, 1.25, 1.5, 2.0),
        0.75,
        ALL_DIMENSIONS,
    ),
    Fault(
        "stability",
        "rates diverge from a place below the optimum on",
        "part of the range by which the edge lies below (health: 0.25 above)",
        stability,
        _cliff,
        (0.0, 0.1, 0.2, 0.3),
        -0.25,
        ALL_DIMENSIONS,
    ),
    Fault(
        "infeasible",
        "the highest learning rates diverge",
        "share of the range (health is 0.1)",
        infeasible,
        lambda plan, share: replace(_optimum(plan, 0.3), cliff=1 - share),
        (0.2, 0.25, 0.3, 0.35, 0.4),
        0.1,
        ALL_DIMENSIONS,
    ),
    Fault(
        "infeasible",
        "trials fail whatever their parameters",
        "share of the trials",
        infeasible,
        _plain("failures"),
        (0.1, 0.15, 0.2, 0.3, 0.4),
        0.0,
    ),
    Fault(
        "nothing-matters",
        "results do not depend on what is searched",
        "1: not at all",
        nothing_matters,
        lambda plan, flat: replace(plan, flat=bool(flat)),
        (1.0,),
        0.0,
        ALL_DIMENSIONS,
    ),
    Fault(
        "fairness",
        "trials of one of two settings diverge whatever their parameters",
        "share of its trials",
        fairness,
        lambda plan, share: replace(plan, settings=2),
        (0.2, 0.3, 0.4, 0.6, 0.8),
        0.0,
        results=_broken_setting,
    ),
    Fault(
        "winner",
        "one of two settings is better (found: a confident winner)",
        "valid/error",
        winner,
        lambda plan, lead: replace(plan, settings=2, advantage=lead),
        (0.01, 0.02, 0.04, 0.06),
        0.0,
        ALL_DIMENSIONS,
        read=by_winner,
    ),
    Fault(
        "overfitting",
        "the validation error rises from the plateau to the end",
        "valid/error",
        overfitting,
        _plain("overfit"),
        (0.005, 0.01, 0.02, 0.04, 0.08),
        0.0,
    ),
    Fault(
        "training-loss",
        "the training loss rises over the second half",
        "train/loss, which falls by 2",
        training_loss,
        _plain("train_rise"),
        (0.05, 0.1, 0.2, 0.4, 0.8),
        0.0,
    ),
    Fault(
        "improving",
        "the plateau comes after the end",
        "lengths of the training until the plateau",
        improving,
        _plain("plateau"),
        (0.8, 1.0, 1.5, 2.0, 3.0),
        0.5,
    ),
    Fault(
        "step-budget",
        "the plateau comes after the end",
        "lengths of the training until the plateau",
        step_budget,
        _plain("plateau"),
        (0.8, 1.0, 1.5, 2.0, 3.0),
        0.5,
    ),
    Fault(
        "step-budget",
        "trials are best in the first tenth and get worse \\*",
        "valid/error",
        step_budget,
        lambda plan, rise: (
            replace(plan, plateau=0.05, overfit=rise) if rise else replace(plan, plateau=0.5)
        ),
        (0.01, 0.02, 0.04, 0.08),
        0.0,
    ),
    Fault(
        "saturated",
        "the plateau comes early",
        "part of the training until the plateau (health is 0.6)",
        saturated,
        _plain("plateau"),
        (0.4, 0.3, 0.2, 0.1),
        0.6,
    ),
    Fault(
        "late-variance",
        "evaluations scatter from step to step",
        "valid/error",
        late_variance,
        _plain("jitter"),
        (0.005, 0.01, 0.02, 0.04),
        0.002,
    ),
    Fault(
        "periodicity",
        "the metric swings with a period of six evaluations",
        "valid/error",
        periodicity,
        _plain("swing", period=6),
        (0.002, 0.005, 0.01, 0.02),
        0.0,
    ),
    Fault(
        "spikes",
        "the training loss jumps to 6 times its level",
        "times in a trial",
        spikes,
        lambda plan, times: replace(plan, spikes=int(times)),
        (1, 2, 3),
        0,
    ),
    Fault(
        "trial-variance",
        "equal trials differ much; five of them were run",
        "valid/error",
        trial_variance,
        _plain("noise", replicates=4),
        (0.005, 0.01, 0.02, 0.04),
        0.002,
    ),
    Fault(
        "validation-size",
        "few validation examples",
        "examples (health is 50,000)",
        validation_size,
        lambda plan, examples: replace(plan, valid_examples=int(examples)),
        (5000, 2000, 1000, 500, 200),
        50_000,
    ),
    Fault(
        "baseline",
        "no trial learns more than a little \\*",
        "gain over chance of the best point",
        baseline,
        _little_learnt,
        (0.02, 0.01, 0.005, 0.0),
        0.8,
    ),
    Fault(
        "clipping",
        "gradients are clipped too low",
        "the threshold, in usual norms (health is 2)",
        clipping,
        _plain("clipping"),
        (1.2, 1.0, 0.9, 0.8, 0.5),
        2.0,
    ),
    Fault(
        "warmup",
        "the warmup is long",
        "share of the training",
        warmup,
        lambda plan, share: replace(plan, warmup=int(share * plan.steps)),
        (0.06, 0.12),
        0.04,
    ),
    Fault(
        "stability",
        "the same, where nothing but the learning rate matters \\*",
        "part of the range by which the edge lies below (health: 0.25 above)",
        stability,
        lambda plan, below: replace(
            _cliff(plan, below), weights={n: float(n == NAMES[0]) for n in NAMES}
        ),
        (0.1, 0.2, 0.3),
        -0.25,
        ALL_DIMENSIONS,
    ),
    Fault(
        "importance",
        "weight decay matters (found: it is named)",
        "its share of the surface's curvature",
        which_matter,
        _share_of_decay,
        (0.1, 0.2, 0.4, 0.8),
        0.0,
        ALL_DIMENSIONS,
        read=by_weight_decay,
    ),
    Fault(
        "periodicity",
        "the same, with 200 evaluations in place of 40 \\*",
        "valid/error",
        periodicity,
        _plain("swing", period=6, evaluations=200),
        (0.002, 0.005, 0.01, 0.02),
        0.0,
    ),
)
