"""How small a planted fault each question finds, and how often it is alarmed without one.

`python calibration/power.py` plants every fault of `planted.py` in studies of 16, 32 and 64 trials.
A fault is found when a claim would stand in a report of 40 tests, which is more than reports have.
Sizes are tried from the smallest on until one is found in 18 of 20 studies; a size is given up at
the third study in which it is missed.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any

from planted import FAULTS, Fault
from records import save
from simulation import FIRST_CALIBRATION_SEED, Plan
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


def look(fault: Fault, size: float, plan: Plan) -> tuple[float, float, float]:
    """The p-values for an alarm and for a problem, and the difference of interest."""
    with one_thread():
        evidence = gather(fault.draw(plan, size))
        return *fault.read(fault.answer(evidence)), difference_of_interest(evidence) or 0.0


def tried(fault: Fault, place: int, size: float, trials: int, dimensions: int) -> dict[str, Any]:
    """One size in one kind of study. Seeds are the same for every size: only the fault differs."""
    base = FIRST_SEED + 10_000 * place + 1000 * TRIALS.index(trials) + 100 * dimensions
    seen: list[tuple[float, float, float]] = []
    for seed in range(base, base + STUDIES):
        seen.append(look(fault, size, Plan(seed=seed, trials=trials, dimensions=dimensions)))
        missed = sum(p > WATCH for p, _, _ in seen)
        if size != fault.healthy and missed > MISSES:
            break
    alarm, problem, interest = zip(*seen, strict=True)
    return {
        "question": fault.question,
        "what": fault.what,
        "size": size,
        "healthy": size == fault.healthy,
        "trials": trials,
        "dimensions": dimensions,
        "alarm": [float(f"{p:.3g}") for p in alarm],
        "problem": [float(f"{p:.3g}") for p in problem],
        "interest": float(f"{sorted(interest)[len(interest) // 2]:.3g}"),
    }


def run(only: str = "") -> Iterator[dict[str, Any]]:
    for place, fault in enumerate(FAULTS):
        if only and fault.question != only:
            continue
        for trials, dimensions in itertools.product(TRIALS, fault.dimensions):
            yield tried(fault, place, fault.healthy, trials, dimensions)
            for size in fault.sizes:
                row = tried(fault, place, size, trials, dimensions)
                yield row
                if sum(p <= WATCH for p in row["alarm"]) >= STUDIES - MISSES:
                    break
        print(f"{fault.question}: {fault.what}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="one question, by its key")
    options = parser.parse_args()
    print(f"Wrote {save(f'power-{options.only}' if options.only else 'power', run(options.only))}")


if __name__ == "__main__":
    main()
