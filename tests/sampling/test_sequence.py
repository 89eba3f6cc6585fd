"""Proposals along a sequence: paired, continued, and never moved by what does not concern them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contracts.sampler_contract import no_results
from searchable import spaces, study_in
from tunebook.core.domains import Float, Value
from tunebook.core.space import Parameter, Role, Setting, Space, conditions
from tunebook.core.study import Sampling, Study
from tunebook.sampling.halton import halton_unit
from tunebook.sampling.methods import sampler_for
from tunebook.sampling.sequence import SequenceSampler, random_unit

UNIT = Float(0.0, 1.0)
HALTON = SequenceSampler(halton_unit)
METHODS = ("halton", "sobol", "random")
SPACE = Space.of(
    scientific={"optimiser": ["adam", "sgd"]},
    nuisance={"lr": UNIT, "beta1": UNIT, "momentum": UNIT},
    when={"beta1": {"optimiser": "adam"}, "momentum": {"optimiser": "sgd"}},
)
ADAM, SGD = SPACE.settings()


def configs(study: Study, setting: Setting, count: int = 8) -> list[dict[str, Value]]:
    sampler = sampler_for(study)
    return [dict(sampler.propose(study, setting, i, no_results).config) for i in range(count)]


def test_golden_configurations() -> None:
    study = study_in(SPACE)
    assert configs(study, ADAM, 2) == [
        {"beta1": 0.603376327674, "lr": 0.0649797744838, "optimiser": "adam"},
        {"beta1": 0.936709661008, "lr": 0.564979774484, "optimiser": "adam"},
    ]
    assert configs(study, SGD, 1) == [
        {"lr": 0.0649797744838, "momentum": 0.703492391468, "optimiser": "sgd"}
    ]


@pytest.mark.parametrize("method", METHODS)
@given(space=spaces())
def test_settings_share_the_points_of_what_they_share(method: str, space: Space) -> None:
    study = study_in(space, sampling=Sampling(method))  # type: ignore[arg-type]
    sampled = {p.name for p in space if p.is_sampled}
    for index in range(4):
        seen: dict[str, Value] = {}
        for setting in space.settings():
            config = sampler_for(study).propose(study, setting, index, no_results).config
            for name in sampled & config.keys():
                # By their texts, since True is equal to 1.
                assert repr(seen.setdefault(name, config[name])) == repr(config[name])


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data(), space=spaces())
def test_a_parameter_of_one_setting_moves_no_other_setting(
    method: str, data: st.DataObject, space: Space
) -> None:
    arms = [p for p in space if p.makes_settings and not p.when]
    when = conditions({p.name: p.source.values[:1] for p in arms})  # type: ignore[union-attr]
    added = Parameter("added", Role.NUISANCE, UNIT, when)
    place = data.draw(st.integers(0, len(space.parameters)))
    larger = Space((*space.parameters[:place], added, *space.parameters[place:]))
    homes = [s for s in larger.settings() if added in larger.searched(s)]
    assume(len(homes) == 1 < len(larger.settings()))
    sampling = Sampling(method)  # type: ignore[arg-type]
    for setting in larger.settings():
        if setting not in homes:
            before = configs(study_in(space, sampling=sampling), setting, 3)
            assert configs(study_in(larger, sampling=sampling), setting, 3) == before


@pytest.mark.parametrize("method", METHODS)
def test_seeds_children_and_names_give_other_points(method: str) -> None:
    study = study_in(SPACE, sampling=Sampling(method))  # type: ignore[arg-type]
    child = study.child("next")
    others = [study, replace(study, seed=1), child, study.child("other"), child.child("next")]
    seen = [tuple(config["lr"] for config in configs(other, ADAM)) for other in others]
    assert len(set(seen)) == len(others)
    config = configs(study, ADAM)[0]
    assert config["lr"] != config["beta1"]
    # The name of the study itself does not matter, so that a copy repeats its points.
    assert configs(replace(study, name="copy"), ADAM) == configs(study, ADAM)


def test_exclusive_parameters_of_one_dimension_have_scrambles_of_their_own() -> None:
    study = study_in(SPACE)
    beta1 = [config["beta1"] for config in configs(study, ADAM)]
    momentum = [config["momentum"] for config in configs(study, SGD)]
    assert beta1 != momentum


def test_more_trials_for_a_setting_continue_its_sequence() -> None:
    study = study_in(SPACE, trials=5)
    assert HALTON.count(study, ADAM) == 5
    assert HALTON.count(replace(study, trials=9), ADAM) == 9
    assert configs(replace(study, trials=9), ADAM)[:5] == configs(study, ADAM)[:5]


def test_random_points_are_uniform() -> None:
    fifths = Counter(int(5 * random_unit(0, "lr", 0, index)) for index in range(5000))
    assert all(abs(fifths[fifth] - 1000) < 5 * 29 for fifth in range(5))
    assert random_unit(0, "lr", 0, 3) == random_unit(0, "lr", 9, 3)
