"""Variables that a script reads from its environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunebook.app import variables
from tunebook.studyfile.roles import Found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("echo $LR", {"LR": Found("lr", required=True)}),
        ('echo "${LR}"', {"LR": Found("lr", required=True)}),
        ("echo ${LR:-0.1}", {"LR": Found("lr", 0.1)}),
        (": ${LR:=0.1}\necho $LR", {"LR": Found("lr", 0.1)}),
        ("LR=${LR-0.1}\necho $LR", {"LR": Found("lr", 0.1)}),
        ("echo ${OPT:-'adam'}", {"OPT": Found("opt", "adam")}),
        ("LR=3\necho $LR", {}),
        ("export LR=3; echo $LR", {}),
        ("for SIZE in 1 2; do echo $SIZE; done", {}),
        ("  # $LR\necho $1 $lower", {}),
        ("echo $HOME $PATH $CUDA_VISIBLE_DEVICES $TUNEBOOK_SEED $RANK $SLURM_JOB_ID", {}),
        ("echo $OPENAI_API_KEY ${DB_PASSWORD:-x}", {}),
        ("echo $HF_TOKEN ${WANDB_AUTH:-x} $SECRET_SAUCE", {}),
        ("echo ${PAD_TOKEN:-x}", {"PAD_TOKEN": Found("pad_token", "x")}),
    ],
)
def test_what_a_shell_script_reads(tmp_path: Path, source: str, found: dict[str, Found]) -> None:
    (tmp_path / "train.sh").write_text(source)
    assert variables.read_by_shell(tmp_path / "train.sh") == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("os.environ['LR']", {"LR": Found("lr", required=True)}),
        ("environ.get('LR', '0.1')", {"LR": Found("lr", 0.1)}),
        ("os.getenv('LR', 2**5)", {"LR": Found("lr", 32)}),
        ("os.getenv('HOME'), other['LR'], other.get('WD'), os.environ['lower']", {}),
        ("def :", {}),
    ],
)
def test_what_a_python_script_reads(tmp_path: Path, source: str, found: dict[str, Found]) -> None:
    (tmp_path / "train.py").write_text(source)
    assert variables.read_by_python(tmp_path / "train.py") == found


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert variables.read_by_python(tmp_path / "none.py") == {}
    assert variables.read_by_shell(tmp_path / "none.sh") == {}


def test_a_shell_script_is_told_by_its_name_or_its_first_line(here: Path) -> None:
    for name, content in (("a.sh", ""), ("b", "#!/usr/bin/env bash\n"), ("c", "#!/bin/sh -e\n")):
        Path(name).write_text(content)
        assert variables.shell_script(["nice", name]) == Path(name)
    for name, content in (("d.py", "#!/usr/bin/env python\n"), ("e", "text")):
        Path(name).write_text(content)
        assert variables.shell_script([name, "none.sh"]) is None


@pytest.mark.parametrize(
    ("source", "may"),
    [
        ("case $1 in --help) usage ;; esac", True),
        ('python train.py "$@"', True),
        ("while getopts l: option; do :; done", True),
        ("python train.py --lr $LR  # so", False),
        ("# --help is not known", False),
    ],
)
def test_which_scripts_may_know_help(tmp_path: Path, source: str, may: bool) -> None:
    (tmp_path / "train.sh").write_text(source)
    assert variables.answers_help(tmp_path / "train.sh") is may
