"""All questions of the playbook over one study's evidence, judged together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tunebook.core.evidence import Evidence
from tunebook.core.findings import Finding
from tunebook.core.objective import Objective
from tunebook.core.results import Results
from tunebook.diagnosis.baseline import baseline
from tunebook.diagnosis.boundaries import search_space
from tunebook.diagnosis.clipping import clipping
from tunebook.diagnosis.design import caveats, code, one_question, tuned_budget
from tunebook.diagnosis.dimensions import dimensions
from tunebook.diagnosis.fairness import fairness
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.importance import nothing_matters, which_matter
from tunebook.diagnosis.infeasible import infeasible
from tunebook.diagnosis.judging import within_budget
from tunebook.diagnosis.late_variance import late_variance
from tunebook.diagnosis.overfitting import overfitting
from tunebook.diagnosis.periodicity import periodicity
from tunebook.diagnosis.progress import improving, saturated
from tunebook.diagnosis.replication import trial_variance
from tunebook.diagnosis.sampled import sampled_enough
from tunebook.diagnosis.spikes import spikes
from tunebook.diagnosis.stability import stability
from tunebook.diagnosis.step_budget import step_budget
from tunebook.diagnosis.training_loss import training_loss
from tunebook.diagnosis.validation import validation_size
from tunebook.diagnosis.warmup import warmup
from tunebook.diagnosis.winner import winner
from tunebook.stats.threads import one_thread

Answer: TypeAlias = Callable[[Evidence], Finding]

# In the order in which an experienced tuner asks.
ANSWERS: tuple[Answer, ...] = (
    *(baseline, code, one_question, tuned_budget, dimensions),
    *(search_space, sampled_enough, infeasible, nothing_matters, which_matter),
    *(stability, spikes, training_loss, clipping, warmup),
    *(overfitting, improving, saturated, step_budget),
    *(late_variance, validation_size, periodicity, trial_variance),
    *(fairness, winner, caveats),
)


def diagnose(results: Results, objective: Objective | None = None) -> tuple[Finding, ...]:
    """A finding for every question, worst first; among equals in the order of asking."""
    return examine(gather(results, objective))


def examine(evidence: Evidence) -> tuple[Finding, ...]:
    """The same for evidence that has been gathered already."""
    with one_thread():
        findings = within_budget([answer(evidence) for answer in ANSWERS])
    return tuple(sorted(findings, key=lambda finding: finding.verdict.rank))
