"""Streams: one seed, the same numbers, and no stream that moves another."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.errors import UnknownName
from tunebook.core.hashing import derive_seed
from tunebook.training.randomness import FIXED, OWN, SHARED, Streams, seed_everything

STREAMS = FIXED + SHARED + OWN


@pytest.fixture(autouse=True)
def _undisturbed() -> Iterator[None]:
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])


def drawn() -> tuple[float, float, float]:
    """What the global generators give next."""
    return random.random(), float(np.random.random()), float(torch.rand(()))


def test_golden_seeds() -> None:
    """They may never change: runs of earlier versions are repeated by them."""
    found = {s: [Streams(7, rank).seed_of(s) for rank in (0, 1)] for s in STREAMS}
    assert found == {
        "split": [1481631126, 1481631126],
        "initialisation": [899813070, 899813070],
        "order": [522197378, 522197378],
        "dropout": [415094951, 1012113984],
        "augmentation": [1624868453, 1984051440],
        "elsewhere": [1639482479, 1643587060],
    }
    assert Streams(7).seed_of("order", 3) == 328107451


def test_the_documented_rule() -> None:
    assert Streams(7, rank=2).seed_of("order") == derive_seed(7, "order")
    assert Streams(7, rank=2).seed_of("split") == Streams(8).seed_of("split")
    assert Streams(7, rank=2).seed_of("dropout") == derive_seed(7, "dropout", "rank 2")


PARTS = {"init": {"initialisation"}, "data": {"order", "augmentation"}, "split": {"split"}}


@pytest.mark.parametrize("part", PARTS)
def test_the_seed_of_a_part_moves_that_part_alone(part: str) -> None:
    plain, own = Streams(7, 1), Streams(7, 1, **{part: 3})  # type: ignore[arg-type]
    moved = {stream for stream in STREAMS if plain.seed_of(stream) != own.seed_of(stream)}
    assert moved == PARTS[part]
    # Its own seed is all that it follows then.
    other = Streams(8, 1, **{part: 3})  # type: ignore[arg-type]
    assert all(own.seed_of(stream, 5) == other.seed_of(stream, 5) for stream in moved)


def test_the_seed_of_a_part_is_used_by_the_same_rule() -> None:
    assert Streams(7, init=3).seed_of("initialisation") == Streams(3).seed_of("initialisation")
    assert Streams(7, data=3).seed_of("order", 2) == Streams(3).seed_of("order", 2)
    assert Streams(7, 2, data=3).seed_of("augmentation") == Streams(3, 2).seed_of("augmentation")
    assert Streams(7, split=3).seed_of("split") == derive_seed(3, "split")


@given(st.integers(0, 2**31), st.integers(0, 1000), st.integers(0, 1000))
def test_replicas_begin_as_one_and_drop_out_apart(seed: int, one: int, other: int) -> None:
    for stream in FIXED + SHARED:
        assert Streams(seed, one).seed_of(stream) == Streams(seed, other).seed_of(stream)
    for stream in OWN:
        same = Streams(seed, one).seed_of(stream) == Streams(seed, other).seed_of(stream)
        assert same == (one == other)


@given(st.integers(0, 2**31), st.integers(0, 8))
def test_streams_and_their_parts_are_apart(seed: int, rank: int) -> None:
    streams = Streams(seed, rank)
    seeds = [streams.seed_of(s, *part) for s in STREAMS for part in ((), (0,), (1,), (0, 1))]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= found < 2**31 for found in seeds)


def test_the_same_seed_gives_the_same_numbers() -> None:
    seed_everything(5)
    first = drawn()
    seed_everything(5)
    assert drawn() == first
    seed_everything(6)
    assert all(a != b for a, b in zip(drawn(), first, strict=True))


def test_inside_a_stream_its_numbers_come_whatever_was_drawn_before() -> None:
    with Streams(5).seeded("initialisation"):
        first = drawn()
    drawn()
    with Streams(5, rank=3).seeded("initialisation"):
        assert drawn() == first
    with Streams(6).seeded("initialisation"):
        assert all(a != b for a, b in zip(drawn(), first, strict=True))


def test_after_a_stream_the_generators_go_on_as_before() -> None:
    seed_everything(0)
    expected = [drawn(), drawn()]
    seed_everything(0)
    found = [drawn()]
    with Streams(5).seeded("initialisation"):
        drawn()
    assert [*found, drawn()] == expected


def test_after_an_error_too() -> None:
    seed_everything(0)
    expected = drawn()
    seed_everything(0)
    with pytest.raises(ZeroDivisionError), Streams(5).seeded("initialisation"):
        drawn()
        raise ZeroDivisionError
    assert drawn() == expected


def test_a_gpu_in_use_goes_on_as_before_and_others_are_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forked: list[object] = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: forked.append(device))
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: forked.append(device))
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: None)
    with Streams(5).seeded("initialisation"):
        assert forked == [3]
    assert forked == [3, 3]


def test_an_unknown_stream_is_refused_before_anything_is_seeded() -> None:
    before = torch.get_rng_state()
    text = r"no stream is named 'drop'; did you mean 'dropout'\?; there are split, initialisation"
    with pytest.raises(UnknownName, match=text), Streams(0).seeded("drop"):
        raise AssertionError
    assert torch.equal(torch.get_rng_state(), before)
