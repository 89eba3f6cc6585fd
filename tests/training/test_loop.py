"""The loop as a whole: what it logs, how it resumes, and that each option does something."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from problems_in_torch import Clouds
from runs import MemoryRun
from tunebook.core.errors import StudyError
from tunebook.training import meters
from tunebook.training.checkpoints import best_of
from tunebook.training.data import TensorExamples
from tunebook.training.distribution import ALONE
from tunebook.training.loop import fit, train
from tunebook.training.randomness import Streams
from tunebook.training.task import Data

PARAMS = {"learning_rate": 0.05, "optimizer": "adam", "batch_size": 16, "log_every": 5}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def trained(folder: Path, steps: int = 40, task: Clouds | None = None, **params) -> MemoryRun:
    run = MemoryRun(folder, {**PARAMS, **params}, steps)
    train(task or Clouds(), run)
    return run


def test_it_learns(tmp_path: Path) -> None:
    run = trained(tmp_path, 150)
    assert run.curve("valid/error").values[-1] < 0.35 < Clouds.facts.chance


def test_every_step_is_logged(tmp_path: Path) -> None:
    run = trained(tmp_path, 23, schedule="linear", eval_every=10)
    for name in ("train/loss", "learning_rate", "grad_norm"):
        assert run.curve(name).steps.tolist() == list(range(1, 24))
    assert run.curve("learning_rate").values[0] == 0.05
    assert run.curve("learning_rate").values[-1] < 0.05 / 20
    assert run.curve("examples_per_second").steps.tolist() == [5, 10, 15, 20, 23]
    assert (run.curve("data_wait_share").values <= 1).all()


class Clock:
    """A second for each training batch, a day for each of evaluation."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


def test_evaluations_and_checkpoints_count_in_no_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(meters, "time", clock)

    class Timed(Clouds):
        def losses(self, outputs, batch, params):
            clock.now += 1
            return super().losses(outputs, batch, params)

        def measures(self, outputs, batch):
            clock.now += 86400
            return super().measures(outputs, batch)

    class Slow(MemoryRun):
        def checkpoint(self, step):
            clock.now += 86400
            return super().checkpoint(step)

    points = {"eval_every": 4, "checkpoint_every": 6, "log_every": 5}
    run = Slow(tmp_path, {**PARAMS, **points}, 20)
    train(Timed(), run)
    speeds = run.curve("examples_per_second")
    assert set(speeds.values.tolist()) == {16.0}
    # Each evaluation begins when all steps before it are done and logged.
    assert {4, 8, 12, 16, 20} <= set(speeds.steps.tolist())
    order = [step for step, _ in run.rows]
    assert order == sorted(order)


def test_evaluations_come_at_step_intervals_and_at_the_end(tmp_path: Path) -> None:
    run = trained(tmp_path, 23, eval_every=10)
    assert run.curve("valid/error").steps.tolist() == [10, 20, 23]


def test_warmup_is_prepended(tmp_path: Path) -> None:
    run = trained(tmp_path, 10, warmup_steps=4)
    rates = run.curve("learning_rate").values
    assert len(rates) == 14
    np.testing.assert_allclose(rates[:5], [0.0125, 0.025, 0.0375, 0.05, 0.05])


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    options = {"dropout": 0.3, "norm": True}
    one = trained(tmp_path / "a", **options)
    two = trained(tmp_path / "b", **options)
    other = MemoryRun(tmp_path / "c", {**PARAMS, **options}, 40, seed=1)
    train(Clouds(), other)
    assert one.curve("train/loss") == two.curve("train/loss")
    assert one.curve("valid/loss") == two.curve("valid/loss")
    assert one.curve("train/loss") != other.curve("train/loss")


@pytest.mark.parametrize(("optimizer", "prefetch"), [("nesterov", 0), ("adamw", 2)])
def test_a_resumed_run_continues_bit_for_bit(optimizer: str, prefetch: int, tmp_path: Path) -> None:
    options = {
        "optimizer": optimizer,
        "prefetch": prefetch,
        "dropout": 0.2,
        "norm": True,
        "average": "ema",
        "schedule": "cosine",
        "clip_norm": 0.5,
        "checkpoint_every": 7,
        "seed_data": 5,
        "seed_init": 6,
    }
    task = Clouds(augment=True)
    whole = trained(tmp_path / "whole", 40, task, **options)
    parts = MemoryRun(tmp_path / "parts", {**PARAMS, **options}, 40)
    parts.stop_at = 15
    train(task, parts)
    assert parts.rows[-1][0] == 15
    parts.stop_at = None
    torch.manual_seed(99)  # a fresh process has another random state
    train(task, parts)
    for name in ("train/loss", "grad_norm", "valid/loss"):
        assert parts.curve(name) == whole.curve(name), name


def test_no_step_is_missing_when_a_run_leaves_between_logging_points(tmp_path: Path) -> None:
    class Asked(MemoryRun):
        """Asked to leave after some steps, whatever has been logged by then."""

        left = 13

        @property
        def should_stop(self) -> bool:
            self.left -= 1
            return self.left == 0

    run = Asked(tmp_path, PARAMS, 20)
    train(Clouds(), run)
    assert run.rows[-1][0] == 13
    train(Clouds(), run)
    for name in ("train/loss", "grad_norm"):
        assert run.curve(name).steps.tolist() == list(range(1, 21))


