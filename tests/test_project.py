"""The project as a whole: its files agree with one another and speak of nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", "calibration", ".ci")
# Written so that this file does not contain what it forbids. Ada lives in our examples.
FOREIGN = re.compile(
    r"(?<![\w.~}])/(?:root|home/(?!ada\b)\w+|Users|work|opt/\w+)/"
    r"|\b(?:pypi|pythonhosted)[.]org|\bdeb[.]debian|\bregistry[.]npmjs"
)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
TARGET = re.compile(r"\bmake ([a-z]+(?:-[a-z]+)*)`")


def files() -> list[Path]:
    """Every file of the project: what git knows or would add, or the folders of a release."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listing.stdout.split("\0") if listing.returncode == 0 else []
    found = [ROOT / name for name in names if name]
    if not found:
        found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
        found += ROOT.glob("*")
    return sorted(p for p in found if p.is_file() and "__pycache__" not in p.parts)


def texts(suffix: str = "") -> Iterator[tuple[str, str]]:
    """(name, content) of the project's text files."""
    for path in files():
        content = path.read_bytes()
        if path.name.endswith(suffix) and b"\0" not in content:
            yield str(path.relative_to(ROOT)), content.decode(errors="replace")


def without_docstring(modules: Iterable[tuple[str, str]]) -> list[str]:
    """Modules whose `__doc__` is None, as it is when another statement comes first."""
    return [name for name, code in modules if ast.get_docstring(ast.parse(code)) is None]


def foreign(documents: Iterable[tuple[str, str]]) -> list[str]:
    """Lines that name a place on some machine, or the host of a package registry."""
    return [
        f"{name}:{number}: {line.strip()}"
        for name, content in documents
        for number, line in enumerate(content.splitlines(), 1)
        if FOREIGN.search(line)
    ]


def has_code(code: str) -> bool:
    """Whether a module has a function that does something: protocols and plain values have none."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not all(
            isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
            for part in node.body
        )
        for node in ast.walk(ast.parse(code))
    )


def anchors(markdown: str) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(name: str, markdown: str, root: Path = ROOT) -> list[str]:
    """Links of a page to files or headings that do not exist."""
    page = root / name
    broken = []
    for link in LINK.findall(markdown):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = page.parent / place if place else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(f"{name}: {link}")
    return broken


def test_every_module_has_a_docstring() -> None:
    modules = list(texts(".py"))
    assert len(modules) > 10
    assert without_docstring(modules) == []


def test_a_lost_docstring_is_found() -> None:
    lost = 'from __future__ import annotations\n"""Too late."""\n'
    assert without_docstring([("kept.py", '"""Kept."""\n'), ("lost.py", lost)]) == ["lost.py"]


def test_no_file_names_a_machine_or_a_registry() -> None:
    assert foreign(texts()) == []


@pytest.mark.parametrize(
    "line",
    [
        f"see {Path('/', 'root', 'notes')}",
        f'open("{Path("/", "home", "bob", "data.csv")}")',
        "https://" + ".".join(["pypi", "org"]) + "/simple",
        "http://" + ".".join(["deb", "debian", "org"]),
    ],
)
def test_a_machine_or_a_registry_is_found(line: str) -> None:
    assert foreign([("a.md", f"fine\n{line}\n")]) == [f"a.md:2: {line}"]


def test_a_relative_path_is_not_a_machine() -> None:
    assert (
        foreign([("a.md", "their/work/here ./work/here ~/home/x/ ${HOME}/work/ /home/ada/x")]) == []
    )


def test_links_between_documents_exist() -> None:
    broken = [link for name, text in texts(".md") for link in broken_links(name, text)]
    assert broken == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# The layers, and why\n")
    page = "[a](b.md) [b](b.md#the-layers-and-why) [c](b.md#gone) [d](c.md) [e](https://x.example)"
    assert broken_links("a.md", page, tmp_path) == ["a.md: b.md#gone", "a.md: c.md"]


def test_make_targets_in_documents_exist() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = {target for _, text in texts(".md") for target in TARGET.findall(text)}
    assert "test" in named
    assert named <= set(targets)


def test_every_target_is_listed_by_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.findall(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)[0].split()
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[1] for line in done.stdout.splitlines()] == phony


def test_the_tests_mirror_the_source() -> None:
    source, tests = ROOT / "src" / "tunebook", ROOT / "tests"
    missing = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source)
        test = tests / place.with_name(f"test_{path.stem.lstrip('_')}.py")
        if path.name not in ("__init__.py", "__main__.py") and has_code(path.read_text()):
            if not test.exists():
                missing.append(f"{test.relative_to(ROOT)} for {place}")
    assert missing == []


def test_code_is_told_from_plain_values() -> None:
    assert has_code("class A:\n    def f(self):\n        return 1")
    assert has_code("async def f():\n    await g()")
    assert not has_code('class A(Protocol):\n    def f(self) -> int:\n        """One."""')
    assert not has_code("class A(Protocol):\n    def f(self) -> int: ...")
    assert not has_code("class A:\n    x: int\n\nB = A | None")


def test_no_doctest_is_skipped() -> None:
    assert [name for name, code in texts(".py") if re.search(r"#\s*doctest:.*[+]SKIP", code)] == []


def test_versions_and_licences_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"] == "Apache-2.0"
    assert citation["references"][0]["license"] == "CC-BY-4.0"
    assert "CC BY 4.0" in (ROOT / "NOTICE").read_text()


def test_the_pins_are_exact_and_leave_the_build_of_torch_open() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[\w.\-]+==[\w.]+", pin)] == []
    assert [pin for pin in pins if pin.startswith("torch==")] == ["torch==2.13.0"]


def test_continuous_integration_can_start() -> None:
    run = ROOT / ".ci" / "run"
    assert run.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", run], check=False).returncode == 0
