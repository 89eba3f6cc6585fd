"""A decoder of characters: blocks of causal attention and an MLP, each normalised in front.

Radford et al., *Language models are unsupervised multitask learners*, 2019.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tunebook.core.errors import StudyError
from tunebook.training.regularisation import Dropout

# Of the vectors of symbols and places at the beginning. Smaller ones, such as 0.02, keep a small
# model from learning to attend for hundreds of steps.
_DEVIATION = 0.1


class Attention(nn.Module):
    """Each place of `(n, length, width)` gathers from itself and the places before it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.queries_keys_values(x).unflatten(-1, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        # Dropout stays outside: here it would draw from the global generator.
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class Block(nn.Module):
    """`x + attention(norm(x))`, then `x + mlp(norm(x))`."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.Sequential(
            nn.LayerNorm(width), Attention(width, heads), Dropout(dropout)
        )
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
            Dropout(dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(x)
        return x + self.mlp(x)  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """Symbols `(n, length)` to the logits of the symbol after each, `(n, length, symbols)`."""

    def __init__(
        self,
        *,
        symbols: int,
        context: int,
        width: int,
        depth: int,
        heads: int,
        dropout: float = 0.0,
        tied: bool = True,
    ) -> None:
        super().__init__()
        if width % heads:
            raise StudyError(
                f"width must be a multiple of heads, got width {width} and {heads} heads",
                parameter="width",
            )
        # The whole model holds them, since it uses them at both ends; sharded, it has them at hand.
        self.symbols = nn.Parameter(_DEVIATION * torch.randn(symbols, width))
        self.places = nn.Parameter(_DEVIATION * torch.randn(context, width))
        self.dropout = Dropout(dropout)
        self.blocks = nn.Sequential(*(Block(width, heads, dropout) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = None if tied else nn.Linear(width, symbols, bias=False)

    def forward(self, symbols: Tensor) -> Tensor:
        x = nn.functional.embedding(symbols, self.symbols) + self.places[: symbols.shape[1]]
        x = self.norm(self.blocks(self.dropout(x)))
        return nn.functional.linear(x, self.symbols) if self.head is None else self.head(x)
