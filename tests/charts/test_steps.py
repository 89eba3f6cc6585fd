"""Best steps in shares of the budget."""

from __future__ import annotations

import numpy as np

from hostile_evidence import METRIC, Ran, evidence_of
from tunebook.charts.figures import Bars, Figure, Rule
from tunebook.charts.steps import best_steps
from tunebook.core.curves import Curve
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Budget
from tunebook.core.trials import Outcome, OutcomeKind

SPACE = Space.of(fixed={"a": 1})


def best_at(step: int, level: float = 0.1) -> Ran:
    steps = np.arange(10, 110, 10)
    return Ran(curves={METRIC: Curve.of(steps, level + np.abs(steps - step) / 100)})


def drawn(ran: list[Ran], **study: object) -> Figure:
    figure = best_steps(evidence_of(SPACE, ran, **study))  # type: ignore[arg-type]
    assert figure is not None
    return figure


def counts(figure: Figure) -> dict[str, int]:
    return {where: int(count) for where, _, count in figure.table.rows if count != "0"}


def test_steps_are_counted_in_shares_of_the_budget() -> None:
    figure = drawn([best_at(10), best_at(50), best_at(90), best_at(90)], budget=Budget(200))
    assert counts(figure) == {"5-10%": 1, "25-30%": 1, "45-50%": 2}


def test_without_a_budget_the_longest_trial_is_the_measure() -> None:
    assert counts(drawn([best_at(50)])) == {"50-55%": 1}


def test_rules_stand_at_a_tenth_and_three_quarters() -> None:
    rules = [mark for mark in drawn([best_at(50)]).panels[0].marks if isinstance(mark, Rule)]
    assert [(rule.at, rule.along) for rule in rules] == [(10, "x"), (75, "x")]


def test_bars_of_the_best_quarter_carry_the_others() -> None:
    ran = [best_at(90, 0.1), *(best_at(90, 0.2) for _ in range(7))]
    best, others = (m for m in drawn(ran).panels[0].marks if isinstance(m, Bars))
    assert best.top.max() == 2
    assert others.base.tolist() == best.top.tolist()
    assert others.top.max() == 8


def test_the_sentence_counts_early_and_late_trials() -> None:
    assert drawn([best_at(10), best_at(80), best_at(90), best_at(50)]).sentence == (
        "Of 4 trials, 1 had their best result in the first 10% of the 100 steps and 2 in the "
        "last 25%; the best trial had it at 10%."
    )


def test_the_best_step_is_that_of_the_curve_whatever_the_reduction() -> None:
    last = Objective(Metric(METRIC), "last")
    figure = best_steps(evidence_of(SPACE, [best_at(50)], last))
    assert figure is not None and counts(figure) == {"50-55%": 1}


def test_stopped_trials_are_left_out_and_said() -> None:
    stopped = Ran(curves=best_at(10).curves, outcome=Outcome(OutcomeKind.STOPPED, "a rule"))
    figure = drawn([best_at(50), stopped])
    assert sum(counts(figure).values()) == 1
    assert figure.note == "1 trial stopped early, and left out."


def test_more_steps_than_the_budget_still_have_a_bar() -> None:
    assert sum(counts(drawn([best_at(100)], budget=Budget(50))).values()) == 1
