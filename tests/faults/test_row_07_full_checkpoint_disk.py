"""Row 7: no room for a checkpoint. The old ones stay, nothing half is left, the trial goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.bench import Bench

MB = 1 << 20
TRAIN = """
    import os

    def train(run):
        for step in range(5):
            run.log({"error": run["x"] + step}, step=step)
            with run.checkpoint(step) as folder:
                # Some of a checkpoint fits: it is the rest for which there is no room.
                for part in range(8):
                    (folder / f"part-{part}").write_bytes(os.urandom(1 << 20))
    """
SCRIPT = TRAIN + "\n    import tunebook\n    train(tunebook.init())\n"
# The book is on another disk than what trials write.
SHELL = """
set -e
mkdir small
mount -t tmpfs -o size=20m tmpfs small
{tunebook} run study.yaml --workers 1
echo ----
{tunebook} show depth 1
echo ----
find small -path '*checkpoints*' | sort
"""


@pytest.mark.parametrize("kind", ["function", "command"])
def test_row_07_a_full_disk_costs_checkpoints_and_not_the_trial(bench: Bench, kind: str) -> None:
    command: dict[str, object] = {}
    if kind == "command":
        # The script logs by itself.
        command = {"command": [sys.executable, "train.py", "{overrides}"]}
    bench.write_program(TRAIN if kind == "function" else SCRIPT)
    bench.write_study(scientific={}, trials=1, **command)
    shell = SHELL.format(tunebook=f"{sys.executable} -m tunebook")
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", shell],
        cwd=bench.folder,
        env={
            **bench.mark.environment,
            "TUNEBOOK_DIR": str(bench.folder / "book"),
            "TUNEBOOK_ATTEMPTS": str(bench.folder / "small"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    if done.stderr.startswith(("unshare:", "mount:")) and os.getuid() != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    _, shown, left = done.stdout.split("----\n")
    # Two checkpoints fit, and a third does not: the first two stay whole to the end.
    for step in (2, 3, 4):
        text = f"the checkpoint of step {step} was not saved, as the disk is full"
        assert text in " ".join(shown.split())
        assert text in done.stderr
    (record,) = bench.results()
    assert record.outcome is not None
    assert record.outcome.kind.value == "complete"
    assert len(record.curves["error"]) == 5
    folders = {Path(line).name for line in left.splitlines() if Path(line).parent.name[-1:] == "s"}
    assert folders - {"checkpoints"} == {"0", "1"}
    assert sum("part-" in line for line in left.splitlines()) == 16
    bench.is_quiet()
