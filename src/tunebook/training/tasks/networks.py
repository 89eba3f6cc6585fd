"""Small networks of the bundled tasks: plain, convolutional, residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from torch import Tensor, nn

from tunebook.core.errors import StudyError
from tunebook.core.space import Config
from tunebook.training.normalisation import GhostBatchNorm
from tunebook.training.regularisation import Dropout

Place: TypeAlias = Literal["inside", "outside"]
Norm: TypeAlias = Callable[[int], nn.Module]


def signal_network(params: Config, length: int, classes: int) -> nn.Module:
    """The network for signals of a length that a configuration describes."""
    model = params.get("model", "cnn")
    width = int(params.get("width", 0) or {"mlp": 100, "cnn": 24}.get(str(model), 64))
    dropout = float(params.get("dropout", 0.0) or 0.0)
    norm = norm_named(str(params.get("norm", "none")))
    match model:
        case "mlp":
            depth = int(params.get("depth", 2) or 2)
            return mlp(length, width, depth, classes, norm, dropout)
        case "cnn":
            return signal_cnn(length, width, classes, norm, dropout)
        case "residual":
            depth = int(params.get("depth", 4) or 4)
            place = str(params.get("norm_place", "inside"))
            return residual(length, width, depth, classes, norm, place, dropout)
    raise StudyError(f"model must be mlp, cnn or residual, got {model!r}")


def norm_named(name: str) -> Norm:
    """A normalisation of features, for `(n, features)` and `(n, features, length)`."""
    match name:
        case "none":
            return lambda features: nn.Identity()
        case "batch":
            # A ghost batch as large as any batch: ordinary batch norm.
            return lambda features: GhostBatchNorm(features, ghost=2**30)
        case "ghost":
            return GhostBatchNorm
        case "layer":
            # One group over all features is layer norm, with the features in second place.
            return lambda features: nn.GroupNorm(1, features)
    raise StudyError(f"norm must be none, batch, ghost or layer, got {name!r}")


def mlp(
    inputs: int, width: int, depth: int, classes: int, norm: Norm, dropout: float
) -> nn.Sequential:
    """`depth` hidden layers of one width."""
    layers: list[nn.Module] = []
    for before in [inputs, *[width] * (depth - 1)]:
        layers += [nn.Linear(before, width), norm(width), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(width, classes))


def signal_cnn(length: int, width: int, classes: int, norm: Norm, dropout: float) -> nn.Sequential:
    """Three strided convolutions over a signal."""
    layers: list[nn.Module] = [nn.Unflatten(1, (1, length))]
    for before, kernel in ((1, 5), (width, 3), (width, 3)):
        convolution = nn.Conv1d(before, width, kernel, stride=2, padding=1)
        layers += [convolution, norm(width), nn.ReLU()]
        length = (length + 2 - kernel) // 2 + 1
    return nn.Sequential(
        *layers, nn.Flatten(), Dropout(dropout), nn.Linear(width * length, classes)
    )


class ResidualBlock(nn.Module):
    """`x + f(norm(x))`, or with the norm outside the residual, `norm(x + f(x))`."""

    def __init__(self, width: int, norm: Norm, place: str, dropout: float) -> None:
        super().__init__()
        if place not in ("inside", "outside"):
            raise StudyError(f"norm_place must be inside or outside, got {place!r}")
        self.inside = place == "inside"
        self.norm = norm(width)
        self.body = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), Dropout(dropout), nn.Linear(width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        if self.inside:
            return x + self.body(self.norm(x))  # type: ignore[no-any-return]
        return self.norm(x + self.body(x))  # type: ignore[no-any-return]


def residual(
    inputs: int, width: int, depth: int, classes: int, norm: Norm, place: str, dropout: float
) -> nn.Sequential:
    """A residual network of `depth` blocks."""
    blocks = [ResidualBlock(width, norm, place, dropout) for _ in range(depth)]
    return nn.Sequential(nn.Linear(inputs, width), *blocks, nn.ReLU(), nn.Linear(width, classes))
