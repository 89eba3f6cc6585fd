"""Imports point one way: a package imports packages of lower layers only, and no sibling."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tunebook"
LAYERS = (
    ("core", "stats", "files", "guide"),
    (
        *("studyfile", "sampling", "execution", "storage", "training"),
        *("diagnosis", "advice", "planning", "charts", "exchange"),
    ),
    ("running", "procedures", "report"),
    ("app",),
)
LAYER = {package: level for level, packages in enumerate(LAYERS) for package in packages}
# These stand above every layer: they may import anything, and nothing may import them.
TOP = {"__init__.py", "__main__.py"}


def imported(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, wherever it stands and however it is written."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=source, names=names, level=level):
                parts = module.split(".")[:-level] if level else []
                base = ".".join([*parts, *([source] if source else [])])
                # `from tunebook import core` imports a package.
                yield from (
                    (node.lineno, f"{base}.{name.name}" if base == "tunebook" else base)
                    for name in names
                )
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def violations(source: Path) -> list[str]:
    """A line for each import that the layers do not allow."""
    found = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source)
        if len(place.parts) == 1 and place.name in TOP:
            continue
        importer = place.parts[0]
        if importer not in LAYER:
            found.append(f"{place}: no layer is given for {importer}")
            continue
        module = ".".join(("tunebook", *place.with_suffix("").parts))
        for line, name in imported(ast.parse(path.read_text(encoding="utf-8")), module):
            package = name.removeprefix("tunebook.").split(".")[0]
            if name.split(".")[0] != "tunebook" or package == importer:
                continue
            if LAYER.get(package, len(LAYERS)) >= LAYER[importer]:
                found.append(f"{place}:{line}: {importer} must not import {name}")
    return found


def test_imports_point_one_way() -> None:
    assert (SOURCE / "core").is_dir()
    assert violations(SOURCE) == []


@pytest.mark.parametrize(
    ("place", "code", "culprit"),
    [
        ("core/a.py", "import tunebook.sampling.halton", "tunebook.sampling.halton"),
        ("core/a.py", "from tunebook.stats import intervals", "tunebook.stats"),
        (
            "sampling/a.py",
            "from tunebook.storage.sqlite import open_store",
            "tunebook.storage.sqlite",
        ),
        ("sampling/a.py", "from ..storage import sqlite", "tunebook.storage"),
        ("sampling/deep/a.py", "from ...storage import sqlite", "tunebook.storage"),
        ("sampling/a.py", "from .. import storage", "tunebook.storage"),
        ("storage/a.py", "def f():\n    import tunebook.running", "tunebook.running"),
        ("storage/a.py", "if TYPE_CHECKING:\n    from tunebook.app import cli", "tunebook.app"),
        ("storage/a.py", "importlib.import_module('tunebook.app.cli')", "tunebook.app.cli"),
        ("running/a.py", "import tunebook", "tunebook"),
        ("running/a.py", "from tunebook import Run", "tunebook.Run"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, place: str, code: str, culprit: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(code)
    (only,) = violations(tmp_path)
    assert only.endswith(f"{place.split('/')[0]} must not import {culprit}")


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("__init__.py", "from tunebook.app.cli import main"),
        ("app/a.py", "from tunebook.core.space import Space\nimport tunebook.running.loop"),
        ("running/a.py", "from tunebook import core\nfrom tunebook.storage import sqlite"),
        ("storage/a.py", "from . import tables\nfrom tunebook.storage.tables import trials"),
        ("core/a.py", "import tunebooks\nimport numpy"),
    ],
)
def test_what_the_layers_allow_is_not_reported(tmp_path: Path, place: str, code: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)
    assert violations(tmp_path) == []


@pytest.mark.parametrize("place", ["utils.py", "helpers/a.py"])
def test_a_package_needs_a_layer(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    assert violations(tmp_path) == [f"{place}: no layer is given for {place.split('/')[0]}"]
