"""Predict the next character of a text with a small transformer."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn

from tunebook.core.domains import Value
from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.training.data import Batch
from tunebook.training.task import Data, Facts, Pair, weighted
from tunebook.training.tasks.corpus import corpus
from tunebook.training.tasks.params import rate, size, switch, text
from tunebook.training.tasks.transformer import Transformer

VALID_SHARE = 0.1
# Stands for every character that the training text does not have.
UNKNOWN = "\ufffd"
# The target after the end of a text; it weighs nothing.
PADDING = -100


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Characters and their codes: the position among those of a text, with the unknown at 0.

    >>> alphabet = Alphabet.of("banana")
    >>> alphabet.encode("bandana").tolist(), alphabet.decode(alphabet.encode("nab"))
    ([2, 1, 3, 0, 1, 3, 1], 'nab')
    """

    characters: str

    @staticmethod
    def of(text: str) -> Alphabet:
        return Alphabet(UNKNOWN + "".join(sorted(set(text) - {UNKNOWN})))

    def __len__(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> Tensor:
        """The code of each character, `(len(text),)`."""
        known = {ord(character): code for code, character in enumerate(self.characters)}
        points, places = np.unique(_points(text), return_inverse=True)
        codes = np.array([known.get(point, 0) for point in points.tolist()], dtype=np.int32)
        return torch.from_numpy(codes[places])

    def decode(self, codes: Tensor) -> str:
        return "".join(self.characters[code] for code in codes.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """A text in pieces of `context` characters; each character but the first is a target once.

    The last piece is filled up, with `PADDING` as its targets.
    """

    codes: Tensor
    context: int

    def __len__(self) -> int:
        return math.ceil((len(self.codes) - 1) / self.context)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets, both `(n, context)`."""
        places = indices.unsqueeze(1) * self.context + torch.arange(self.context)
        inside = places < len(self.codes) - 1
        places = torch.where(inside, places, 0)
        inputs, targets = self.codes[places].long(), self.codes[places + 1].long()
        return torch.where(inside, inputs, 0), torch.where(inside, targets, PADDING)


class Characters:
    """Predict each character from those before it; the last tenth of the text validates.

    text      a file in UTF-8; else the documentation strings of the standard library
    context   how many characters the model sees: 64
    width     of the vector of each character: 64
    depth     blocks: 2
    heads     of attention, of which the width is a multiple: 4
    dropout   0
    tied      whether the characters' vectors also weigh the outputs: true

    The metric is the loss in nats for each character. Its chance level is the entropy of single
    characters in the validation text: what their frequencies alone achieve. It and the result
    belong to the standard library's text, which changes a little with the version of Python. The
    defaults put 50 steps of warmup in front, without which the loss ends near 1.9.
    """

    facts = Facts(Metric("valid/loss", "lower"), chance=3.29, reached=1.72, steps=1000)
    defaults: Config = MappingProxyType[str, Value](
        {
            "context": 64,
            "width": 64,
            "depth": 2,
            "heads": 4,
            "dropout": 0.0,
            "tied": True,
            "optimizer": "adamw",
            "learning_rate": 0.01,
            "beta2": 0.99,
            "weight_decay": 0.1,
            "clip_norm": 1.0,
            "batch_size": 32,
            "eval_batch_size": 256,
            "schedule": "cosine",
            "warmup_steps": 50,
        }
    )

    def prepare(self) -> None:
        # A Python without sources can still learn from a file, which a configuration names.
        with contextlib.suppress(ProgramError):
            encoded(None)

    def data(self, params: Config) -> Data:
        context = size(params, "context", 64)
        found = encoded(text(params, "text"))
        if len(found.valid) <= context:
            raise StudyError(
                f"the text leaves {len(found.valid)} characters to validate on, too few for a "
                f"context of {context}: name a longer text or lower the context",
                parameter="context",
            )
        return Data(Windows(found.train, context), Windows(found.valid, context))

    def build(self, params: Config) -> nn.Module:
        return Transformer(
            symbols=len(encoded(text(params, "text")).alphabet),
            context=size(params, "context", 64),
            width=size(params, "width", 64),
            depth=size(params, "depth", 2),
            heads=size(params, "heads", 4),
            dropout=rate(params, "dropout"),
            tied=switch(params, "tied", True),
        )

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        real = (batch.targets != PADDING).sum(1)
        return _token_losses(outputs, batch.targets).sum(1) / real

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        weights = batch.weights.unsqueeze(1) * (batch.targets != PADDING)
        wrong = (outputs.argmax(-1) != batch.targets).float()
        return {
            "loss": weighted(_token_losses(outputs, batch.targets), weights),
            "error": weighted(wrong, weights),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The two parts of a text as codes of the characters that the first part has."""

    alphabet: Alphabet
    train: Tensor
    valid: Tensor


@functools.cache
def encoded(path: str | None) -> Encoded:
    """The text of a file, or of the standard library, split by position."""
    full = corpus(path)
    split = round(len(full) * (1 - VALID_SHARE))
    alphabet = Alphabet.of(full[:split])
    return Encoded(alphabet, alphabet.encode(full[:split]), alphabet.encode(full[split:]))


def unigram_entropy(codes: Tensor) -> float:
    """The entropy of single symbols in nats: the loss of knowing their frequencies and no more.

    >>> round(unigram_entropy(torch.tensor([0, 1, 0, 1])), 4)
    0.6931
    """
    counts = codes.bincount()
    shares = counts[counts > 0].double() / len(codes)
    return float(-(shares * shares.log()).sum())


def _token_losses(outputs: Tensor, targets: Tensor) -> Tensor:
    """The cross entropy at each place, `(n, context)`; padding has none."""
    return nn.functional.cross_entropy(
        outputs.float().transpose(1, 2), targets, ignore_index=PADDING, reduction="none"
    )


def _points(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


characters = Characters()
