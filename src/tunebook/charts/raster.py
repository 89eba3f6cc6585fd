"""A grid of characters to draw on: dots finer than characters, and characters over them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np

from tunebook.core.curves import Floats, Ints

# The bits of the dots of a braille character, by row and column.
_BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_PLAIN = np.array([[1], [2]])
_PLAIN_DOTS = " '.:"


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Rows of characters, each of 4 by 2 dots, or of 2 by 1 where only ASCII may be used."""

    dots: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    characters: np.ndarray[tuple[int, int], np.dtype[np.str_]]
    plain: bool

    @staticmethod
    def blank(rows: int, columns: int, plain: bool) -> Raster:
        high, wide = (2, 1) if plain else (4, 2)
        dots = np.zeros((rows * high, columns * wide), dtype=np.bool_)
        return Raster(dots, np.full((rows, columns), "", dtype="<U1"), plain)

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of characters."""
        rows, columns = self.characters.shape
        return rows, columns

    def dot(self, x: Floats, y: Floats) -> None:
        """Dots at places from 0 to 1, from the left and from the top; others are not drawn."""
        rows, columns = self.dots.shape
        inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
        self.dots[_cells(y[inside], rows), _cells(x[inside], columns)] = True

    def line(self, x: Floats, y: Floats) -> None:
        """Straight strokes from place to place; NaN breaks them."""
        rows, columns = self.dots.shape
        # Far enough outside that a stroke to infinity leaves the grid nearly upright.
        x, y = np.clip(x, -9, 10), np.clip(y, -9, 10)
        for i in range(len(x) - 1):
            long = max(abs(x[i + 1] - x[i]) * columns, abs(y[i + 1] - y[i]) * rows)
            if np.isfinite(long):
                share = np.linspace(0, 1, int(long) + 2)
                self.dot(x[i] + share * (x[i + 1] - x[i]), y[i] + share * (y[i + 1] - y[i]))
        self.dot(x, y)

    def put(self, x: Floats, y: Floats, character: str) -> None:
        """A character at each place, on the edge where the place is beyond it; NaN is left out."""
        rows, columns = self.characters.shape
        known = ~(np.isnan(x) | np.isnan(y))
        across, down = np.clip(x[known], 0, 1), np.clip(y[known], 0, 1)
        self.characters[_cells(down, rows), _cells(across, columns)] = character

    def is_empty(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Where there is neither a character nor a dot, by row and column of characters."""
        rows, columns = self.characters.shape
        blocks = self.dots.reshape(rows, -1, columns, self.dots.shape[1] // columns)
        return np.asarray((self.characters == "") & ~blocks.any(axis=(1, 3)))

    def write(self, row: int, column: int, text: str) -> None:
        """A text from a place to the right, as far as there is room."""
        room = self.characters.shape[1] - column
        for i, character in enumerate(text[: max(room, 0)]):
            if column + i >= 0 and columns_of(character) == 1:
                self.characters[row, column + i] = character

    def lines(self) -> list[str]:
        """The rows as texts, characters over dots."""
        rows, columns = self.characters.shape
        weights = _PLAIN if self.plain else _BRAILLE
        high, wide = weights.shape
        blocks = self.dots.reshape(rows, high, columns, wide)
        codes = np.einsum("rhcw,hw->rc", blocks, weights)
        return [
            "".join(
                str(self.characters[row, column]) or _dots(int(codes[row, column]), self.plain)
                for column in range(columns)
            )
            for row in range(rows)
        ]


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> columns_of("loss"), columns_of("損失")
    (4, 4)
    """
    return sum(map(_columns_of_one, text))


def fitted(text: str, columns: int) -> str:
    """The text, or as much of it as fits, with an end that says so.

    >>> fitted("one_minus_momentum", 12)
    'one_minus_m~'
    """
    if columns_of(text) <= columns:
        return text
    while text and columns_of(text) > columns - 1:
        text = text[:-1]
    return text + "~" if columns > 0 else ""


def _columns_of_one(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cells(places: Floats, number: int) -> Ints:
    return np.asarray(np.minimum((places * number).astype(np.int64), number - 1))


def _dots(code: int, plain: bool) -> str:
    if plain:
        return _PLAIN_DOTS[code]
    return chr(0x2800 + code) if code else " "
