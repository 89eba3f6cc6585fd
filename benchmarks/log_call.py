"""What does `run.log` cost a training loop?

A real run, with its spool on a disk and the thread that writes it, is given four metrics in each
call: as floats, and as a loop may have them, two numbers of numpy, a whole one and a float.

    .venv/bin/python benchmarks/log_call.py

The last line is JSON with the raw value of every repeat: the mean time of a call in microseconds.
The longest single call is told as well; a loop that logs has to live with it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from measuring import claim, print_claims
from tunebook.core.objective import Metric
from tunebook.core.space import Setting
from tunebook.core.study import Divergence
from tunebook.core.trials import Attempt, FromSequence, Outcome, OutcomeKind, Trial
from tunebook.execution.run import SpoolRun
from tunebook.execution.spec import Spec, Terms

REPEATS, SECONDS, GOAL = 7, 2.0, 20.0
FLOATS = {"loss": 0.5, "accuracy": 0.75, "grad/norm": 1.5, "learning_rate": 1e-3}
MIXED = {"loss": np.float32(0.5), "accuracy": np.float64(0.75), "examples": 128, "rate": 1e-3}


def fresh_run(folder: Path) -> SpoolRun:
    trial = Trial("log_call", 1, Setting(), {}, 0, FromSequence(0))
    spec = Spec(Attempt(trial, 1, "token", str(folder)), Terms(Metric("loss"), Divergence(), None))
    spec.write()
    return SpoolRun(spec)


def measure(metrics: dict[str, object]) -> tuple[float, float]:
    """Microseconds of a call: on average, and the longest."""
    with tempfile.TemporaryDirectory() as folder:
        run = fresh_run(Path(folder, "1"))
        clock, longest, calls = time.perf_counter, 0.0, 0
        began = before = clock()
        while before - began < SECONDS:
            run.log(metrics, calls)
            after = clock()
            longest = max(longest, after - before)
            before, calls = after, calls + 1
        run.end(Outcome(OutcomeKind.COMPLETE, "finished"))
    return (before - began) / calls * 1e6, longest * 1e6


def main() -> int:
    claims = []
    for name, metrics in (("floats", FLOATS), ("numbers of several kinds", MIXED)):
        values, longest = zip(*(measure(metrics) for _ in range(REPEATS)), strict=True)
        middle = f"{statistics.median(values):.2f} us a call (median of {REPEATS} repeats)"
        print(f"four {name}: {middle}, the longest {max(longest):.0f} us")
        claims.append(claim(f"microseconds of a log call with four {name}", "<=", GOAL, values, 3))
    print_claims(claims)
    return 0


if __name__ == "__main__":
    sys.exit(main())
