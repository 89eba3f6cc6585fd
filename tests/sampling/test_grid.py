"""Grids: every combination once, with conditions minded."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.sampler_contract import no_results
from searchable import spaces, study_in
from tunebook.core.domains import Choice, Domain, Float, Int, Value
from tunebook.core.errors import StudyError
from tunebook.core.space import Setting, Space
from tunebook.core.study import Sampling, Study
from tunebook.sampling.grid import GridSampler

GRID = GridSampler()
ALL = Setting()


def study_of(space: Space, points: int = 3) -> Study:
    return study_in(space, sampling=Sampling("grid", points))


def configs(study: Study, setting: Setting = ALL) -> list[dict[str, Value]]:
    count = GRID.count(study, setting)
    return [dict(GRID.propose(study, setting, i, no_results).config) for i in range(count)]


@pytest.mark.parametrize(
    ("domain", "points", "values"),
    [
        (Float(0.0, 1.0), 5, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (Float(1e-4, 1e-1, log=True), 4, [1e-4, 1e-3, 1e-2, 1e-1]),
        (Int(1, 9), 3, [1, 5, 9]),
        (Int(1, 3), 5, [1, 2, 3]),
        (Int(1, 1000, log=True), 4, [1, 10, 100, 1000]),
        (Int(1, 6, log=True), 5, [1, 2, 4, 6]),
        (Choice(("a", True, 1)), 2, ["a", True, 1]),
    ],
)
def test_the_values_of_one_parameter(domain: Domain, points: int, values: list[Value]) -> None:
    found = [config["x"] for config in configs(study_of(Space.of(nuisance={"x": domain}), points))]
    assert repr(found) == repr(values)


def test_every_combination_appears_once() -> None:
    space = Space.of(nuisance={"a": Choice((1, 2)), "b": Int(1, 3), "c": Float(0.0, 1.0)})
    found = [(c["a"], c["b"], c["c"]) for c in configs(study_of(space))]
    assert sorted(found) == sorted(itertools.product((1, 2), (1, 2, 3), (0.0, 0.5, 1.0)))


def test_nothing_searched_is_one_configuration() -> None:
    assert configs(study_of(Space.of(fixed={"a": 1}))) == [{"a": 1}]


def test_conditions_on_searched_choices_remove_duplicates() -> None:
    space = Space.of(
        nuisance={"schedule": ["none", "cosine", "step"], "end": Int(1, 2), "steps": ["a", "b"]},
        when={"end": {"schedule": ["cosine", "step"]}, "steps": {"schedule": "step"}},
    )
    assert configs(study_of(space)) == [
        {"schedule": "none"},
        {"schedule": "cosine", "end": 1},
        {"schedule": "cosine", "end": 2},
        {"schedule": "step", "end": 1, "steps": "a"},
        {"schedule": "step", "end": 2, "steps": "a"},
        {"schedule": "step", "end": 1, "steps": "b"},
        {"schedule": "step", "end": 2, "steps": "b"},
    ]


def test_a_switch_may_hang_on_a_switch() -> None:
    space = Space.of(
        nuisance={"c": [1, 2], "b": ["on", "off"], "a": ["on", "off"]},
        when={"c": {"b": "on"}, "b": {"a": "on"}},
    )
    assert sorted(map(str, configs(study_of(space)))) == [
        "{'a': 'off'}",
        "{'a': 'on', 'b': 'off'}",
        "{'a': 'on', 'b': 'on', 'c': 1}",
        "{'a': 'on', 'b': 'on', 'c': 2}",
    ]


@given(spaces(most=4), st.integers(2, 3))
def test_a_grid_is_every_point_decoded_without_duplicates(space: Space, points: int) -> None:
    study = study_of(space, points)
    for setting in space.settings():
        found = [repr(config) for config in configs(study, setting)]
        assert len(set(found)) == len(found)
        axes = [
            p.source.values if isinstance(p.source, Choice) else _ends(p.source, points)  # type: ignore[arg-type]
            for p in space.searched(setting)
        ]
        names = [p.name for p in space.searched(setting)]
        expected = {
            repr(study.inherit(space.complete(setting, dict(zip(names, values, strict=True)))))
            for values in itertools.product(*axes)
        }
        assert set(found) == expected


def _ends(domain: Float | Int, points: int) -> list[Value]:
    space = Space.of(nuisance={"x": domain})
    return [config["x"] for config in configs(study_of(space, points))]


def test_what_settings_share_varies_fastest() -> None:
    space = Space.of(
        scientific={"arm": ["a", "b"]},
        nuisance={"extra": Int(1, 2), "lr": Int(1, 3)},
        when={"extra": {"arm": "b"}},
    )
    study = study_of(space)
    one, other = space.settings()
    assert [config["lr"] for config in configs(study, one)] == [1, 2, 3]
    assert [(c["lr"], c["extra"]) for c in configs(study, other)] == [
        *((1, 1), (2, 1), (3, 1)),
        *((1, 2), (2, 2), (3, 2)),
    ]


def test_the_number_of_trials_does_not_matter() -> None:
    space = Space.of(nuisance={"a": Int(1, 3)})
    assert GRID.count(study_in(space, sampling=Sampling("grid"), trials=100), ALL) == 3


def test_a_grid_may_be_too_large() -> None:
    space = Space.of(nuisance={f"x{n}": Float(0.0, 1.0) for n in range(9)})
    assert GRID.count(study_of(space, 4), ALL) == 262_144
    with pytest.raises(StudyError) as caught:
        GRID.count(study_of(space, 5), ALL)
    assert str(caught.value) == (
        "the grid of the setting all has 1953125 configurations, and a setting may have "
        "1000000 trials; take fewer points for each range (points: 5) or sampling: halton"
    )


def test_too_many_conditions_are_noticed_before_they_fill_the_memory() -> None:
    switches = {f"s{n}": list(range(50)) for n in range(9)}
    space = Space.of(
        nuisance=switches | {"x": Float(0.0, 1.0)}, when={"x": dict.fromkeys(switches, 1)}
    )
    with pytest.raises(StudyError, match="the grid of the setting all has more than 1000000"):
        GRID.count(study_of(space), ALL)


@pytest.mark.parametrize("index", [-1, 3, 100])
def test_an_index_beyond_the_grid(index: int) -> None:
    study = study_of(Space.of(nuisance={"a": Int(1, 3)}))
    with pytest.raises(StudyError) as caught:
        GRID.propose(study, ALL, index, no_results)
    assert str(caught.value) == (
        f"the grid of the setting all has 3 configurations, so there is none with the index {index}"
    )