def test_a_split_at_random_is_the_same_in_every_trial(tmp_path: Path) -> None:
    class Splitting(Clouds):
        def __init__(self) -> None:
            super().__init__()
            self.orders: list[list[int]] = []

        def data(self, params):
            found = super().data(params)
            order = torch.randperm(len(found.train))
            self.orders.append(order.tolist())
            train, valid = (found.train.take(part) for part in (order[:150], order[150:]))
            return Data(TensorExamples(*train), TensorExamples(*valid))

    task = Splitting()
    runs = [MemoryRun(tmp_path / str(seed), PARAMS, 5, seed=seed) for seed in (0, 1)]
    for run in runs:
        torch.manual_seed(run.seed)
        train(task, run)
    assert task.orders[0] == task.orders[1] != sorted(task.orders[0])
    assert runs[0].curve("train/loss") != runs[1].curve("train/loss")
    for number, seed in enumerate((4, 4, 5)):
        train(task, MemoryRun(tmp_path / f"split {number}", {**PARAMS, "seed_split": seed}, 5))
    assert task.orders[2] == task.orders[3]
    assert task.orders[3] not in (task.orders[0], task.orders[4])


@pytest.mark.parametrize("part", ["seed_init", "seed_data"])
def test_one_source_of_chance_can_be_varied_alone(part: str, tmp_path: Path) -> None:
    def losses(seed: int, **seeds: int) -> np.ndarray:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        run = MemoryRun(folder, {**PARAMS, "norm": False, **seeds}, 5, seed)
        train(Clouds(), run)
        return run.curve("train/loss").values

    other = "seed_data" if part == "seed_init" else "seed_init"
    plain = losses(0)
    assert losses(0, **{part: 1})[-1] != plain[-1]
    # With both given, the run's own seed has nothing left to decide.
    assert (losses(0, **{part: 1, other: 2}) == losses(9, **{part: 1, other: 2})).all()
    assert losses(0, **{part: 1, other: 2})[-1] != losses(0, **{part: 3, other: 2})[-1]


def test_the_norm_is_logged_unclipped_and_the_share_clipped(tmp_path: Path) -> None:
    free = trained(tmp_path / "free", 10)
    clipped = trained(tmp_path / "clipped", 10, clip_norm=1e-3, eval_every=10, checkpoint_every=10)
    assert clipped.curve("grad_norm").values[0] == free.curve("grad_norm").values[0] > 1e-3
    assert clipped.curve("clipped_share").values.tolist() == [1.0, 1.0]
    assert "clipped_share" not in {name for _, row in free.rows for name in row}
    loose = trained(tmp_path / "loose", 10, clip_norm=1e3, eval_every=10, checkpoint_every=10)
    assert loose.curve("clipped_share").values.tolist() == [0.0, 0.0]
    assert loose.curve("train/loss") == free.curve("train/loss")


def test_clipping_bounds_the_update(tmp_path: Path) -> None:
    def moved(**params) -> float:
        run = MemoryRun(tmp_path / str(params), {**PARAMS, "optimizer": "sgd", **params}, 1)
        with Streams(0).seeded("initialisation"):
            before = parameters_to_vector(Clouds().build({}).parameters())
        after = parameters_to_vector(fit(Clouds(), run, ALONE).parameters())
        return (after - before).detach().norm().item()

    assert moved(clip_norm=0.1) == pytest.approx(0.05 * 0.1, rel=1e-3)
    assert moved() > 0.05 * 0.1


