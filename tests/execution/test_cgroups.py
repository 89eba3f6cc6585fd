"""Files of control groups, as hosts and containers show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunebook.execution import cgroups


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    monkeypatch.setattr(cgroups, "MEMBERSHIP", tmp_path / "membership")
    return tmp_path


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def read() -> str:
    return cgroups.read("memory", v1="old", v2="new")


def test_version_2(root: Path) -> None:
    put(root / "membership", "0::/user/me\n")
    put(root / "user/me/new", "mine")
    put(root / "new", "everybody's")
    assert read() == "mine"


def test_version_1(root: Path) -> None:
    put(root / "membership", "5:cpu:/a\n4:memory,hugetlb:/b:c\n0::/\n")
    put(root / "memory/b:c/old", "mine")
    assert read() == "mine"


def test_a_container_is_its_own_root(root: Path) -> None:
    put(root / "membership", "4:memory:/docker/0123\n")
    put(root / "memory/old", "the container's")
    assert read() == "the container's"


def test_none_at_all(root: Path) -> None:
    assert read() == ""
    put(root / "membership", "0::/\n")
    assert read() == ""
    assert cgroups.read("memory", v1="old") == ""
