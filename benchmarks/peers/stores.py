"""Curves written to and read from the local store of a peer; run by `.venv-bench`'s Python.

Arguments: optuna, tensorboard or mlflow; trials, steps, and how often to read. Each is written the
fastest way that it offers for points that are at hand, and read into one array of all values. It
prints {"write": seconds, "load": [seconds, ...], "bytes": ...}, each for one point. Optuna commits
each value by itself: its writing is measured with one trial.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"

import numpy as np
from kept_curves import METRICS, curves

Write = Callable[[Path, int, int], None]
Load = Callable[[Path], list[list[np.ndarray]]]


def write_optuna(folder: Path, trials: int, steps: int) -> None:
    """One value a step is all that a trial has: each metric is a study of its own."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for row, metric in enumerate(METRICS):
        study = optuna.create_study(study_name=metric, storage=_optuna(folder))
        for trial in range(trials):
            values = curves(trial, steps)[row].tolist()
            kept = dict(enumerate(values))
            study.add_trial(optuna.create_trial(value=values[-1], intermediate_values=kept))


def fill_optuna(folder: Path, trials: int, steps: int) -> None:
    """The same rows at once, by SQL, so that there is something to read."""
    import optuna
    from optuna.storages._rdb.models import TrialIntermediateValueModel as Value
    from sqlalchemy import create_engine, insert

    rows = []
    for row, metric in enumerate(METRICS):
        study = optuna.create_study(study_name=metric, storage=_optuna(folder))
        for trial in range(trials):
            values = curves(trial, steps)[row].tolist()
            study.add_trial(optuna.create_trial(value=values[-1]))
            key = study.trials[-1]._trial_id
            kind = Value.TrialIntermediateValueType.FINITE
            rows += [
                {
                    "trial_id": key,
                    "step": step,
                    "intermediate_value": value,
                    "intermediate_value_type": kind,
                }
                for step, value in enumerate(values)
            ]
    with create_engine(_optuna(folder)).begin() as connection:
        connection.execute(insert(Value), rows)


def _optuna(folder: Path) -> str:
    return f"sqlite:///{folder}/study.db"


def load_optuna(folder: Path) -> list[list[np.ndarray]]:
    import optuna

    by_metric = []
    for metric in METRICS:
        study = optuna.load_study(study_name=metric, storage=_optuna(folder))
        by_metric.append([np.array([*t.intermediate_values.values()]) for t in study.trials])
    return [list(one) for one in zip(*by_metric, strict=True)]


def write_tensorboard(folder: Path, trials: int, steps: int) -> None:
    """One folder a trial, by torch's writer."""
    from torch.utils.tensorboard import SummaryWriter

    for trial in range(trials):
        values = curves(trial, steps)
        with SummaryWriter(str(folder / str(trial))) as writer:
            for step in range(steps):
                for row, metric in enumerate(METRICS):
                    writer.add_scalar(metric, values[row, step], step)


def load_tensorboard(folder: Path) -> list[list[np.ndarray]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = []
    for place in sorted(folder.iterdir(), key=lambda path: int(path.name)):
        # Zero: all points, where TensorBoard itself keeps a sample.
        events = EventAccumulator(str(place), size_guidance={"scalars": 0, "tensors": 0})
        events.Reload()
        found.append([_scalars(events, metric) for metric in METRICS])
    return found


def _scalars(events: object, metric: str) -> np.ndarray:
    return np.array([event.value for event in events.Scalars(metric)])


def write_mlflow(folder: Path, trials: int, steps: int) -> None:
    """SQLite, its local store; a thousand values in a call is the most it takes."""
    from mlflow.entities import Metric

    client, now = _mlflow(folder), int(1e3 * time.time())
    experiment = client.create_experiment("curves", artifact_location=str(folder))
    for trial in range(trials):
        run = client.create_run(experiment).info.run_id
        values = curves(trial, steps)
        for row, metric in enumerate(METRICS):
            points = [Metric(metric, float(v), now, step) for step, v in enumerate(values[row])]
            for first in range(0, steps, 1000):
                client.log_batch(run, metrics=points[first : first + 1000])


def load_mlflow(folder: Path) -> list[list[np.ndarray]]:
    client = _mlflow(folder)
    experiment = client.get_experiment_by_name("curves")
    runs = client.search_runs([experiment.experiment_id], max_results=50_000)
    return [
        [
            np.array([point.value for point in client.get_metric_history(run.info.run_id, metric)])
            for metric in METRICS
        ]
        for run in runs
    ]


def _mlflow(folder: Path) -> object:
    from mlflow import MlflowClient

    return MlflowClient(f"sqlite:///{folder}/mlflow.db")


# How points are written, how they come to lie there to be read, and how they are read.
PEERS: dict[str, tuple[Write, Write, Load]] = {
    "optuna": (write_optuna, fill_optuna, load_optuna),
    "tensorboard": (write_tensorboard, write_tensorboard, load_tensorboard),
    "mlflow": (write_mlflow, write_mlflow, load_mlflow),
}


def main() -> None:
    name, (trials, steps, repeats) = sys.argv[1], map(int, sys.argv[2:])
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    write, fill, load = PEERS[name]
    places = (tempfile.TemporaryDirectory() for _ in range(3))
    with next(places) as warm, next(places) as first, next(places) as place:
        # What is imported and made once, such as tables, does not count.
        write(Path(warm), 1, 2)
        written = measure(write, Path(first), 1 if fill is not write else trials, steps)
        if fill is not write:
            fill(Path(place), trials, steps)
        full = Path(first if fill is write else place)
        loaded = []
        for _ in range(repeats):
            began = time.perf_counter()
            values = np.array(load(full))
            loaded.append((time.perf_counter() - began) / values.size)
            assert values.shape == (trials, len(METRICS), steps), values.shape
        size = sum(file.stat().st_size for file in full.rglob("*") if file.is_file())
    print(json.dumps({"write": written, "load": loaded, "bytes": size / values.size}))


def measure(write: Write, place: Path, trials: int, steps: int) -> float:
    """Seconds to write a point."""
    began = time.perf_counter()
    write(place, trials, steps)
    return (time.perf_counter() - began) / (trials * steps * len(METRICS))


if __name__ == "__main__":
    main()
