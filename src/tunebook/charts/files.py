"""A figure as a file for papers and slides: PNG, PDF or SVG, drawn by matplotlib."""

from __future__ import annotations

from pathlib import Path

from tunebook.charts.figures import Figure
from tunebook.core.errors import TunebookError
from tunebook.files.atomic import write_file

FORMATS = ("png", "pdf", "svg")


def save(figure: Figure, path: str | Path) -> Path:
    """Write the figure to a file of the kind its name ends in; the same figure, the same bytes."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise TunebookError(
            f"a figure cannot be written to {path.name!r}: end the name in .png, .pdf or .svg"
        )
    try:
        # Late: matplotlib is an extra, and takes most of a second to load.
        from tunebook.charts.paper import drawn
    except ModuleNotFoundError as error:
        raise TunebookError(
            f"figures as files need matplotlib ({error}): pip install 'tunebook[plots]'"
        ) from error
    content = drawn(figure, kind)
    try:
        write_file(path, content, durable=False)
    except OSError as error:
        raise TunebookError(
            f"the figure {figure.key!r} cannot be written to {path}: {error.strerror or error}"
        ) from error
    return path
