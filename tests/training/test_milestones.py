"""Milestones: what is saved and when a run leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from problems_in_torch import Clouds
from runs import MemoryRun
from tunebook.files import atomic
from tunebook.training import checkpoints, milestones
from tunebook.training.averaging import Average
from tunebook.training.checkpoints import State
from tunebook.training.distribution import ALONE, World
from tunebook.training.milestones import Job
from tunebook.training.optimisers import torch_optimiser
from tunebook.training.recipe import Recipe


def job(folder: Path, world: World = ALONE, **params) -> Job:
    run = MemoryRun(folder, {"learning_rate": 0.1, **params}, 20)
    recipe = Recipe.of(run.params, run.budget)
    return Job(Clouds(), run, world, recipe, Clouds().data({}))


def state() -> State:
    model = Clouds().build({})
    made = torch_optimiser("sgd", model.parameters(), {"learning_rate": 0.1})
    return State(model, made, None, step=7)


def test_the_average_is_what_is_evaluated_and_kept(tmp_path: Path) -> None:
    averaged, plain = state(), state()
    averaged.average = Average(averaged.model, 0.5)
    for value in averaged.average.values:
        value.zero_()
    here, there = job(tmp_path / "a"), job(tmp_path / "b")
    milestones.look(here, averaged, last=False)
    milestones.look(there, plain, last=False)
    # With all weights zero every class is equally likely.
    loss = here.run.rows[0][1]["valid/loss"]  # type: ignore[attr-defined]
    assert loss == pytest.approx(torch.log(torch.tensor(3.0)).item())
    assert loss != there.run.rows[0][1]["valid/loss"]  # type: ignore[attr-defined]
    assert any(p.abs().sum() > 0 for p in averaged.model.parameters())


def test_weights_are_copied_only_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[int] = []
    real = checkpoints.model_tensors

    def counting(found: State, world: World) -> dict[str, torch.Tensor]:
        copied.append(found.step)
        return real(found, world)

    monkeypatch.setattr(checkpoints, "model_tensors", counting)
    here, same = job(tmp_path), state()
    milestones.look(here, same, last=False)
    # No better than the first, which is kept.
    same.step += 1
    milestones.look(here, same, last=True)
    assert copied == [7]


def test_kept_weights_are_read_when_a_run_begins_and_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, found = job(tmp_path, keep_best=3), state()
    milestones.look(here, found, last=False)
    (here.run.folder / "best-7" / "model.safetensors").write_bytes(b"")
    milestones.resume(here, found)
    assert not (here.run.folder / "best-7").exists()
    read: list[Path] = []
    monkeypatch.setattr(atomic, "flaw", lambda folder: read.append(folder))
    for found.step in (8, 9, 10, 11):
        milestones.look(here, found, last=False)
    assert read == []
    assert {step for _, step, _ in checkpoints.best_of(here.run.folder)} == {8, 9, 10}


def test_a_saved_state_is_resumed(tmp_path: Path) -> None:
    here, before = job(tmp_path), state()
    milestones.save(here, before)
    after = state()
    after.step = 0
    milestones.resume(here, after)
    assert after.step == 7
    for one, other in zip(before.model.parameters(), after.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_rank_that_the_checkpoint_does_not_know_draws_from_a_stream_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = job(tmp_path)
    milestones.save(here, state())
    monkeypatch.setattr(World, "told", lambda self, value: here.run.resume())
    monkeypatch.setattr(World, "gathered", lambda self, value: [value] * self.size)
    drawn = []
    for rank in (1, 2, 1):
        milestones.resume(job(tmp_path, World(rank, size=3)), state())
        drawn.append(torch.rand(3).tolist())
    assert drawn[0] == drawn[2] != drawn[1]


def test_without_a_checkpoint_a_run_begins_at_the_beginning(tmp_path: Path) -> None:
    fresh = state()
    fresh.step = 0
    milestones.resume(job(tmp_path), fresh)
    assert fresh.step == 0


def test_a_process_alone_may_leave_after_any_step(tmp_path: Path) -> None:
    here = job(tmp_path)
    assert not milestones.asked_to_leave(here, 1)
    here.run.stop_at = 1  # type: ignore[attr-defined]
    here.run.log({"x": 1}, 1)
    assert milestones.asked_to_leave(here, 1)


def test_ranks_agree_to_leave_at_logging_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(World, "agree", lambda self, wish: asked.append(wish) or True)
    here = job(tmp_path, World(size=2), log_every=5)
    assert not milestones.asked_to_leave(here, 4)
    assert asked == []
    assert milestones.asked_to_leave(here, 5)
    assert asked == [False]
