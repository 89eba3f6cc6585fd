"""Counts, lists, notes and tables of figures."""

from __future__ import annotations

from tunebook.charts.wording import change, limited, metric_label, sentences
from tunebook.core.objective import Metric, Objective
from tunebook.core.representation import listed


def test_a_list_of_one_or_none_needs_no_and() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"


def test_only_parts_that_say_something_are_joined() -> None:
    assert sentences("One.", "", "Two.") == "One. Two."
    assert sentences("", "") == ""


def test_a_difference_has_no_sign_and_is_not_lost_to_rounding() -> None:
    assert change(0.1, 0.3) == "0.2"
    assert change(0.5, 0.500001) == "1e-06"


def test_long_tables_are_cut_and_say_so() -> None:
    rows = [[str(i)] for i in range(60)]
    table, note = limited(["n"], rows, most=50)
    assert len(table.rows) == 50
    assert note == "The table has 50 of 60 rows."
    assert limited(["n"], rows[:3])[1] == ""


def test_an_axis_names_the_reduction_and_the_direction() -> None:
    label = metric_label(Objective(Metric("accuracy", "higher"), "mean", over=5))
    assert label == "mean 5 accuracy (higher is better)"
