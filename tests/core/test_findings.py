"""Verdicts have an order, in which unknown is never as good as good."""

from __future__ import annotations

import pytest

from tunebook.core.findings import Claim, Finding, Question, Verdict


def test_verdicts_are_listed_worst_first_and_rank_so() -> None:
    assert [verdict.value for verdict in Verdict] == ["problem", "watch", "unknown", "good"]
    assert [verdict.rank for verdict in Verdict] == [0, 1, 2, 3]
    assert Verdict.UNKNOWN.rank < Verdict.GOOD.rank


def test_findings_and_claims_are_values() -> None:
    question = Question("edge", "Is it at the edge?", "edge")
    one = Finding(question, Verdict.GOOD, "No.", claims=(Claim("Yes.", Verdict.WATCH, 0.9),))
    assert one == Finding(
        question, Verdict.GOOD, "No.", claims=(Claim("Yes.", Verdict.WATCH, 0.9),)
    )
    with pytest.raises(AttributeError):
        one.verdict = Verdict.PROBLEM  # type: ignore[misc]
