"""Problems are told in order, one a line, and never break the terminal."""

from __future__ import annotations

import pytest

from tunebook.studyfile.problems import Problem, Problems, one_line, shown, spelled


def test_problems_are_told_once_each_in_the_order_of_their_lines() -> None:
    found = Problems(Problem(10, "late"), Problem(2, "early"), Problem(10, "late"))
    assert str(found.error("s.yaml")) == "s.yaml:2: early\ns.yaml:10: late"


@pytest.mark.parametrize(
    ("count", "last"),
    [(10, "s.yaml:10: p"), (11, "and 1 more problem"), (500, "and 490 more problems")],
)
def test_ten_problems_are_told_at_most(count: int, last: str) -> None:
    lines = str(Problems(*(Problem(n, "p") for n in range(1, count + 1))).error("s.yaml"))
    assert lines.splitlines()[9] == "s.yaml:10: p"
    assert lines.splitlines()[-1] == last


def test_a_place_is_spelled_as_one_would_say_it() -> None:
    assert spelled(()) == ""
    assert spelled(("fixed", "adam.beta1")) == "fixed.adam.beta1"
    assert spelled(("more_trials", 2, "trials")) == "more_trials[2].trials"


def test_values_are_shown_in_few_characters() -> None:
    assert shown(False) == "false"
    assert shown([1, None]) == "[1, None]"
    assert len(shown(list(range(1000)))) == 42


@pytest.mark.parametrize(
    ("text", "plain"),
    [("a\nb", "a\\nb"), ("\x1b[2J", "\\x1b[2J"), ("\u2028", "\\u2028"), ("é 日本", "é 日本")],
)
def test_a_line_cannot_be_broken(text: str, plain: str) -> None:
    assert one_line(text) == plain


def test_a_line_is_cut_where_it_fills_the_screen() -> None:
    assert one_line("x" * 10_000) == "x" * 297 + "..."
