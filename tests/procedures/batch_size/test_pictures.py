"""Pictures of batch sizes: what they show, and that they can be drawn."""

from __future__ import annotations

from simulated_batches import Machine, subject
from simulated_probes import answered
from tunebook.charts.figures import Figure, Intervals, Line, Rule
from tunebook.charts.svg import svg
from tunebook.procedures.batch_size.probe import probe


def pictures(machine: Machine, **options: float) -> dict[str, Figure]:
    answer, _ = answered(probe(subject(), {"largest": 512, **options}), machine.train)
    return {figure.key: figure for figure in answer.figures}


def test_throughput_is_shown_with_its_line_and_its_limits() -> None:
    figure = pictures(Machine(largest=256))["probe-batch-size"]
    assert [panel.title for panel in figure.panels] == ["Throughput", "Time per step"]
    marks = figure.panels[0].marks
    (measured,) = (mark for mark in marks if isinstance(mark, Intervals))
    assert measured.x.tolist() == [8, 16, 32, 64, 128, 256]
    assert any(isinstance(mark, Line) for mark in marks)
    rules = {mark.at: mark.name for mark in marks if isinstance(mark, Rule)}
    assert rules[512.0] == "does not fit"
    assert figure.table.rows[-1][:2] == ("512", "out of memory")
    assert figure.table.rows[0][0] == "8"
    assert "<svg" in svg(figure)


def test_steps_to_a_goal_are_shown() -> None:
    figure = pictures(Machine(steps=lambda size: 60 * (1 + 100 / size)), goal=0.1)[
        "probe-critical-batch"
    ]
    assert [panel.title for panel in figure.panels] == ["Steps", "Time"]
    assert len(figure.table.rows) == 4
    assert "<svg" in svg(figure)
