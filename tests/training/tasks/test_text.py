"""Characters: codes and back, windows over a text, and losses that count each character once."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.space import Config
from tunebook.training.data import Batch
from tunebook.training.evaluation import evaluate
from tunebook.training.tasks import characters, corpus, text
from tunebook.training.tasks.text import (
    PADDING,
    UNKNOWN,
    Alphabet,
    Windows,
    encoded,
    unigram_entropy,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A text of 3,000 characters, of which the last 300 have a new one."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("abracadabra, " * 207 + "ab" * 4 + "ax" + "abracadabra, " * 23, "utf-8")
    return str(path)


@given(st.text())
def test_codes_and_back(text: str) -> None:
    alphabet = Alphabet.of(text)
    codes = alphabet.encode(text)
    assert codes.shape == (len(text),)
    assert alphabet.decode(codes) == text


@given(st.text(), st.text())
def test_foreign_characters_become_the_unknown(text: str, other: str) -> None:
    alphabet = Alphabet.of(text)
    expected = "".join(c if c in text else UNKNOWN for c in other)
    assert alphabet.decode(alphabet.encode(other)) == expected


def test_lone_surrogates_are_characters_too() -> None:
    assert Alphabet.of("a\ud800").encode("\ud800a").tolist() == [2, 1]


@given(st.integers(2, 200), st.integers(1, 40), st.data())
def test_each_character_but_the_first_is_a_target_once(
    length: int, context: int, data: st.DataObject
) -> None:
    codes = torch.arange(1, length + 1, dtype=torch.int32)
    windows = Windows(codes, context)
    order = data.draw(st.permutations(range(len(windows))))
    inputs, targets = windows.take(torch.tensor(order))
    assert inputs.shape == targets.shape == (len(windows), context)
    real = targets != PADDING
    assert sorted(targets[real].tolist()) == codes[1:].tolist()
    assert torch.equal(inputs[real] + 1, targets[real])
    assert (inputs[~real] == 0).all()
    assert real.any(1).all()


def test_the_last_window_is_filled_up() -> None:
    windows = Windows(torch.tensor([5, 6, 7, 8, 9]), context=3)
    inputs, targets = windows.take(torch.tensor([1, 0]))
    assert inputs.tolist() == [[8, 0, 0], [5, 6, 7]]
    assert targets.tolist() == [[9, PADDING, PADDING], [6, 7, 8]]


def test_the_text_is_split_by_position(file: str) -> None:
    found = encoded(file)
    assert (len(found.train), len(found.valid)) == (2700, 300)
    whole = Path(file).read_text("utf-8")
    assert found.alphabet.decode(found.train) == whole[:2700]
    assert found.alphabet.decode(found.valid) == whole[2700:].replace("x", UNKNOWN)
    assert "x" not in found.alphabet.characters


class Bigrams(nn.Module):
    """Logits that depend on the present symbol alone."""

    def __init__(self, symbols: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(symbols, symbols))

    def forward(self, symbols: torch.Tensor) -> torch.Tensor:
        return self.table[symbols]


@pytest.mark.parametrize(("context", "batch_size"), [(1, 64), (7, 4), (64, 3), (299, 1), (250, 8)])
def test_padding_weighs_nothing(file: str, context: int, batch_size: int) -> None:
    """Padded windows, and examples that fill up the last batch, leave the exact means alone."""
    torch.manual_seed(0)
    found = encoded(file)
    model = Bigrams(len(found.alphabet))
    measured = evaluate(model, characters, Windows(found.valid, context), batch_size)
    logits, targets = model(found.valid[:-1].long()), found.valid[1:].long()
    assert measured.values["loss"] == pytest.approx(
        nn.functional.cross_entropy(logits, targets).item(), rel=1e-5
    )
    assert measured.values["error"] == pytest.approx(
        (logits.argmax(-1) != targets).double().mean().item()
    )
    assert measured.weights == {"loss": 299, "error": 299}


def test_the_loss_of_an_example_is_the_mean_over_its_own_characters() -> None:
    outputs = torch.randn(2, 3, 5)
    targets = torch.tensor([[1, 2, 3], [4, PADDING, PADDING]])
    batch = Batch(torch.zeros(2, 3, dtype=torch.long), targets, torch.ones(2))
    losses = characters.losses(outputs, batch, {})
    expected = [
        nn.functional.cross_entropy(outputs[0], targets[0]),
        nn.functional.cross_entropy(outputs[1, :1], targets[1, :1]),
    ]
    torch.testing.assert_close(losses, torch.stack(expected))


def test_a_python_without_sources_can_still_learn_from_a_file(
    file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(text, "encoded", encoded.__wrapped__)
    monkeypatch.setattr(text, "corpus", corpus.corpus.__wrapped__)
    characters.prepare()
    assert len(characters.data({"text": file}).train) > 0
    with pytest.raises(ProgramError, match="no sources of Python's standard library"):
        characters.data({})


def test_entropy_of_single_characters() -> None:
    assert unigram_entropy(torch.zeros(9, dtype=torch.int32)) == 0
    assert unigram_entropy(torch.arange(8, dtype=torch.int32)) == pytest.approx(math.log(8))


def test_the_stated_chance_level_is_the_entropy_of_the_bundled_text() -> None:
    assert characters.facts.chance == pytest.approx(unigram_entropy(encoded(None).valid), abs=0.1)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"tied": False, "dropout": 0.1},
        {"width": 16, "depth": 1, "heads": 1, "context": 16},
    ],
)
def test_every_option_learns(file: str, params: Config, few_steps) -> None:
    params = {"text": file, "context": 32, **params}
    losses = few_steps(characters, params)
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"context": 300}, "the text leaves 300 characters to validate on, too few for a context"),
        ({"context": 0}, "context must be a whole number of at least 1, got 0"),
        ({"text": 3}, "text must be a text, got 3"),
        ({"text": "/nowhere.txt"}, "the text cannot be read from /nowhere.txt"),
    ],
)
def test_hostile_data(file: str, params: Config, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        characters.data({"text": file, **params})


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"heads": 5}, "width must be a multiple of heads, got width 64 and 5 heads"),
        ({"tied": "yes"}, "tied must be true or false, got 'yes'"),
        ({"dropout": -1}, "dropout must be a number from 0 up to 1"),
    ],
)
def test_hostile_models(file: str, params: Config, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        characters.build({"text": file, **params})
