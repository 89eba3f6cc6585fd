"""Row 35: a study file made to do harm is refused in one line, in little memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

MB = 1 << 20
HEAD = "study: a\nobjective: {metric: loss, better: lower}\n"
BOMB = "a: &a [x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "10^5 lists": ("a: " + "[" * 100_000, "study.yaml: a study file may have 65536 bytes"),
    "lists that fit": (HEAD + "a: " + "[" * 60_000, "study.yaml:3: nested deeper than 50 levels"),
    "mappings that fit": (HEAD + "{a: " * 15_000, "study.yaml:3: "),
    "blocks that fit": (HEAD + "a:\n" + "- " * 30_000, "study.yaml:4: nested deeper than 50"),
    "alias bomb": (BOMB, "study.yaml:1: anchors and aliases are not read, got 'a'"),
    "10^6 parameters": (
        HEAD + "fixed:\n" + "".join(f"  p{n}: 1\n" for n in range(10**6)),
        "study.yaml: a study file may have 65536 bytes; this one is larger",
    ),
    "parameters that fit": (
        HEAD + "fixed: {" + ", ".join(f"p{n}: 1" for n in range(5000)) + "}",
        "study.yaml:1: a space may have 1000 parameters, got 5000",
    ),
    "10^1000": (
        HEAD + f"fixed: {{a: 1{'0' * 1000}}}",
        "study.yaml:3: a number may have 300",
    ),
    "10^1000 as a float": (HEAD + "trials: 1e1000", "study.yaml:3: "),
    "a hexadecimal number": (
        HEAD + f"fixed: {{a: 0x{'f' * 290}}}",
        "study.yaml:3: a number must fit a float",
    ),
    "duplicate keys": (
        HEAD + "study: b",
        "study.yaml:3: the key 'study' was given before",
    ),
    "a Python object": (
        HEAD + "goal: !!python/object/apply:os.system [touch harmed]",
        "study.yaml:3: tags are not read",
    ),
    "10^12 settings": (
        HEAD
        + "scientific:\n"
        + "".join(f"  s{n}: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n" for n in range(12)),
        "study.yaml:8: the values of the scientific parameters up to s4 make 100000 settings",
    ),
    "a tower of powers": (
        HEAD + 'derive: {b: "9**9**9**9"}',
        "study.yaml:3: cannot compute '9**9**9**9': the power is too large",
    ),
    "code in an expression": (
        HEAD + "fixed: {a: 2}\nderive: {b: \"__import__('os').system('touch harmed')\"}",
        "study.yaml:4: ",
    ),
}


# The most that the process itself has had in memory: what wait4 tells includes its parent's.
RUN = """
import atexit, pathlib, re, runpy, sys
status = pathlib.Path("/proc/self/status")
most = re.compile(r"VmHWM:\\s+(\\d+) kB")
atexit.register(lambda: pathlib.Path("most").write_text(most.search(status.read_text())[1]))
sys.argv = ["tunebook", "run", "study.yaml"]
runpy.run_module("tunebook", run_name="__main__")
"""


def refuse(folder: Path, expected: str) -> None:
    """The command line refuses a study file within 200 MB, with nothing but one line."""
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", RUN],
            cwd=folder,
            stdout=out,
            stderr=err,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (400 * MB, 400 * MB)),
        )
        process.wait()
    said = (folder / "err").read_text()
    assert process.returncode == 1, said[-2000:]
    assert said.startswith(f"Error: {expected}"), said[:2000]
    assert said.count("\n") == 1, said[:2000]
    assert len(said) < 500
    assert (folder / "out").read_text() == ""
    assert int((folder / "most").read_text()) << 10 < 200 * MB
    assert not (folder / "harmed").exists()


@pytest.mark.parametrize("name", HOSTILE)
def test_row_35_a_hostile_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, expected = HOSTILE[name]
    (tmp_path / "study.yaml").write_text(text)
    refuse(tmp_path, expected)


def test_row_35_a_gigabyte(tmp_path: Path) -> None:
    with (tmp_path / "study.yaml").open("wb") as file:
        file.write(HEAD.encode())
        file.truncate(1 << 30)
    refuse(tmp_path, "study.yaml: a study file may have 65536 bytes; this one is larger")