@pytest.mark.parametrize(
    "option",
    [
        {"average": "ema", "ema_decay": 0.5},
        {"average": "polyak"},
        {"weight_decay": 0.3},
        {"dropout": 0.5},
        {"precision": "bfloat16"},
        {"optimizer": "rmsprop"},
        {"schedule": "wsd"},
        {"norm": True},
    ],
    ids=str,
)
def test_each_option_changes_the_validation_loss(option, tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain")
    changed = trained(tmp_path / "changed", **option)
    assert plain.curve("valid/loss") != changed.curve("valid/loss")
    assert np.isfinite(changed.curve("valid/loss").values).all()


@pytest.mark.parametrize("option", [{"foreach": True}, {"fused": True}, {"prefetch": 2}], ids=str)
def test_options_of_speed_change_nothing_else(option, tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain").curve("train/loss").values
    quick = trained(tmp_path / "quick", **option).curve("train/loss").values
    np.testing.assert_allclose(quick, plain, rtol=1e-4)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_a_compiled_model_trains_as_well(tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain", dropout=0.2).curve("train/loss").values
    compiled = trained(tmp_path / "compiled", dropout=0.2, compile=True).curve("train/loss").values
    np.testing.assert_allclose(compiled, plain, rtol=1e-4)


def test_the_best_evaluations_and_predictions_are_kept(tmp_path: Path) -> None:
    run = trained(tmp_path, 40, keep_best=2, eval_every=10, saved_predictions=5)
    kept = sorted(best_of(run.folder))
    errors = sorted(run.curve("valid/error").values)
    assert [value for value, _, _ in kept] == pytest.approx(errors[:2])
    assert len(list(run.folder.glob("predictions-*"))) == 4


def test_the_last_evaluation_tells_how_many_examples_each_metric_rests_on(tmp_path: Path) -> None:
    run = trained(tmp_path, 20, eval_every=10)
    counts = {name: run.curve(f"valid/count/{name}") for name in ("loss", "error")}
    assert all(curve.steps.tolist() == [20] for curve in counts.values())
    targets = Clouds().data({}).valid.targets
    assert counts["error"].values.tolist() == [len(targets)]
    for number, count in enumerate(torch.bincount(targets).tolist()):
        assert run.curve(f"valid/count/error/class_{number}").values.tolist() == [count]
    learnt = run.curve("train/examples")
    assert (learnt.steps.tolist(), learnt.values.tolist()) == ([20], [len(Clouds().data({}).train)])


def test_samples_are_evaluated_with_their_skew(tmp_path: Path) -> None:
    run = trained(tmp_path, 20, valid_sample=10, train_sample=12, eval_every=10)
    last = dict(run.rows[-1][1])
    assert last["skew/error"] == pytest.approx(last["valid/error"] - last["whole/error"])
    assert len(run.curve("whole/error")) == 1
    assert len(run.curve("train_sample/error")) == 2


def test_augmentation_is_used_in_training_only(tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain", 1)
    noisy = trained(tmp_path / "noisy", 1, Clouds(augment=True))
    assert plain.curve("train/loss") != noisy.curve("train/loss")


def test_evaluation_batches_are_at_least_training_batches(tmp_path: Path) -> None:
    sizes = set()

    class Watching(Clouds):
        def measures(self, outputs, batch):
            sizes.add(len(batch.weights))
            return super().measures(outputs, batch)

    trained(tmp_path, 5, Watching(), eval_batch_size=4)
    assert sizes == {16}


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_evaluation_has_the_precision_of_training(precision: str, tmp_path: Path) -> None:
    formats = set()

    class Watching(Clouds):
        def measures(self, outputs, batch):
            formats.add(outputs.dtype)
            return super().measures(outputs, batch)

    trained(tmp_path, 5, Watching(), precision=precision)
    assert formats == {getattr(torch, precision)}


def test_mistakes_in_the_configuration_are_told(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="neither the loop nor the task reads widht"):
        trained(tmp_path / "a", 2, widht=3)
    with pytest.raises(StudyError, match="got 'adan'; did you mean 'adam'"):
        trained(tmp_path / "b", 2, optimizer="adan")


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda losses: losses[:, None] - torch.zeros(len(losses)), "(16, 16)"),
        (lambda losses: losses[:, None], "(16, 1)"),
        (lambda losses: losses.mean(), "()"),
    ],
)
def test_losses_of_another_shape_are_refused(change, shape: str, tmp_path: Path) -> None:
    class Shaped(Clouds):
        def losses(self, outputs, batch, params):
            return change(super().losses(outputs, batch, params))

    with pytest.raises(StudyError) as caught:
        trained(tmp_path, 2, Shaped())
    assert str(caught.value) == (
        f"the task's losses have the shape {shape} instead of (16,), one for each example. Often "
        "targets (n,) were subtracted from outputs (n, 1), which makes (n, n): squeeze the outputs "
        "first. Leave the mean over the batch to the loop, and take that over the parts of an "
        "example in `losses`"
    )


def test_sparse_gradients_are_refused(tmp_path: Path) -> None:
    class Embedding(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(2, 3, sparse=True)

        def forward(self, x):
            return self.table((x[:, 0] > 0).long())

    class Embedded(Clouds):
        def build(self, params):
            return Embedding()

    with pytest.raises(StudyError, match=r"the gradient of table\.weight is sparse"):
        trained(tmp_path, 2, Embedded(), optimizer="sgd")


READING = ("tolist", "item", "cpu", "numpy", "__float__", "__int__", "__bool__")


def test_no_value_leaves_the_device_between_logging_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    steps: list[int] = []

    class Watching(Clouds):
        def losses(self, outputs, batch, params):
            steps.append(len(steps) + 1)
            return super().losses(outputs, batch, params)

    def watched(function):
        def inner(self, *args, **kwargs):
            reads.append(len(steps))
            return function(self, *args, **kwargs)

        return inner

    for name in READING:
        monkeypatch.setattr(torch.Tensor, name, watched(getattr(torch.Tensor, name)))
    points = {"log_every": 10, "eval_every": 20, "checkpoint_every": 20}
    # (Adam counts its steps in a tensor on the CPU, which it may read at any time.)
    trained(tmp_path, 20, Watching(), optimizer="momentum", clip_norm=1.0, **points)
    monkeypatch.undo()
    assert set(reads) - {0} == {10, 20}
