"""All pictures of a study that have something to show, in the order in which they are read."""

from __future__ import annotations

from tunebook.charts.axes import axis_plots
from tunebook.charts.curves import training_curves
from tunebook.charts.figures import Figure
from tunebook.charts.gradients import norm_by_step, norm_histogram
from tunebook.charts.importance import Shares, importance_bars, interactions, shares
from tunebook.charts.isolation import bucket_isolation, isolation
from tunebook.charts.parallel import parallel_coordinates
from tunebook.charts.progress import best_of_k_plot, best_so_far
from tunebook.charts.steps import best_steps
from tunebook.charts.timeline import outcome_timeline
from tunebook.core.evidence import Evidence
from tunebook.stats.winner import Contest


def figures(
    evidence: Evidence, contest: Contest | None = None, known: Shares | None = None
) -> tuple[Figure, ...]:
    """The figures of a study. What analysis has found already is shown rather than found again.

    `contest` are the optima of `evidence.arms`, in their order; `known` is the importance of the
    parameters. Without them whiskers are resampled, and importance is estimated here.
    """
    found = known or shares(evidence)
    made = (
        isolation(evidence, contest),
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
