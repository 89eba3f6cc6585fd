"""How small a planted fault each question finds, and how often it is alarmed without one.

`python calibration/power.py` plants every fault of `planted.py` in studies of 16, 32 and 64 trials.
A fault is found when a claim would stand in a report of 40 tests, which is more than reports have.
Sizes are tried from the smallest on until one is found in 18 of 20 studies; a size is given up at
the third study in which it is missed.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from planted import FAULTS, Fault
from records import Row, load, save
from simulation import FIRST_CALIBRATION_SEED, Plan
from tunebook.core.findings import Verdict
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.judging import PROBLEM_BUDGET, WATCH_BUDGET
from tunebook.stats.threads import one_thread

# Apart from the seeds of `alarms.py`.
FIRST_SEED = FIRST_CALIBRATION_SEED + 100_000
TRIALS = (16, 32, 64)
STUDIES = 20
MISSES = 2  # that 90% allows
FAMILY = 40
WATCH, PROBLEM = WATCH_BUDGET / FAMILY, PROBLEM_BUDGET / FAMILY


@dataclass(frozen=True)
class Seen:
    """What one study showed: p-values for an alarm and for a problem, an alarm of this question
    asked alone, and the difference of interest."""

    alarm: float
    problem: float
    alone: bool
    interest: float


def look(fault: Fault, size: float, plan: Plan) -> Seen:
    with one_thread():
        evidence = gather(fault.draw(plan, size))
        said = fault.answer(evidence)
    alarm, problem = fault.read(said)
    alone = alarm == 0.0 or said.verdict in (Verdict.PROBLEM, Verdict.WATCH)
    return Seen(alarm, problem, alone, difference_of_interest(evidence) or 0.0)


def tried(fault: Fault, place: int, size: float, trials: int, dimensions: int) -> dict[str, Any]:
    """One size in one kind of study. Seeds are the same for every size: only the fault differs."""
    base = FIRST_SEED + 10_000 * place + 1000 * TRIALS.index(trials) + 100 * dimensions
    seen: list[Seen] = []
    for seed in range(base, base + STUDIES):
        seen.append(look(fault, size, Plan(seed=seed, trials=trials, dimensions=dimensions)))
        missed = sum(one.alarm > WATCH for one in seen)
        if size != fault.healthy and missed > MISSES:
            break
    return {
        "question": fault.question,
        "what": fault.what,
        "size": size,
        "healthy": size == fault.healthy,
        "trials": trials,
        "dimensions": dimensions,
        "alarm": [rounded(one.alarm) for one in seen],
        "problem": [rounded(one.problem) for one in seen],
        "alone": sum(one.alone for one in seen),
        "interest": rounded(statistics.median(one.interest for one in seen)),
    }


def rounded(value: float) -> float:
    """Three digits, which is what raw results keep."""
    return float(f"{value:.3g}")


def is_found(row: Row) -> bool:
    """Whether a row shows a power of 90%."""
    return sum(p <= WATCH for p in row["alarm"]) >= STUDIES - MISSES


def run(only: str = "") -> Iterator[dict[str, Any]]:
    for place, fault in enumerate(FAULTS):
        if only and fault.question != only:
            continue
        for trials, dimensions in itertools.product(TRIALS, fault.dimensions):
            yield tried(fault, place, fault.healthy, trials, dimensions)
            for size in fault.sizes:
                row = tried(fault, place, size, trials, dimensions)
                yield row
                if is_found(row):
                    break
        print(f"{fault.question}: {fault.what}", flush=True)


def merged(rows: Iterable[Row], only: str) -> list[Row]:
    """The rows that are kept of other questions, and those of one question, in the usual order."""
    every = [*(row for row in load("power") if row["question"] != only), *rows]
    order = {(fault.question, fault.what): place for place, fault in enumerate(FAULTS)}
    return sorted(every, key=lambda row: order[row["question"], row["what"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="one question, by its key; the others are kept")
    options = parser.parse_args()
    rows = run(options.only)
    print(f"Wrote {save('power', merged(rows, options.only) if options.only else rows)}")


if __name__ == "__main__":
    main()
