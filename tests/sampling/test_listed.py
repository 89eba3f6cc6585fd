"""Listed configurations: which settings get them, and what is refused."""

from __future__ import annotations

import pytest

from contracts.sampler_contract import no_results
from searchable import study_in
from tunebook.core.domains import Float, Value
from tunebook.core.errors import StudyError
from tunebook.core.space import Setting, Space
from tunebook.core.study import Sampling, Study
from tunebook.core.trials import Listed
from tunebook.sampling.listed import ListSampler

SPACE = Space.of(
    scientific={"blocks": [2, 3]},
    nuisance={"lr": Float(0.0, 1.0), "dropout": Float(0.0, 0.5)},
    fixed={"width": 8},
    when={"dropout": {"blocks": 3}},
)
TWO, THREE = SPACE.settings()
SAMPLER = ListSampler()


def study_of(*configs: dict[str, Value]) -> Study:
    listed = tuple(tuple(config.items()) for config in configs)
    return study_in(SPACE, sampling=Sampling("list", configs=listed), baseline=(("depth", 5),))


def configs(study: Study, setting: Setting) -> list[dict[str, Value]]:
    count = SAMPLER.count(study, setting)
    return [dict(SAMPLER.propose(study, setting, i, no_results).config) for i in range(count)]


def test_a_setting_leaves_out_what_it_does_not_search() -> None:
    study = study_of({"lr": 0.1, "dropout": 0.2}, {"lr": 0.3, "dropout": 0.0})
    common = {"width": 8, "depth": 5}
    assert configs(study, TWO) == [
        {"blocks": 2, "lr": 0.1, **common},
        {"blocks": 2, "lr": 0.3, **common},
    ]
    assert configs(study, THREE) == [
        {"blocks": 3, "lr": 0.1, "dropout": 0.2, **common},
        {"blocks": 3, "lr": 0.3, "dropout": 0.0, **common},
    ]
    assert SAMPLER.propose(study, TWO, 1, no_results).origin == Listed(1)


def test_a_configuration_may_be_meant_for_some_settings() -> None:
    study = study_of({"lr": 0.1, "blocks": 2}, {"lr": 0.2, "dropout": 0.1, "blocks": 3.0})
    assert [config["lr"] for config in configs(study, TWO)] == [0.1]
    assert [config["lr"] for config in configs(study, THREE)] == [0.2]


def test_a_setting_may_get_none() -> None:
    study = study_of({"lr": 0.1, "blocks": 2})
    assert SAMPLER.count(study, THREE) == 0


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"learn": 0.1},
            "the listed configuration {'learn': 0.1} names 'learn', which is not searched",
        ),
        (
            {"lr": 0.1, "dropot": 0.1},
            "the listed configuration {'lr': 0.1, 'dropot': 0.1} names 'dropot', "
            "which is not searched; did you mean 'dropout'?",
        ),
        (
            {"lr": 0.1, "width": 9},
            "the listed configuration {'lr': 0.1, 'width': 9} names 'width', which is not searched",
        ),
        (
            {"lr": 0.1, "blocks": 4},
            "the listed configuration {'lr': 0.1, 'blocks': 4} belongs to no setting; "
            "the settings are blocks=2; blocks=3",
        ),
        ({"lr": 2.0, "dropout": 0.1}, "lr: 2.0 does not lie in 0 to 1"),
        ({"lr": 0.1}, "a configuration for the setting blocks=3 lacks 'dropout'"),
    ],
)
def test_what_is_refused_and_how_it_is_said(config: dict[str, Value], text: str) -> None:
    with pytest.raises(StudyError) as caught:
        configs(study_of(config), THREE)
    assert str(caught.value) == text


@pytest.mark.parametrize("index", [-1, 1])
def test_an_index_beyond_the_list(index: int) -> None:
    with pytest.raises(StudyError) as caught:
        SAMPLER.propose(study_of({"lr": 0.1}), TWO, index, no_results)
    assert str(caught.value) == (
        "1 configurations are listed for the setting blocks=2, "
        f"so there is none with the index {index}"
    )
