"""Which picture stands beside which finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tunebook.charts.figures import Figure
from tunebook.core.findings import Finding, Verdict
from tunebook.report.making import Report

# By the key of a question, the figures that show its answer, best first. `axis` alone means the
# parameter that the finding is about.
FIGURES: Final[Mapping[str, tuple[str, ...]]] = {}


def beside(report: Report) -> dict[str, Figure]:
    """The figure of each finding that asks for attention, by the key of its question.

    A figure stands beside one finding only, the worst that asks for it.
    """
    left = {figure.key: figure for figure in report.figures}
    found: dict[str, Figure] = {}
    for finding in report.with_verdict(Verdict.PROBLEM, Verdict.WATCH, Verdict.UNKNOWN):
        key = next((key for key in wanted(finding) if key in left), None)
        if key is not None:
            found[finding.question.key] = left.pop(key)
    return found


def wanted(finding: Finding) -> tuple[str, ...]:
    return FIGURES.get(finding.question.key, ())
