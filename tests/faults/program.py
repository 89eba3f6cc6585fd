"""A tiny training program whose curve is known in advance, interrupted or not."""

from __future__ import annotations

import json
import os
import time

STEPS = 30
SAVED_EVERY = 5
STARTS = "FAULTS_STARTS"
PAUSE = "FAULTS_PAUSE"
# How many metrics are logged beside the error: long curves fill more than a page of a disk.
MORE = "FAULTS_MORE"


def advance(state: float, x: float, step: int) -> float:
    """Every value depends on all before it: training that resumes wrongly shows."""
    return 0.9 * state + x / (step + 1)


def curve(x: float) -> list[float]:
    """What `train` logs at the steps from 0 on."""
    values = [advance(1.0, x, 0)]
    for step in range(1, STEPS):
        values.append(advance(values[-1], x, step))
    return values


def more(state: float) -> dict[str, float]:
    count = int(os.environ.get(MORE, "0"))
    return {f"more.{number}": state / number for number in range(1, count + 1)}


def train(run) -> None:  # type: ignore[no-untyped-def]
    """The arm `saves` writes checkpoints and resumes; the arm `begins anew` does not."""
    with open(os.environ[STARTS], "a") as starts:
        starts.write(f"{run.attempt.trial.number} {run.attempt.number}\n")
    saves = run["arm"] == "saves"
    state, first = 1.0, 0
    folder = run.resume() if saves else None
    if folder is not None:
        state, first = json.loads((folder / "state.json").read_text())
    for step in range(first, STEPS):
        if saves and run.should_stop:
            return
        state = advance(state, run["x"], step)
        run.log({"error": state, **more(state)}, step=step)
        if saves and step % SAVED_EVERY == SAVED_EVERY - 1:
            with run.checkpoint(step) as folder:
                (folder / "state.json").write_text(json.dumps([state, step + 1]))
        time.sleep(float(os.environ[PAUSE]))
