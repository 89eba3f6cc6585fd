"""What tasks are built from: measures as sums with weights, and label smoothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tunebook.training.data import Batch
from tunebook.training.task import classification_measures, smoothed_cross_entropy, weighted

CLASSES = 4


def batch(count: int, padding: int = 0, seed: int = 0) -> tuple[Tensor, Batch]:
    """Random logits and a batch whose last examples are padding."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(count, CLASSES, generator=generator)
    targets = torch.randint(CLASSES, (count,), generator=generator)
    return logits, Batch(logits, targets, (torch.arange(count) < count - padding).float())


def log_softmax(logits: Tensor) -> np.ndarray:
    numbers = logits.double().numpy()
    return numbers - np.log(np.exp(numbers).sum(1, keepdims=True))


def test_a_weighted_metric_is_a_sum_and_its_weight() -> None:
    total, weight = weighted(torch.tensor([1.0, 2.0, 5.0]), torch.tensor([1.0, 0.5, 0.0]))
    assert (total.item(), weight.item()) == (2.0, 1.5)


@given(st.integers(1, 40), st.integers(0, 5), st.integers(0, 99))
def test_classification_is_measured_over_all_examples_and_over_each_class(
    count: int, padding: int, seed: int
) -> None:
    logits, examples = batch(count + padding, padding, seed)
    real, targets = logits[:count].numpy(), examples.targets[:count].numpy()
    wrong = real.argmax(1) != targets
    losses = -log_softmax(logits[:count])[np.arange(count), targets]
    measured = classification_measures(logits, examples)
    found = {name: [part.item() for part in pair] for name, pair in measured.items()}
    assert found.pop("loss") == pytest.approx([losses.sum(), count], rel=1e-5)
    assert found.pop("error") == [wrong.sum(), count]
    for number in range(CLASSES):
        of_class = targets == number
        assert found.pop(f"error/class_{number}") == [wrong[of_class].sum(), of_class.sum()]
    assert not found


def test_counts_are_exact_under_autocast() -> None:
    logits, examples = batch(5000)
    plain = classification_measures(logits, examples)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = classification_measures(logits, examples)
    for name, pair in plain.items():
        assert [x.item() for x in found[name]] == [x.item() for x in pair]
    assert sum(plain[f"error/class_{number}"][1].item() for number in range(CLASSES)) == 5000


def test_half_precision_logits_are_measured_in_float32() -> None:
    logits, examples = batch(10)
    for pair in classification_measures(logits.bfloat16(), examples).values():
        assert {part.dtype for part in pair} == {torch.float32}
    assert smoothed_cross_entropy(logits.bfloat16(), examples.targets, 0.1).dtype == torch.float32


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5, 1.0])
def test_label_smoothing_spreads_a_share_over_all_classes(smoothing: float) -> None:
    logits, examples = batch(20)
    targets = np.eye(CLASSES)[examples.targets.numpy()]
    smooth = (1 - smoothing) * targets + smoothing / CLASSES
    found = smoothed_cross_entropy(logits, examples.targets, smoothing)
    assert found.shape == (20,)
    np.testing.assert_allclose(
        found.numpy(), -(smooth * log_softmax(logits)).sum(1), rtol=1e-5, atol=1e-6
    )
