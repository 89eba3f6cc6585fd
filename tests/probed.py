"""A program with known scatter, and a study of it, to be probed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tunebook.app import asking, display, probing, workflow
from tunebook.app import start as beginnings
from tunebook.core.domains import Value
from tunebook.core.study import Asked, Study

BOOK = Path(".tunebook")
SEEDS: Mapping[str, Value] = {"seeds": 3}

TRAIN = """\
import random
import time

def train(run):
    seed = run.seed if run["init"] is None else run["init"]
    noise = random.Random(seed).gauss(0, 0.01)
    for step in range(5):
        time.sleep({pause})
        run.log({{"valid/error": 0.1 + 0.1 / (1 + step) + noise + run["x"]}}, step=step)
        if run.should_stop:
            return
"""
STUDY = """\
# A study that is probed.
study: small
program: train.py:train
objective: {metric: valid/error, better: lower}
nuisance:
  x: {linear: [0, 1]}  # what is tuned
fixed:
  init: null
knobs: {seed_init: init}
trials: 3
"""


def write_probed(folder: Path, pause: float = 0.0, train: str = TRAIN) -> Path:
    """`train.py` and `small.yaml`, a study of it."""
    (folder / "train.py").write_text(train.format(pause=pause))
    (folder / "small.yaml").write_text(STUDY)
    return folder / "small.yaml"


def ask(study: Study, given: Mapping[str, Value] | None = None, again: bool = False) -> Asked:
    """What the probe of variance is asked about it."""
    return asking.ask("variance", study, SEEDS, given or {}, BOOK, again=again)


def ran(asked: Asked) -> probing.Probed:
    program = beginnings.program_of(asked.about)
    screen = display.choose(True, machine=False)
    limits = workflow.Options(workers=2)
    return probing.run(asked, program, BOOK, limits, screen, asked.about.file)


def studies(folder: Path = BOOK) -> dict[str, int]:
    """The studies of a book, with their numbers of trials."""
    return {s.name: len(workflow.results(s.name, folder)) for s in asking.studies(folder)}
