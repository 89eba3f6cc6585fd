"""MNIST-1D: its data are the same everywhere, and every network for it learns."""

from __future__ import annotations

import hashlib
import itertools
import random
import sys

import numpy as np
import pytest
import torch

from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.space import Config
from tunebook.training.tasks import mnist1d
from tunebook.training.tasks.networks import NORMS
from tunebook.training.tasks.signals import examples

NETWORKS = [
    {"model": model, "norm": norm} for model, norm in itertools.product(("mlp", "cnn"), NORMS)
] + [
    {"model": "residual", "norm": norm, "norm_place": place}
    for norm, place in itertools.product(NORMS, ("inside", "outside"))
]


def test_the_data_are_the_same_in_every_process() -> None:
    train, valid = examples()
    assert (train.inputs.shape, valid.inputs.shape) == ((4000, 40), (1000, 40))
    digest = hashlib.sha256()
    for part in (train, valid):
        # Thousandths: the last bits may depend on the processor.
        digest.update((part.inputs.double() * 1000).round().to(torch.int32).numpy().tobytes())
        digest.update(part.targets.numpy().tobytes())
    assert digest.hexdigest() == "a43f226b47d86d1b3d7dd20275bf7e4a1ac49a45d67a8fdef3e7d52760b9dfa4"


def test_all_classes_are_about_equally_frequent() -> None:
    train, valid = examples()
    assert train.targets.bincount().tolist() == pytest.approx([400] * 10, abs=30)
    assert valid.targets.bincount().tolist() == pytest.approx([100] * 10, abs=30)


def test_making_the_data_leaves_the_global_generators_alone() -> None:
    random.seed(3)
    np.random.seed(3)
    expected = random.random(), np.random.random()
    random.seed(3)
    np.random.seed(3)
    examples.__wrapped__()
    assert (random.random(), np.random.random()) == expected


def test_without_the_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mnist1d.data", None)
    with pytest.raises(
        ProgramError, match=r"needs the package mnist1d .*: pip install 'tunebook\[tasks\]'"
    ):
        examples.__wrapped__()


@pytest.mark.parametrize("params", NETWORKS, ids=lambda params: "-".join(params.values()))
def test_every_network_learns(params: Config, few_steps) -> None:
    losses = few_steps(mnist1d, params)
    assert losses[-1] < 0.9 * losses[0]


def test_label_smoothing_raises_the_loss_that_is_trained_on(few_steps) -> None:
    plain, smoothed = (few_steps(mnist1d, {"label_smoothing": s}) for s in (0.0, 0.3))
    assert smoothed[-1] > plain[-1]
    with pytest.raises(StudyError, match="label_smoothing must be a number from 0 up to 1"):
        few_steps(mnist1d, {"label_smoothing": 1.5})
