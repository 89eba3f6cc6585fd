"""All pictures of a study that have something to show, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping

from tunebook.charts.axes import axis_plots
from tunebook.charts.buckets import bucket_isolation
from tunebook.charts.curves import training_curves
from tunebook.charts.figures import Figure
from tunebook.charts.gradients import norm_by_step, norm_histogram
from tunebook.charts.importance import Shares, importance_bars, interactions, shares
from tunebook.charts.isolation import isolation
from tunebook.charts.parallel import parallel_coordinates
from tunebook.charts.progress import best_of_k_plot, best_so_far
from tunebook.charts.steps import best_steps
from tunebook.charts.timeline import outcome_timeline
from tunebook.core.evidence import Evidence
from tunebook.core.space import Setting
from tunebook.stats.optima import Optimum


def figures(
    evidence: Evidence,
    optima: Mapping[Setting, Optimum] | None = None,
    known: Shares | None = None,
) -> tuple[Figure, ...]:
    """The figures of a study. What analysis has found already is shown rather than found again.

    `optima` are sample paths of each setting's optimum; without them whiskers are resampled.
    `known` is the importance of the parameters; without it, it is estimated here.
    """
    found = known or shares(evidence)
    made = (
        isolation(evidence, optima),
        bucket_isolation(evidence),
        axis_plots(evidence),
        training_curves(evidence),
        best_so_far(evidence),
        best_of_k_plot(evidence),
        best_steps(evidence),
        norm_by_step(evidence),
        norm_histogram(evidence),
        importance_bars(evidence, found) if found else None,
        interactions(evidence, found) if found else None,
        parallel_coordinates(evidence),
        outcome_timeline(evidence),
    )
    return tuple(figure for figure in made if figure is not None)
