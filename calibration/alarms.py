"""How often a report on a healthy study cries wolf.

`python calibration/alarms.py` draws healthy studies and asks every question about each of them, as
`diagnose` does. A study is healthy when nothing that a question looks for was planted: its optimum
lies well inside the ranges, equal trials and neighbouring evaluations differ by less than what is
of interest, and training reaches its plateau in the second half. A cliff of divergence, where there
is one, is far from the optimum.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from records import RESULTS, save
from simulation import FIRST_CALIBRATION_SEED, NAMES, Plan, draw
from tunebook.core.findings import Finding, Verdict
from tunebook.diagnosis.diagnosing import ANSWERS
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.importance import which_matter
from tunebook.diagnosis.judging import within_budget
from tunebook.stats.threads import one_thread

CELLS = tuple(itertools.product((16, 32, 64), (2, 4, 6), (1, 2)))
STUDIES = 360  # 20 in each cell
ALARMS = (Verdict.PROBLEM, Verdict.WATCH)
# It is the dearest question, brings no claim and so has no part in any alarm.
ASKED = tuple(answer for answer in ANSWERS if answer is not which_matter)


def healthy(seed: int) -> Plan:
    """A healthy study; trials, dimensions and settings go round with the seed."""
    trials, dimensions, settings = CELLS[seed % len(CELLS)]
    rng = np.random.default_rng([seed, 1])
    names = NAMES[:dimensions]
    optimum = dict(zip(names, rng.uniform(0.25, 0.75, dimensions).tolist(), strict=True))
    cliff = None
    if rng.uniform() < 0.5:
        cliff = float(rng.uniform(0.8, 0.9))
        optimum["learning_rate"] = float(rng.uniform(0.25, 0.55))
    return Plan(
        seed=seed,
        trials=trials,
        dimensions=dimensions,
        settings=settings,
        evaluations=int(rng.choice([20, 40, 100])),
        noise=float(rng.uniform(0.001, 0.004)),
        jitter=float(rng.uniform(0.0005, 0.003)),
        rho=float(rng.uniform(0.0, 0.7)),
        plateau=float(rng.uniform(0.5, 0.7)),
        optimum=optimum,
        cliff=cliff,
        replicates=int(rng.choice([0, 0, 4])),
        clipping=2.0 if rng.uniform() < 0.5 else None,
        warmup=100 if rng.uniform() < 0.5 else None,
        valid_examples=50_000,
    )


def report_on(plan: Plan) -> tuple[Finding, ...]:
    """The findings of a report that can alarm, judged together."""
    with one_thread():
        evidence = gather(draw(plan))
        return within_budget([answer(evidence) for answer in ASKED])


def row(plan: Plan) -> dict[str, Any]:
    """What one report said. A fact is a claim that was seen and not tested."""
    findings = report_on(plan)
    tested = [claim.p for one in findings for claim in one.claims if claim.p is not None]
    return {
        "seed": plan.seed,
        "trials": plan.trials,
        "dimensions": plan.dimensions,
        "settings": plan.settings,
        "cliff": plan.cliff is not None,
        "replicates": plan.replicates > 0,
        "tests": len(tested),
        "unknown": [one.question.key for one in findings if one.verdict is Verdict.UNKNOWN],
        "alarms": [
            [one.question.key, one.verdict.value, one.sentence]
            for one in findings
            if one.verdict in ALARMS
        ],
    }


def run(first: int, studies: int) -> Iterator[dict[str, Any]]:
    for seed in range(first, first + studies):
        yield row(healthy(seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--seed", type=int, default=FIRST_CALIBRATION_SEED)
    parser.add_argument("--name", default="alarms")
    options = parser.parse_args()
    print(f"Wrote {save(options.name, run(options.seed, options.studies), RESULTS)}")


if __name__ == "__main__":
    main()
