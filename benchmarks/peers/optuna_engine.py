"""No-op trials that report, by Optuna's workers on one storage; run by `.venv-bench`'s Python.

Arguments: sqlite or journal, trials, reports, workers. It prints the seconds from the moment when
every worker has loaded the study to the end of the last one.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
import warnings
from multiprocessing.synchronize import Barrier
from pathlib import Path

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

STUDY = "engine"


def storage_in(folder: Path, kind: str) -> BaseStorage:
    if kind == "journal":
        return JournalStorage(JournalFileBackend(str(folder / "study.log")))
    # Two writers get in each other's way; with SQLite's own five seconds some trials would fail.
    patience = {"connect_args": {"timeout": 60}}
    return RDBStorage(f"sqlite:///{folder / 'study.db'}", engine_kwargs=patience)


def be_quiet() -> None:
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def work(folder: Path, kind: str, trials: int, reports: int, ready: Barrier) -> None:
    be_quiet()

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0.0, 1.0)
        for step in range(reports):
            trial.report(x, step)
        return x

    # The cheapest sampler: what is measured is the storage.
    sampler = optuna.samplers.RandomSampler()
    storage = storage_in(folder, kind)
    study = optuna.load_study(study_name=STUDY, storage=storage, sampler=sampler)
    ready.wait()
    study.optimize(objective, n_trials=trials)


def measure(folder: Path, kind: str, trials: int, reports: int, workers: int) -> float:
    study = optuna.create_study(study_name=STUDY, storage=storage_in(folder, kind))
    spawning = multiprocessing.get_context("spawn")
    ready = spawning.Barrier(workers + 1)
    each = trials // workers
    processes = [
        spawning.Process(target=work, args=(folder, kind, each, reports, ready))
        for _ in range(workers)
    ]
    for process in processes:
        process.start()
    ready.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    spent = time.perf_counter() - began
    kept = [len(trial.intermediate_values) for trial in study.trials]
    assert kept == [reports] * each * workers, kept
    return spent


def main() -> None:
    be_quiet()
    kind, (trials, reports, workers) = sys.argv[1], map(int, sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        print(measure(Path(folder), kind, trials, reports, workers))


if __name__ == "__main__":
    main()
