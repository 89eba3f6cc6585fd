"""Small networks for signals, pixels and images: plain, convolutional, residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from torch import Tensor, nn

from tunebook.core.space import Config
from tunebook.training.normalisation import GhostBatchNorm
from tunebook.training.regularisation import Dropout
from tunebook.training.tasks.params import one_of, rate, size

# A normalisation of so many features, for `(n, features)` and `(n, features, ...)`.
Norm: TypeAlias = Callable[[int], nn.Module]
Place: TypeAlias = Literal["inside", "outside"]

NORMS: dict[str, Norm] = {
    "none": lambda features: nn.Identity(),
    # A ghost batch as large as any batch: ordinary batch norm.
    "batch": lambda features: GhostBatchNorm(features, ghost=2**30),
    "ghost": GhostBatchNorm,
    # One group over all features is layer norm, with the features in second place.
    "layer": lambda features: nn.GroupNorm(1, features),
}
PLACES: tuple[Place, ...] = ("inside", "outside")


def norm_of(params: Config) -> Norm:
    """The normalisation that a configuration names."""
    return NORMS[one_of(params, "norm", "none", tuple(NORMS))]


def signal_network(params: Config, length: int, classes: int) -> nn.Module:
    """The network for signals of a length that a configuration describes."""
    model = one_of(params, "model", "cnn", ("mlp", "cnn", "residual"))
    norm, dropout = norm_of(params), rate(params, "dropout")
    match model:
        case "mlp":
            width, depth = size(params, "width", 100), size(params, "depth", 2)
            return mlp(length, width, depth, classes, norm, dropout)
        case "cnn":
            return signal_cnn(length, size(params, "width", 24), classes, norm, dropout)
        case _:
            width, depth = size(params, "width", 64), size(params, "depth", 4)
            place = one_of(params, "norm_place", "inside", PLACES)
            return residual(length, width, depth, classes, norm, place, dropout)


def mlp(
    inputs: int, width: int, depth: int, classes: int, norm: Norm, dropout: float
) -> nn.Sequential:
    """`depth` hidden layers of one width: `(n, inputs)` to `(n, classes)`."""
    layers: list[nn.Module] = []
    for before in [inputs, *[width] * (depth - 1)]:
        layers += [nn.Linear(before, width), norm(width), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(width, classes))


def signal_cnn(length: int, width: int, classes: int, norm: Norm, dropout: float) -> nn.Sequential:
    """Three strided convolutions over a signal: `(n, length)` to `(n, classes)`."""
    layers: list[nn.Module] = [nn.Unflatten(1, (1, length))]
    for before, kernel in ((1, 5), (width, 3), (width, 3)):
        convolution = nn.Conv1d(before, width, kernel, stride=2, padding=1)
        layers += [convolution, norm(width), nn.ReLU()]
        length = (length + 2 - kernel) // 2 + 1
    return nn.Sequential(
        *layers, nn.Flatten(), Dropout(dropout), nn.Linear(width * length, classes)
    )


def image_cnn(side: int, width: int, classes: int, norm: Norm, dropout: float) -> nn.Sequential:
    """Two convolutions, each halved by pooling: `(n, 1, side, side)` to `(n, classes)`."""
    layers: list[nn.Module] = []
    for before, after in ((1, width), (width, 2 * width)):
        convolution = nn.Conv2d(before, after, 3, padding=1)
        layers += [convolution, norm(after), nn.ReLU(), nn.MaxPool2d(2)]
    features = 2 * width * (side // 4) ** 2
    return nn.Sequential(*layers, nn.Flatten(), Dropout(dropout), nn.Linear(features, classes))


class ResidualBlock(nn.Module):
    """`x + f(norm(x))`, or with the norm outside the residual, `norm(x + f(x))`."""

    def __init__(self, width: int, norm: Norm, place: Place, dropout: float) -> None:
        super().__init__()
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
    inputs: int, width: int, depth: int, classes: int, norm: Norm, place: Place, dropout: float
) -> nn.Sequential:
    """A residual network of `depth` blocks: `(n, inputs)` to `(n, classes)`."""
    blocks = [ResidualBlock(width, norm, place, dropout) for _ in range(depth)]
    return nn.Sequential(nn.Linear(inputs, width), *blocks, nn.ReLU(), nn.Linear(width, classes))
