"""Is following the advice of a probe at least as good as the hand-picked values of the tasks?

Each probe is asked about bundled tasks as somebody would ask who has not tuned them: the study has
the task's `defaults`, without what the probe is to find. Where that is a learning rate, it begins
at a tenth of the hand-picked one; a batch size begins at 16; a warm-up or a threshold of clipping
is left out. The probe runs through the public function, two trials at a time. Where it answers that
it should begin elsewhere, that is done. Then both are trained with fresh seeds that no probe has
used, as many steps each:

batch-size   examples a second at the size it names, beside the hand-picked size
to-goal      seconds of training to a goal at a constant rate, for the size and rate it names
steps        the result after as many steps as it names, beside the hand-picked number of them: the
             first guess from a tenth of the steps, corrected by the results of a study
stability    the result at the best learning rate it names
warmup       the result with what it proposes, for tasks with and without a hand-picked warm-up
clipping     the same
variance     advises no change: its interval is to hold the standard deviation of fresh seeds, and
             as many seeds as it names for a difference are to show it in four of five samples

A ratio above 1 says that the advice is better. Where the probe keeps the hand-picked values it is
exactly 1. Half of all ratios between equals are below 1: the table says what is within noise, two
standard errors of the paired differences.

    .venv/bin/python benchmarks/procedures.py
    .venv/bin/python benchmarks/procedures.py stability warmup --tasks digits --seeds 10

The last line is JSON with the raw value of every seed.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from measuring import claim, print_claims
from probed.bench import STEPS, Bench, Row
from probed.scattered import variance
from probed.timed import batch_size, to_goal
from probed.trained import remedy, stability, steps

MINUTES_GOAL = 5.0
# Which tasks a probe is asked about: 25 minutes in all, most of them on characters, whose defaults
# alone have a warm-up and a threshold of clipping.
ASKED = {
    "batch-size": ("digits",),
    "to-goal": ("digits",),
    "steps": ("digits",),
    "stability": ("digits",),
    "warmup": ("digits", "characters"),
    "clipping": ("digits", "characters"),
    "variance": ("digits", "mnist1d"),
}
# Those that are asked about where --tasks names them.
FURTHER = dict.fromkeys(("batch-size", "to-goal", "steps", "stability"), ("mnist1d",))

CASES: Mapping[str, Callable[[Bench, str], Row]] = {
    "batch-size": batch_size,
    "to-goal": to_goal,
    "steps": steps,
    "stability": stability,
    "warmup": functools.partial(remedy, "warmup", "warmup_steps"),
    "clipping": functools.partial(remedy, "clipping", "clip_norm"),
    "variance": variance,
}


def print_table(rows: Sequence[Row]) -> None:
    print(
        f"\n{'probe':<11}{'task':<12}{'minutes':>7}  {'what':<12}{'by hand':>10}{'advised':>10}"
        f"{'ratio':>8}  {'':<13}advice"
    )
    for row in rows:
        ratio = f"{statistics.median(row.ratios):8.3f}" if row.ratios else f"{'':>8}"
        standing = row.standing if row.ratios else ""
        print(
            f"{row.probe:<11}{row.task:<12}{sum(row.minutes):>7.1f}  {row.what:<12}"
            f"{row.by_hand:>10.4g}{row.advised:>10.4g}{ratio}  {standing:<13}{row.advice}"
        )


def claims_of(rows: Sequence[Row]) -> list[dict[str, object]]:
    found = []
    for probe in dict.fromkeys(row.probe for row in rows):
        own = [row for row in rows if row.probe == probe]
        found.append(
            claim(f"{probe}: minutes", "<=", MINUTES_GOAL, [m for row in own for m in row.minutes])
        )
        for row in own:
            text = f"{probe} on {row.task}: {row.what}, how many times as good as by hand"
            found += [claim(text, ">=", 1.0, row.ratios)] if row.ratios else []
            found += row.claims
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("probes", nargs="*", metavar="PROBE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--tasks", nargs="+", default=[], help=f"of {', '.join(STEPS)}")
    parser.add_argument(
        "--seeds", type=int, default=5, help="fresh seeds of each side: 5, and 20 of digits"
    )
    parser.add_argument("--steps", type=int, help="steps of a trial, to try this out")
    asked = parser.parse_args()
    for given, known in ((asked.probes, CASES), (asked.tasks, STEPS)):
        unknown = set(given) - set(known)
        if unknown:
            parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    rows: list[Row] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), asked.seeds, asked.steps)
        for probe in asked.probes or CASES:
            known = ASKED[probe] + FURTHER.get(probe, ()) if asked.tasks else ASKED[probe]
            for task in (task for task in known if task in (asked.tasks or STEPS)):
                print(f"{probe} on {task}", flush=True)
                rows.append(CASES[probe](bench, task))
                print_table(rows[-1:])
                print(f"{(time.perf_counter() - began) / 60.0:.1f} minutes so far\n", flush=True)
    print_table(rows)
    print_claims(claims_of(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
