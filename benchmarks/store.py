"""How fast are curves written and read, how large are they, and does that stay so as a book grows?

A point is one value of one metric at one step. The book of the first part has 1,000 trials of
1,000 steps and four metrics, written in two ways: by what trials do (`run.log` into a spool on the
disk, synced at the end; then the spool is read and goes into the book), and by the store alone,
which gets the same points at once. Loading is opening the book and reading the study with all its
curves into one array.

Optuna's SQLite storage, TensorBoard's event files and MLflow's SQLite store are given a tenth of
the trials, by the fastest way each has for points that are at hand, and are read into the same
array; what is compared is the time for a point.

In the second part one book grows to 100,000 trials of 250 steps and four metrics, 10^8 points, by
the store's own ways: a claim for each trial, and events in batches of a few trials. At each power
of ten the last tenth's time to write, and the times to load the whole and to list its trials
without curves, are taken for a point or a trial: where cost is linear, these stay as they are.
Claims are synced one by one, so that the time to write follows the disk's.

    make bench-setup
    .venv/bin/python benchmarks/store.py               both parts; 3 GB of disk and 6 GB of memory
    .venv/bin/python benchmarks/store.py 10000         the second part up to so many, 1,000 at least

The last line is JSON with the raw value of every repeat.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from measuring import claim, peer, print_claims, require_peers

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from kept_curves import METRICS, curves

from tunebook.core.curves import Block
from tunebook.core.domains import Float
from tunebook.core.events import Event, Finished, Logged, Started
from tunebook.core.objective import Metric, Objective
from tunebook.core.protocols import Proposal
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.study import Study
from tunebook.core.trials import NO_CODE, Attempt, FromSequence, Outcome, OutcomeKind
from tunebook.execution import here
from tunebook.execution.following import Follower
from tunebook.execution.spec import Spec, Terms
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import SQLiteStore, open_store

TRIALS, STEPS, REPEATS, SMALLER = 1_000, 1_000, 3, 10
MOST_TRIALS, GROWING_STEPS, BATCH = 100_000, 250, 20
# Below these, what is done once, such as opening the book, still shows.
FIRST_TRIALS = 1_000
LOAD_GOAL, ADVANTAGE_GOAL, GROWTH_GOAL = 1.0, 10.0, 1.5
PEERS = ("optuna", "tensorboard", "mlflow")

COMPLETE = Outcome(OutcomeKind.COMPLETE, "finished")


def study_of(trials: int) -> Study:
    space = Space.of(nuisance={"learning_rate": Float(1e-4, 1e-1, log=True)})
    return Study("curves", space, Objective(Metric(METRICS[0])), trials=trials)


def claims(store: SQLiteStore, study: Study) -> Iterator[Attempt]:
    """The trials of a study, claimed one after the other."""
    sampler = sampler_for(study)
    (setting,) = study.space.settings()
    for index in range(study.trials):
        point = sampler.propose(study, setting, index, lambda: Results(study))
        origin = FromSequence(index)
        proposal = Proposal(setting, point.config, study.trial_seed(index), origin)
        yield store.claim(study.name, proposal, NO_CODE)


def told(attempt: Attempt, steps: int) -> list[Event]:
    """What a trial tells, with all its points in one piece."""
    at = np.arange(steps)
    block = Block(METRICS, at, 0.01 * at, curves(attempt.trial.number, steps))
    return [
        Started(attempt, "here", 1),
        Logged(attempt, (block,), 1),
        Finished(attempt, COMPLETE, 1),
    ]


def write_through_spools(folder: Path) -> float:
    """Seconds to log the points of all trials and to take them from their spools into the book."""
    values = [curves(trial, STEPS).T.tolist() for trial in range(TRIALS)]
    spent = 0.0
    with open_store(folder) as store:
        study = store.create(study_of(TRIALS))
        for attempt, rows in zip(claims(store, study), values, strict=True):
            began = time.perf_counter()
            spec = Spec(attempt, Terms.of(study))
            begun = here.begin(spec)
            assert begun is not None
            for step, row in enumerate(rows):
                begun.run.log(dict(zip(METRICS, row, strict=True)), step)
            begun.run.end(COMPLETE)
            begun.release()
            follower = Follower(spec)
            for event in (*follower.news(), *follower.give_up_if_dead()):
                assert store.append(event)
            spent += time.perf_counter() - began
    return spent


def write_to_store(folder: Path) -> float:
    """Seconds to give the store the points of all trials, without the claims."""
    with open_store(folder) as store:
        study = store.create(study_of(TRIALS))
        events = [told(attempt, STEPS) for attempt in claims(store, study)]
        began = time.perf_counter()
        for one in events:
            store.append_all(one)
        return time.perf_counter() - began


def loaded(folder: Path, steps: int) -> tuple[float, int]:
    """Seconds to read all curves of the book into one array, and how many points it has."""
    gc.collect()
    began = time.perf_counter()
    with open_store(folder, readonly=True) as store:
        results = store.results("curves")
    values = np.empty((len(results), len(METRICS), steps))
    for row, record in zip(values, results, strict=True):
        for number, metric in enumerate(METRICS):
            row[number] = record.curves[metric].values
    return time.perf_counter() - began, values.size


def listed(folder: Path) -> float:
    """Seconds to read the trials of the book without their curves."""
    gc.collect()
    began = time.perf_counter()
    with open_store(folder, readonly=True) as store:
        assert len(store.results("curves", metrics=())) > 0
    return time.perf_counter() - began


def book_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("book.db*"))


def beside_peers() -> list[dict[str, object]]:
    points = TRIALS * STEPS * len(METRICS)
    through, alone, loads = [], [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            through.append(write_through_spools(Path(folder)))
        with tempfile.TemporaryDirectory() as folder:
            alone.append(write_to_store(Path(folder)))
            size = book_bytes(Path(folder))
            seconds, found = loaded(Path(folder), STEPS)
            assert found == points
            loads.append(seconds)
    print(f"{TRIALS} trials x {STEPS} steps x {len(METRICS)} metrics; peers: a tenth of the trials")
    print(f"{'':<26}{'written a second':>18}{'us to load one':>16}{'bytes':>8}")

    def row(name: str, write: float, load: float | None, each: float | None) -> None:
        cells = f"{1 / write:>18,.0f}" + ("" if load is None else f"{1e6 * load:>16.3f}")
        print(f"{name:<26}{cells}" + ("" if each is None else f"{each:>8.1f}"), flush=True)

    own = statistics.median(loads) / points
    row("ours, through spools", statistics.median(through) / points, None, None)
    row("ours, the store alone", statistics.median(alone) / points, own, size / points)
    theirs: dict[str, list[float]] = {}
    for name in PEERS:
        answer = json.loads(peer("stores.py", name, TRIALS // SMALLER, STEPS, REPEATS))
        theirs[name] = answer["load"]
        row(name, answer["write"], statistics.median(answer["load"]), answer["bytes"])
    fastest = min(theirs, key=lambda name: statistics.median(theirs[name]))
    advantage = [other / (own / points) for own, other in zip(loads, theirs[fastest], strict=True)]
    print(f"{points} points load in {statistics.median(loads):.2f} s (best {min(loads):.2f} s)")
    return [
        claim(
            f"seconds to load {TRIALS} trials x {STEPS} points x {len(METRICS)} metrics",
            "<=",
            LOAD_GOAL,
            loads,
            3,
        ),
        claim(
            f"time of the fastest peer ({fastest}) to load a point, over ours",
            ">=",
            ADVANTAGE_GOAL,
            advantage,
            1,
        ),
    ]


def growing(most: int) -> list[dict[str, object]]:
    """One book that grows, measured at each power of ten."""
    sizes = [size for size in (100, 1_000, 10_000, 100_000) if size <= most]
    each = GROWING_STEPS * len(METRICS)
    print(f"\none book that grows, {each} points a trial, microseconds each")
    print(
        f"{'trials':>8}{'points':>12}{'write a point':>15}{'load a point':>14}{'list a trial':>14}"
    )
    kept: dict[str, dict[int, list[float]]] = {"write": {}, "load": {}, "list": {}}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with open_store(folder) as store:
            study = store.create(study_of(most))
            clock, waiting = time.perf_counter, list[Event]()
            recent: list[float] = []
            generating = 0.0
            before = clock()
            for count, attempt in enumerate(claims(store, study), start=1):
                made = clock()
                waiting += told(attempt, GROWING_STEPS)
                generating += clock() - made
                if count % BATCH == 0:
                    store.append_all(waiting)
                    waiting.clear()
                    # Making the numbers is not the store's.
                    recent.append((clock() - before - generating) / (BATCH * each))
                    generating, before = 0.0, clock()
                if count in sizes:
                    kept["write"][count] = _thirds(recent[-max(1, len(recent) // 10) :])
                    kept["load"][count] = [_one(loaded(folder, GROWING_STEPS)) for _ in range(3)]
                    kept["list"][count] = [listed(folder) / count for _ in range(3)]
                    columns = (statistics.median(kept[name][count]) * 1e6 for name in kept)
                    write, load, listing = columns
                    print(
                        f"{count:>8}{count * each:>12}{write:>15.3f}{load:>14.3f}{listing:>14.1f}",
                        flush=True,
                    )
                    before = clock()
        print(f"the book has {book_bytes(folder) / (most * each):.1f} bytes a point")
    first, last = FIRST_TRIALS, sizes[-1]
    what = {"write": "a point", "load": "a point", "list": "a trial"}
    return [
        claim(
            f"time to {name} {what[name]} at {last} trials ({last * each} points) over "
            f"that at {first}",
            "<=",
            GROWTH_GOAL,
            [value / statistics.median(times[first]) for value in times[last]],
            3,
        )
        for name, times in kept.items()
    ]


def _thirds(values: list[float]) -> list[float]:
    """The median of the first, second and last third."""
    return [statistics.median(part) for part in np.array_split(values, 3) if len(part)]


def _one(found: tuple[float, int]) -> float:
    seconds, points = found
    return seconds / points


def main(most: int) -> int:
    if most < FIRST_TRIALS:
        sys.exit(f"a book grows to {FIRST_TRIALS} trials or more, got {most}")
    require_peers()
    print_claims([*beside_peers(), *growing(most)])
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else MOST_TRIALS))
