"""Real logs: what is known of them is found. They are not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

import logs
import real
from answerable import is_answerable
from simulation import Plan, draw
from tunebook.diagnosis.gathering import gather


@pytest.mark.realdata
@pytest.mark.parametrize("part", [logs.diverged_algoperf, logs.near_chance, logs.diverged_alexnet])
def test_every_trial_known_to_be_bad_is_found(part: logs.Part, real_data: Path) -> None:
    (row,) = part(real_data)
    assert row["known"] > 10
    assert row["missed"] == []


@pytest.mark.realdata
def test_the_best_of_k_lies_within_the_bands_of_opda(real_data: Path) -> None:
    for row in logs.best_of_k(real_data):
        assert row["estimates within"] == row["bands equal"] == row["ks"], row["log"]
        assert row["means equal"], row["log"]


@pytest.mark.realdata
def test_edges_lie_where_rates_stop_working(real_data: Path) -> None:
    rows = list(logs.edges(real_data))
    assert all(row["found"] == row["broken"] for row in rows)
    assert all(row["edge"] <= row["begins"] for row in rows if row["begins"] is not None)


@pytest.mark.realdata
def test_winners_at_an_end_are_counted(real_data: Path) -> None:
    (row,) = logs.boundary_winners(real_data)
    assert row["studies"] == 492
    assert row["near"] > row["expected"]


@pytest.mark.realdata
def test_little_is_unknown_of_a_sweep(real_data: Path) -> None:
    evidence = gather(next(iter(real.deepobs(real_data))))
    assert is_answerable(evidence, "trial-variance")
    assert not is_answerable(evidence, "warmup")


def test_a_question_needs_what_it_reads() -> None:
    evidence = gather(draw(Plan(seed=3, trials=8, dimensions=2, evaluations=20)))
    keys = ("baseline", "improving", "stability", "spikes", "search-space")
    assert all(is_answerable(evidence, key) for key in keys)
    assert not any(
        is_answerable(evidence, key)
        for key in ("code", "clipping", "warmup", "trial-variance", "periodicity")
    )


def test_the_beginning_of_a_search_is_a_search() -> None:
    results = draw(Plan(seed=3, trials=12, dimensions=2))
    first = logs.beginning(results, 5)
    assert [r.trial.number for r in first] == [1, 2, 3, 4, 5]
    assert first.study.trials == 5
