"""How fast does a study go whose trials do nothing, beside Optuna and Ray Tune?

A trial reports one metric 50 times and ends; two workers. What is left is what the tuner itself
costs. Ours is the run as a user gets it: a fork server that imports the program, two processes for
each trial, a spool that is synced to the disk, and a book that has every outcome durably before it
is told. Its time counts from before the fork server is started to the last outcome.

Optuna's two workers are processes that share one storage, SQLite or a journal file, as its manual
says; their time counts from when both have loaded the study. Ray Tune is measured on a Ray that
runs already and has run trials before, in two ways: as it comes, each trial in a process of its
own, and with `reuse_actors`, where trials share processes. It is slow enough to be measured with
fewer trials, which is told; a trial costs it no more when there are more of them to come.

Each repeat measures everybody in turn, so that a ratio compares what ran at about the same time.

    make bench-setup
    .venv/bin/python benchmarks/engine.py            200 trials, three repeats
    .venv/bin/python benchmarks/engine.py 40 1       fewer

The last line is JSON with the raw ratio of every repeat. Before it stand the latency of a sync on
this disk, and how much processor time a trial of ours takes.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measuring import claim, peer, print_claims, require_peers
from tunebook.core.domains import Float
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Study
from tunebook.core.trials import NO_CODE, OutcomeKind, RetryPolicy
from tunebook.execution import programs
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Terms
from tunebook.running.breaker import Breaker
from tunebook.running.interrupts import Interrupts
from tunebook.running.loop import run_study
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import open_store

TRIALS, REPORTS, WORKERS, REPEATS = 200, 50, 2, 3
RAY_TRIALS, ATTEMPTS = 40, 3
RAY_GOAL, SQLITE_GOAL = 10.0, 5.0

# The script of each, and its first argument.
PEERS = {
    "Optuna, SQLite": ("optuna_engine.py", "sqlite"),
    "Optuna, journal": ("optuna_engine.py", "journal"),
    "Ray Tune": ("ray_engine.py", "fresh"),
    "Ray Tune, reuse": ("ray_engine.py", "reuse"),
}
PROGRAM = f"""
def train(run):
    for step in range({REPORTS}):
        run.log({{"loss": run["x"]}}, step)
"""


def ours(trials: int) -> float:
    """Seconds of a study with so many trials, by the real executor and the real store."""
    study = Study(
        "engine",
        Space.of(nuisance={"x": Float(0.0, 1.0)}),
        Objective(Metric("loss")),
        trials=trials,
    )
    with tempfile.TemporaryDirectory() as place, open_store(Path(place, "book")) as store:
        Path(place, "train.py").write_text(PROGRAM)
        study = store.create(study)
        began = time.perf_counter()
        ending = run_study(
            study,
            programs.parse("train.py:train", Path(place)),
            store=store,
            sampler=sampler_for(study),
            executor=Processes(Terms.of(study), [Slot(number) for number in range(WORKERS)]),
            code=NO_CODE,
            policy=RetryPolicy(),
            breaker=Breaker(),
            interrupts=Interrupts(),
            watch=lambda _: None,
        )
        spent = time.perf_counter() - began
        kept = store.results(study.name)
        outcomes = [record.attempts[-1].outcome for record in kept]
        assert ending.done
        assert all(ended and ended.kind is OutcomeKind.COMPLETE for ended in outcomes)
        assert [len(record.curves["loss"]) for record in kept] == [REPORTS] * trials
    return spent


def rate(name: str, trials: int, ray_trials: int) -> float:
    """Trials a second of one of them, now."""
    if name == "ours":
        return trials / ours(trials)
    script, option = PEERS[name]
    count = ray_trials if script.startswith("ray") else trials
    # On a busy machine Ray may not be there in the time that it gives itself.
    return count / float(peer(script, option, count, REPORTS, WORKERS, attempts=ATTEMPTS))


def sync_milliseconds(folder: Path, count: int = 50) -> float:
    """The median time in which 4 KB more reach this disk."""
    spent = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(count):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            spent.append(time.perf_counter() - began)
    return 1e3 * statistics.median(spent)


def processor_milliseconds() -> tuple[float, float]:
    """What this process, and its children, have used so far."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    here, below = (1e3 * (one.ru_utime + one.ru_stime) for one in used)
    return here, below


def main(trials: int, repeats: int) -> int:
    require_peers()
    ray_trials = min(RAY_TRIALS, trials)
    with tempfile.TemporaryDirectory() as folder:
        print(f"a sync of 4 KB takes {sync_milliseconds(Path(folder)):.2f} ms (median)")
    names = ["ours", *PEERS]
    print(f"{WORKERS} workers, {REPORTS} reports a trial; trials a second")
    print(f"{trials} trials; Ray Tune: {ray_trials}".ljust(28) + "".join(f"{n:>17}" for n in names))
    rates: dict[str, list[float]] = {name: [] for name in names}
    used: list[tuple[float, float]] = []
    for repeat in range(repeats):
        print(f"repeat {repeat + 1}".ljust(28), end="", flush=True)
        before = processor_milliseconds()
        for name in names:
            rates[name].append(rate(name, trials, ray_trials))
            print(f"{rates[name][-1]:>17.2f}", end="", flush=True)
            if name == "ours":
                after = processor_milliseconds()
                used.append(((after[0] - before[0]) / trials, (after[1] - before[1]) / trials))
        print()
    middle = {name: statistics.median(values) for name, values in rates.items()}
    print("median".ljust(28) + "".join(f"{value:>17.2f}" for value in middle.values()))
    ratios = {
        name: [own / theirs for own, theirs in zip(rates["ours"], values, strict=True)]
        for name, values in rates.items()
        if name != "ours"
    }
    for name, values in ratios.items():
        print(
            f"ours / {name}: {statistics.median(values):.1f} ({min(values):.1f}-{max(values):.1f})"
        )
    coordinator, below = (statistics.median(part) for part in zip(*used, strict=True))
    print(
        f"processor time of a trial: {coordinator:.1f} ms in the coordinator, "
        f"{below:.1f} ms in fork server, keeper and worker"
    )
    goals = (
        ("trials a second, ours over Ray Tune's", "Ray Tune", RAY_GOAL),
        ("reports a second, ours over Optuna's with SQLite", "Optuna, SQLite", SQLITE_GOAL),
    )
    print_claims(claim(text, ">=", goal, ratios[name], 2) for text, name, goal in goals)
    return 0


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(given + [TRIALS, REPEATS][len(given) :])))
