"""Which code runs: told from git and from the program's own file."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from tunebook.core.trials import Code
from tunebook.running import code
from tunebook.running.code import code_of, patch_path


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "train.py").write_text("a = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_without_git_the_file_itself_is_known(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("a = 1\n")
    source = hashlib.sha256(b"a = 1\n").hexdigest()
    assert code_of(tmp_path, program.read_bytes(), tmp_path / "keep") == Code(source=source)
    assert not (tmp_path / "keep").exists()


def test_a_program_without_a_file_has_none(tmp_path: Path) -> None:
    assert code_of(tmp_path, None, tmp_path / "keep") == Code()


def test_a_machine_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_of(tmp_path, None, tmp_path / "keep") == Code()


def test_what_is_committed_is_known_by_its_commit(repository: Path) -> None:
    found = code_of(repository, None, repository / "keep")
    assert found == Code(git(repository, "rev-parse", "HEAD"))


def test_what_is_not_committed_is_kept_as_a_patch(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "color.ui", "always")
    git(repository, "config", "diff.external", "false")
    program = repository / "train.py"
    clean = code_of(repository, program.read_bytes(), tmp_path / "keep")
    program.write_text("a = 2\n")
    changed = code_of(repository, program.read_bytes(), tmp_path / "keep")
    assert changed.commit == clean.commit
    assert changed.difference is not None
    assert changed.source != clean.source
    assert code_of(repository, program.read_bytes(), tmp_path / "keep") == changed
    git(repository, "checkout", "-q", "train.py")
    git(repository, "apply", str(patch_path(tmp_path / "keep", changed.difference)))
    assert program.read_text() == "a = 2\n"


def test_a_huge_difference_is_known_but_not_kept(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "_LARGEST_DIFFERENCE", 10)
    (repository / "train.py").write_text("a = 2\n")
    assert code_of(repository, None, tmp_path / "keep").difference is not None
    assert not (tmp_path / "keep").exists()


def test_codes_that_differ_are_told_apart(repository: Path, tmp_path: Path) -> None:
    program = repository / "train.py"
    seen = set()
    for content in ("a = 1\n", "a = 2\n", "a = 3\n"):
        program.write_text(content)
        seen.add(str(code_of(repository, program.read_bytes(), tmp_path / "keep")))
    assert len(seen) == 3


def test_a_changed_study_file_is_no_changed_code(repository: Path, tmp_path: Path) -> None:
    study = repository / "deep" / "study.yaml"
    study.parent.mkdir()
    study.write_text("trials: 6\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "study")
    clean = code_of(repository, None, tmp_path / "keep", leave_out=study)
    study.write_text("trials: 7\n")
    assert code_of(study.parent, None, tmp_path / "keep", leave_out=study) == clean
    assert code_of(repository, None, tmp_path / "keep") != clean
    (repository / "train.py").write_text("a = 2\n")
    assert code_of(study.parent, None, tmp_path / "keep", leave_out=study) != clean
    elsewhere = tmp_path / "study.yaml"
    assert code_of(repository, None, tmp_path / "keep", leave_out=elsewhere).difference is not None


def test_a_difference_that_git_cannot_tell_is_unknown(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = code._git
    monkeypatch.setattr(
        code, "_git", lambda folder, *words: None if words[0] == "diff" else ask(folder, *words)
    )
    found = code_of(repository, None, tmp_path / "keep")
    assert found.difference == code.UNKNOWN
    assert str(found).endswith("+ changes unknown")
