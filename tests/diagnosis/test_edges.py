"""Where rates begin to fail."""

from __future__ import annotations

import numpy as np
import pytest

from small_studies import evidence_of
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.diagnosis.edges import Edge, edge_of

DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "loss is NaN", Cause.DIVERGED)
DONE = Outcome(OutcomeKind.COMPLETE, "finished")
RATES = tuple(float(x) for x in np.geomspace(1e-4, 1.0, 25))


def edge(best: float, above: float) -> Edge | None:
    trials = [{"valid/error": [0.1 + 0.02 * np.log10(rate / best) ** 2]} for rate in RATES]
    outcomes = [DIVERGED if rate > above else DONE for rate in RATES]
    return edge_of(evidence_of(trials, rates=RATES, outcomes=outcomes).arms[0], "lr")


@pytest.mark.parametrize(("best", "falls"), [(1.0, True), (0.001, False)])
def test_an_edge_lies_between_its_neighbours_and_tells_the_slope(best: float, falls: bool) -> None:
    found = edge(best, above=0.02)
    assert found is not None
    assert RATES[13] < found.rate < RATES[14]
    assert [r.number for r in found.beyond] == list(range(15, 26))
    assert (found.falling > 0.95, found.falling < 0.05) == (falls, not falls)
    assert (found.p < 0.05) is falls


def test_nothing_that_fails_is_no_edge() -> None:
    assert edge(0.01, above=2.0) is None
