"""Parallel coordinates: shares of each range, past parameters that do not exist."""

from __future__ import annotations

import pytest

from hostile_evidence import Ran, evidence_of
from tunebook.charts.figures import Figure, Line, Text
from tunebook.charts.parallel import MOST_LINES, parallel_coordinates
from tunebook.core.domains import Choice, Float
from tunebook.core.space import Space

SPACE = Space.of(
    nuisance={"act": Choice(("relu", "gelu")), "rate": Float(1e-4, 1, log=True), "s": Float(0, 2)},
    when={"s": {"act": "relu"}},
)
RAN = [
    Ran({"act": 0.2, "rate": 0.5, "s": 0.25}, 0.1),
    Ran({"act": 0.7, "rate": 1.0, "s": 0.5}, 0.3),
    Ran({"act": 0.7, "rate": 0.0, "s": 0.5}, 0.2),
]


def drawn(ran: list[Ran]) -> Figure:
    figure = parallel_coordinates(evidence_of(SPACE, ran))
    assert figure is not None
    return figure


def test_lines_run_through_shares_of_the_ranges_to_the_result() -> None:
    lines = {m.label: m for m in drawn(RAN).panels[0].marks if isinstance(m, Line)}
    assert lines["trial 1: 0.1"].y == pytest.approx([0.25, 0.5, 0.25, 0.0])
    assert lines["trial 2: 0.3"].x.tolist() == [0, 1, 3]
    assert lines["trial 2: 0.3"].y == pytest.approx([0.75, 1.0, 1.0])
    assert lines["trial 3: 0.2"].y[-1] == pytest.approx(0.5)


def test_axes_are_named_with_their_scale_and_ends() -> None:
    panel = drawn(RAN).panels[0]
    assert panel.x.categories == ("act", "rate (log)", "s", "valid/error")
    texts = [(mark.x, mark.text) for mark in panel.marks if isinstance(mark, Text)]
    assert texts == [
        (0, "relu"),
        (0, "gelu"),
        (1, "0.0001"),
        (1, "1"),
        (2, "0"),
        (2, "2"),
        (3, "0.1"),
        (3, "0.3"),
    ]


def test_the_note_says_that_lines_pass_over_what_does_not_exist() -> None:
    assert drawn(RAN).note.startswith("A line passes over the parameters")
    assert not drawn([RAN[0]] * 2).note


def test_the_best_are_strong_and_on_top() -> None:
    ran = [Ran({"act": 0.2, "rate": i / 400, "s": 0.5}, i / 400) for i in range(400)]
    figure = drawn(ran)
    lines = [mark for mark in figure.panels[0].marks if isinstance(mark, Line)]
    assert len(lines) == MOST_LINES
    assert [line.weight for line in lines[-6:]] == ["faint", *["strong"] * 5]
    assert lines[-1].label == "trial 1: 0"
    assert figure.note.startswith("300 of 400 trials are drawn")
    assert len(figure.table.rows) == 50


def test_the_sentence_names_where_the_best_agree() -> None:
    ran = [Ran({"act": 0.2, "rate": i / 9, "s": 0.5}, 0.1 + i / 100) for i in range(9)]
    assert drawn(ran).sentence == (
        "The best is trial 1 (valid/error 0.1). The best 5 of 9 agree most in act: "
        "they span 0% of its range."
    )


def test_one_trial_or_no_parameter_gives_nothing() -> None:
    assert parallel_coordinates(evidence_of(SPACE, RAN[:1])) is None
    assert parallel_coordinates(evidence_of(Space.of(fixed={"a": 1}), [Ran({}, 1.0)] * 3)) is None
