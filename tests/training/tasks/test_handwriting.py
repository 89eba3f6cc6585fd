"""Digits: the data of the package, split by position."""

from __future__ import annotations

import hashlib
import sys

import pytest
from torch.nn.utils import parameters_to_vector

from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.space import Config
from tunebook.training.tasks import digits
from tunebook.training.tasks.handwriting import examples


def test_the_data_are_the_same_in_every_process() -> None:
    train, valid = examples()
    assert (train.inputs.shape, valid.inputs.shape) == ((1297, 64), (500, 64))
    digest = hashlib.sha256()
    for part in (train, valid):
        digest.update(part.inputs.numpy().tobytes())
        digest.update(part.targets.numpy().tobytes())
    assert digest.hexdigest() == "19cfc0d5d673ff9bb38ecc645133a98a412e36927d69de97593df5d2a93cb60e"


def test_pixels_lie_between_minus_one_and_one() -> None:
    train, valid = examples()
    for part in (train, valid):
        assert (part.inputs.min().item(), part.inputs.max().item()) == (-1, 1)


def test_all_classes_are_about_equally_frequent_in_validation() -> None:
    _, valid = examples()
    assert valid.targets.bincount().tolist() == pytest.approx([50] * 10, abs=5)


def test_without_the_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(
        ProgramError, match=r"needs scikit-learn .*: pip install 'tunebook\[tasks\]'"
    ):
        examples.__wrapped__()


@pytest.mark.parametrize(
    "params",
    [{}, {"norm": "batch", "dropout": 0.2}, {"depth": 1, "width": 16, "label_smoothing": 0.1}],
)
def test_every_option_learns(params: Config, few_steps) -> None:
    losses = few_steps(digits, params)
    assert losses[-1] < 0.9 * losses[0]


def test_sizes() -> None:
    weights = 64 * 32 + 32 + 32 * 32 + 32 + 32 * 10 + 10
    assert parameters_to_vector(digits.build({"width": 32}).parameters()).numel() == weights


def test_hostile_parameters() -> None:
    with pytest.raises(StudyError, match="depth must be a whole number of at least 1, got 0"):
        digits.build({"depth": 0})
