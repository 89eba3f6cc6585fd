"""The alarm budget is kept over the whole report, and reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.findings import Claim, Question, Verdict
from tunebook.diagnosis.judging import finding, undecided, unknown, within_budget

ASKED = Question("edge", "Is it at the edge?", "edge")
P = st.one_of(st.none(), st.floats(0, 1))


def claim(p: float | None, level: Verdict = Verdict.PROBLEM, subject: str = "x") -> Claim:
    return Claim(
        f"{subject} is at the edge.", level, p, f"Extend {subject}.", subject, (3,), {"p": 1}
    )


def test_without_claims_the_calm_sentence_stands() -> None:
    said = finding(ASKED, [], "All is well.", numbers={"n": 4})
    assert (said.verdict, said.sentence, said.advice) == (Verdict.GOOD, "All is well.", "")
    assert said.numbers == {"n": 4}


@pytest.mark.parametrize(
    ("p", "level", "verdict"),
    [
        (0.04, Verdict.PROBLEM, Verdict.PROBLEM),
        (0.06, Verdict.PROBLEM, Verdict.WATCH),
        (0.04, Verdict.WATCH, Verdict.WATCH),
        (0.19, Verdict.WATCH, Verdict.WATCH),
        (0.21, Verdict.PROBLEM, Verdict.GOOD),
        (None, Verdict.PROBLEM, Verdict.PROBLEM),
        (None, Verdict.WATCH, Verdict.WATCH),
    ],
)
def test_a_claim_alone_is_what_its_p_value_leaves(
    p: float | None, level: Verdict, verdict: Verdict
) -> None:
    said = finding(ASKED, [claim(p, level)], "All is well.")
    assert said.verdict is verdict
    assert said.sentence == ("All is well." if verdict is Verdict.GOOD else "x is at the edge.")
    assert said.advice == ("" if verdict is Verdict.GOOD else "Extend x.")


def test_calm_claims_of_other_questions_make_an_alarm_weaker() -> None:
    alarm = finding(ASKED, [claim(0.01)], "All is well.")
    calm = [finding(ASKED, [claim(0.9)], "All is well.") for _ in range(30)]
    assert within_budget([alarm, *calm[:3]])[0].verdict is Verdict.PROBLEM
    assert within_budget([alarm, *calm[:9]])[0].verdict is Verdict.WATCH
    assert within_budget([alarm, *calm])[0].verdict is Verdict.GOOD


def test_the_strongest_claim_speaks_and_the_others_are_named() -> None:
    said = finding(
        ASKED,
        [claim(1e-4, subject="a"), claim(1e-6, subject="b"), claim(1e-5, subject="c"), claim(0.8)],
        "All is well.",
    )
    assert said.sentence == "b is at the edge. The same holds for c and a."
    assert said.trials == (3,)


def test_many_others_are_counted() -> None:
    said = finding(ASKED, [claim(None, subject=name) for name in "abcdef"], "")
    assert said.sentence == "a is at the edge. The same holds for b, c, d and 2 more."


def test_unknown_stays_unknown_in_any_company() -> None:
    one = unknown(ASKED, "There are no trials yet.", "Run the study.")
    beside = within_budget([one, finding(ASKED, [claim(None)], "")])
    assert beside[0] == one
    assert one.verdict is Verdict.UNKNOWN


def test_what_is_undecided_is_not_good_and_gives_way_to_an_alarm() -> None:
    doubt = undecided("It cannot be told: 3, with an error of 4.", "Run more.", trials=[7])
    said = finding(ASKED, [claim(0.6), doubt], "All is well.")
    assert (said.verdict, said.sentence, said.advice, said.trials) == (
        Verdict.UNKNOWN,
        "It cannot be told: 3, with an error of 4.",
        "Run more.",
        (7,),
    )
    loud = finding(ASKED, [claim(0.01), doubt], "All is well.")
    assert (loud.verdict, loud.sentence, loud.trials) == (
        Verdict.PROBLEM,
        "x is at the edge.",
        (3,),
    )
    # An alarm that its company silences leaves the doubt.
    calm = [finding(ASKED, [claim(0.9)], "") for _ in range(30)]
    assert within_budget([loud, *calm])[0].verdict is Verdict.UNKNOWN


def test_healthy_reports_keep_to_the_budget() -> None:
    rng = np.random.default_rng(5)
    problems = watches = 0
    for _ in range(400):
        asked = [finding(ASKED, [claim(p) for p in rng.uniform(size=4)], "") for _ in range(10)]
        verdicts = {one.verdict for one in within_budget(asked)}
        problems += Verdict.PROBLEM in verdicts
        watches += bool(verdicts & {Verdict.PROBLEM, Verdict.WATCH})
    # Both budgets are reached, not merely kept: 5% and 20% of 400, give or take three deviations.
    assert 8 <= problems <= 33
    assert 54 <= watches <= 104


@given(st.lists(st.lists(P, max_size=4), max_size=6))
def test_judging_twice_changes_nothing_and_company_never_adds_an_alarm(
    groups: list[list[float | None]],
) -> None:
    alone = [finding(ASKED, [claim(p) for p in group], "All is well.") for group in groups]
    once = within_budget(alone)
    assert within_budget(once) == once
    assert all(a.verdict.rank >= b.verdict.rank for a, b in zip(once, alone, strict=True))
