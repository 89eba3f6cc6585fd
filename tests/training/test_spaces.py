"""Default spaces: what a budget can tune, and configurations that an optimiser accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.errors import StudyError
from tunebook.core.space import Setting, Space
from tunebook.training.optimisers import OPTIMISERS, completed
from tunebook.training.spaces import default_space

ADAM_LIKE = ("adam", "nadam", "adamw")


@pytest.mark.parametrize("optimiser", ADAM_LIKE)
@pytest.mark.parametrize(
    ("trials", "searched"),
    [
        (1, ["learning_rate"]),
        (9, ["learning_rate"]),
        (10, ["learning_rate", "one_minus_beta1"]),
        (24, ["learning_rate", "one_minus_beta1"]),
        (25, ["learning_rate", "one_minus_beta1", "epsilon"]),
        (99, ["learning_rate", "one_minus_beta1", "epsilon"]),
        (100, ["learning_rate", "one_minus_beta1", "epsilon", "one_minus_beta2"]),
    ],
)
def test_trials_decide_what_of_adam_is_tuned(
    optimiser: str, trials: int, searched: list[str]
) -> None:
    assert list(default_space(optimiser, trials).nuisance) == searched


@pytest.mark.parametrize(
    ("optimiser", "searched"),
    [
        ("sgd", ["learning_rate"]),
        ("momentum", ["learning_rate", "one_minus_momentum"]),
        ("nesterov", ["learning_rate", "one_minus_momentum"]),
        ("rmsprop", ["learning_rate", "one_minus_rho", "epsilon", "one_minus_momentum"]),
    ],
)
def test_every_other_optimiser_begins_with_its_rate(optimiser: str, searched: list[str]) -> None:
    assert list(default_space(optimiser, 9).nuisance) == ["learning_rate"]
    assert list(default_space(optimiser, 100).nuisance) == searched


@given(
    st.sampled_from(sorted(OPTIMISERS)),
    st.integers(1, 200),
    st.floats(0, 1) | st.sampled_from([0.0, 1.0]),
)
def test_every_point_is_a_configuration_that_the_optimiser_takes(
    optimiser: str, trials: int, unit: float
) -> None:
    found = default_space(optimiser, trials)
    space = Space.of(nuisance=found.nuisance, derive=found.derive)
    config = space.decode(Setting(), dict.fromkeys(found.nuisance, unit))
    own = {name: value for name, value in config.items() if not name.startswith("one_minus_")}
    hyper = completed(optimiser, own)
    for name in found.derive:
        assert hyper[name] == 1 - config[f"one_minus_{name}"]


@given(st.sampled_from(sorted(OPTIMISERS)), st.integers(1, 200), st.integers(1, 200))
def test_more_trials_tune_no_less(optimiser: str, one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    names = list(default_space(optimiser, more).nuisance)
    assert names[: len(default_space(optimiser, fewer).nuisance)] == list(
        default_space(optimiser, fewer).nuisance
    )


def test_no_range_can_be_expanded_to_a_negative_momentum() -> None:
    for optimiser in OPTIMISERS:
        for name, domain in default_space(optimiser, 200).nuisance.items():
            assert (getattr(domain, "limit", None) == "high") == name.startswith("one_minus_")


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(StudyError, match=r"no optimiser is named 'adm'; did you mean 'adam'\?"):
        default_space("adm", 30)
    with pytest.raises(StudyError, match="at least 1 trial for each setting, got 0"):
        default_space("adam", 0)
