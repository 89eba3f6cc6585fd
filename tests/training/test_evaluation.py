"""Evaluation: the exact mean for every batch size, counts of classes, samples and predictions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from problems_in_torch import Clouds, clouds
from runs import MemoryRun
from tunebook.core.errors import TunebookError
from tunebook.core.space import Config
from tunebook.files import atomic
from tunebook.training import checkpoints
from tunebook.training.data import TensorExamples
from tunebook.training.evaluation import (
    evaluate,
    evaluate_on_test,
    predict,
    sample,
    save_predictions,
    skew,
)
from tunebook.training.loop import train
from tunebook.training.task import Data, classification_measures

TASK = Clouds()
MODEL = TASK.build({})


@given(st.integers(1, 60), st.integers(1, 70))
def test_the_mean_is_exact_for_every_batch_size(count: int, batch_size: int) -> None:
    examples = clouds(count, seed=5)
    logits = MODEL(examples.inputs)
    wrong = (logits.argmax(1) != examples.targets).double().mean().item()
    loss = torch.nn.functional.cross_entropy(logits, examples.targets).item()
    found = evaluate(MODEL, TASK, examples, batch_size)
    assert found.values["error"] == pytest.approx(wrong, abs=1e-12)
    assert found.values["loss"] == pytest.approx(loss, rel=1e-5)
    assert found.weights["error"] == count


def test_sums_over_many_batches_lose_no_digits() -> None:
    class Counting(Clouds):
        """Sums of batches that a float32 cannot add up: above 2**24 it knows even numbers only."""

        def measures(self, outputs, batch):
            return {"odd": (torch.tensor(2.0**24 + 2), torch.tensor(3.0))}

    found = evaluate(MODEL, Counting(), clouds(3, 1), 1)
    assert found.values["odd"] == (2.0**24 + 2) / 3
    assert found.weights["odd"] == 9


def test_classes_are_counted_and_absent_ones_left_out() -> None:
    examples = TensorExamples(torch.randn(5, 6), torch.tensor([0, 0, 2, 2, 2]))
    found = evaluate(MODEL, TASK, examples, 4)
    assert found.weights["error/class_0"] == 2
    assert found.weights["error/class_2"] == 3
    assert "error/class_1" not in found.values


def test_evaluation_leaves_the_model_as_it_was() -> None:
    model = TASK.build({"dropout": 0.5, "norm": True}).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    one = evaluate(model, TASK, clouds(20, 1), 8)
    assert model.training
    assert one == evaluate(model, TASK, clouds(20, 1), 8)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_model_in_evaluation_mode_stays_there_even_after_an_error() -> None:
    class Broken(Clouds):
        def measures(self, outputs, batch):
            raise RuntimeError("no")

    model = TASK.build({}).train()
    with pytest.raises(RuntimeError):
        evaluate(model, Broken(), clouds(4, 1), 2)
    assert model.training


def test_predictions_are_those_of_the_examples(tmp_path: Path) -> None:
    examples = clouds(10, 3)
    chosen = sample(examples, 4, seed=0)
    found = predict(MODEL, chosen, 3, torch.device("cpu"))
    save_predictions(tmp_path, 70, found)
    folder = tmp_path / "predictions-70"
    assert atomic.flaw(folder) is None
    with safe_open(folder / "predictions.safetensors", "pt") as kept:
        assert kept.metadata() == {"step": "70"}
        assert torch.equal(kept.get_tensor("indices"), chosen.indices)
        assert torch.equal(kept.get_tensor("targets"), examples.targets[chosen.indices])
        expected = MODEL.eval()(examples.inputs[chosen.indices])
        torch.testing.assert_close(kept.get_tensor("outputs"), expected)


class Untouched:
    """Test examples that nobody may look at."""

    def __len__(self) -> int:
        raise AssertionError("somebody has looked")

    take = __len__


class Divided(Clouds):
    """A task that divides its data at random: the last of them are for the test."""

    def __init__(self, untouched: bool = False) -> None:
        super().__init__()
        self.untouched = untouched
        self.sums: list[float] = []

    def data(self, params: Config) -> Data:
        both = clouds(240, 1)
        order = torch.randperm(240)
        train, test = (TensorExamples(*both.take(part)) for part in (order[:200], order[200:]))
        self.sums.append(test.inputs.sum().item())
        unseen = Untouched() if self.untouched else test
        return Data(train, clouds(37, 2), test=unseen)  # type: ignore[arg-type]


@pytest.mark.parametrize("split", [None, 4])
def test_test_examples_are_looked_at_once_at_the_end(split: int | None, tmp_path: Path) -> None:
    params = {"learning_rate": 0.05, "batch_size": 16, "width": 8, "seed_split": split}
    run = MemoryRun(tmp_path, params, 60, seed=3)
    tuned, final = Divided(untouched=True), Divided()
    train(tuned, run)
    ((_, _, kept),) = checkpoints.best_of(run.folder)
    found = evaluate_on_test(final, params, kept)
    # The same division of the data: nothing of the test has been seen in training.
    assert final.sums == tuned.sums
    assert found.weights["error"] == 40
    assert found.values["error"] < 0.45 < Clouds.facts.chance
    with pytest.raises(TunebookError, match=r"no test examples; .* Data\(test="):
        evaluate_on_test(TASK, params, kept)


def test_a_sample_is_fixed_by_its_seed_and_has_no_doubles() -> None:
    examples = clouds(50, 3)
    one, again, other = sample(examples, 20, 0), sample(examples, 20, 0), sample(examples, 20, 1)
    assert torch.equal(one.indices, again.indices)
    assert not torch.equal(one.indices, other.indices)
    assert len(set(one.indices.tolist())) == 20 == len(one)
    assert len(sample(examples, 500, 0)) == 50


def test_skew_is_the_distance_from_the_whole() -> None:
    assert skew({"error": 0.5, "new": 1.0}, {"error": 0.25}) == {"error": 0.25}
    whole = evaluate(MODEL, TASK, clouds(40, 2), 16).values
    every = evaluate(MODEL, TASK, sample(clouds(40, 2), 40, 0), 16).values
    assert skew(every, whole)["error"] == pytest.approx(0, abs=1e-12)


def test_padding_weighs_nothing_in_the_measures() -> None:
    from tunebook.training.data import evaluation_batches

    examples = clouds(3, 1)
    (batch,) = evaluation_batches(examples, 8)
    pairs = classification_measures(MODEL(batch.inputs), batch)
    assert pairs["error"][1].item() == 3
    assert sum(pairs[f"error/class_{k}"][1].item() for k in range(3)) == 3
