"""The tables of the documentation are those of the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tunebook.procedures.catalogue import PROBES, Probe
from tunebook.procedures.needed import BEGIN, END, document, put
from tunebook.procedures.needs import Need
from tunebook.procedures.variance.probe import probe

PAGE = Path(__file__).parents[2] / "docs" / "probes.md"


def test_the_page_has_the_tables_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == put(document(), page), (
        "write them again: python -m tunebook.procedures docs/probes.md"
    )


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_has_its_section(name: str) -> None:
    assert f"\n## {name}\n" in PAGE.read_text(encoding="utf-8")


def test_what_is_said_of_one_probe() -> None:
    needs = (
        Need("learning_rate", "to sweep it"),
        Need("seed_init", "to vary it", required=False),
        Need("train_loss", "to see it fall", required=False),
    )
    assert document([Probe("edge", "Where is the edge?", needs, probe)]).splitlines() == [
        "| probe | asks | needs | uses, where it is known |",
        "| --- | --- | --- | --- |",
        "| [edge](#edge) | Where is the edge? | `learning_rate`, to sweep it "
        "| `seed_init`, to vary it; `train_loss`, to see it fall |",
        "",
        "| knob | of a command | of a function | of a task |",
        "| --- | --- | --- | --- |",
        "| `learning_rate` | write `lr: 0.001` under fixed and `learning_rate: lr` under knobs "
        "| write `lr: 0.001` under fixed and `learning_rate: lr` under knobs "
        "| write `learning_rate: 0.001` under fixed |",
        "| `seed_init` | write `init_seed: 0` under fixed and `seed_init: init_seed` under knobs "
        "| write `init_seed: null` under fixed and `seed_init: init_seed` under knobs | known |",
        "| `train_loss` | let it write that where `metrics` reads, and write "
        "`train_loss: train/loss` under knobs "
        '| log it, `run.log({"train/loss": value}, step=step)`, and write '
        "`train_loss: train/loss` under knobs | known |",
    ]
    assert "| nothing | nothing |" in document([Probe("none", "Why?", (), probe)])


def test_tables_are_put_between_their_marks() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert put("new", page) == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert put("new", put("other", page)) == put("new", page)


def test_they_are_printed_and_put(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n{BEGIN}\n{END}\n")
    command = [sys.executable, "-m", "tunebook.procedures"]
    for arguments in ([], [str(page)]):
        made = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, check=True, timeout=60
        )
        assert made.stdout == ("" if arguments else document() + "\n")
    assert page.read_text() == put(document(), page.read_text())
    assert document() in page.read_text()
