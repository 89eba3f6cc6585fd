"""Every example runs as its README says, and learns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(*arguments: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "TUNEBOOK_DIR": str(folder), "OMP_NUM_THREADS": "1", "PATH": path}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["digits_function", "digits_task"])
def test_a_study_of_an_example(name: str, tmp_path: Path) -> None:
    told = json.loads(
        run("-m", "tunebook", "run", f"{name}.yaml", "--trials", "2", "--json", folder=tmp_path)
    )
    assert told["outcomes"] == {"complete": 4}
    assert told["best"][0]["value"] < 0.3
    assert told["best"][0]["step"] % 50 == 0


def test_the_script_appears_in_the_book(tmp_path: Path) -> None:
    run("digits_script.py", folder=tmp_path)
    (row,) = json.loads(run("-m", "tunebook", "book", "--json", folder=tmp_path))
    assert row["study"] == "digits-script"
    assert row["outcomes"] == {"complete": 1}
    assert row["best"]["value"] < 0.3


def test_two_processes_are_one_trial(tmp_path: Path) -> None:
    ranks = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    run("-m", *ranks, "digits_torchrun.py", folder=tmp_path)
    (row,) = json.loads(run("-m", "tunebook", "book", "--json", folder=tmp_path))
    assert row["study"] == "digits-torchrun"
    assert row["outcomes"] == {"complete": 1}
    assert row["best"]["value"] < 0.15


@pytest.mark.parametrize(
    ("name", "outcomes", "below"),
    [
        ("command_argparse", {"complete": 4}, 0.2),
        ("command_hydra", {"complete": 4}, 0.2),
        ("command_shell", {"complete": 4}, 1e-3),
        ("command_torchrun", {"complete": 2}, 3.0),
    ],
)
def test_a_command(name: str, outcomes: dict[str, int], below: float, tmp_path: Path) -> None:
    needed = {"command_hydra": "hydra", "command_torchrun": "torch"}.get(name)
    if needed:
        pytest.importorskip(needed)
    told = json.loads(
        run("-m", "tunebook", "run", f"{name}.yaml", "--trials", "2", "--json", folder=tmp_path)
    )
    assert told["outcomes"] == outcomes, told["not_complete"]
    assert told["best"][0]["value"] < below


def test_the_first_rank_is_heard(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    given = ("command_torchrun.yaml", "--trials", "1", "-q")
    run("-m", "tunebook", "run", *given, folder=tmp_path)
    told = json.loads(
        run("-m", "tunebook", "show", "command-torchrun", "1", "--json", folder=tmp_path)
    )
    assert told["metrics"]["rank"]["highest"] == 0
    assert told["metrics"]["loss"]["points"] == 20


def test_every_file_is_in_the_readme() -> None:
    text = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.iterdir():
        assert (
            path.name == "README.md"
            or path.suffix not in (".py", ".sh", ".yaml")
            or path.name in text
        )
