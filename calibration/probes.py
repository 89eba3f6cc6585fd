"""How often the statistics of probes are right: their intervals, their alarms, what they find.

`python calibration/probes.py` takes a few minutes. `--data` names the folder of public logs, for
the critical batch sizes of MLPerf's benchmarks; without it the rows that are kept of them stay.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import rcp
from adoption import adoptions
from records import RESULTS, load, save
from simulation import FIRST_CALIBRATION_SEED
from tunebook.core.curves import Curve
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import AttemptRecord, TrialRecord
from tunebook.core.space import Setting
from tunebook.core.trials import FromSequence, Outcome, OutcomeKind, Trial
from tunebook.diagnosis.judging import PROBLEM_BUDGET, WATCH_BUDGET
from tunebook.procedures.stability import courses
from tunebook.stats.beyond import gain_beyond_p
from tunebook.stats.critical_batch import BatchScaling, batch_scaling
from tunebook.stats.goal_steps import step_of_goal
from tunebook.stats.growth import growth
from tunebook.stats.instability import loss_spikes
from tunebook.stats.periodicity import ar1_noise
from tunebook.stats.samples import pooled_sd
from tunebook.stats.step_times import step_times
from tunebook.stats.threads import one_thread
from tunebook.stats.throughput import affine_time, saturation
from tunebook.stats.variance import seeds_needed, variance_components

# Apart from the seeds of the other scripts.
FIRST_SEED = FIRST_CALIBRATION_SEED + 5_000_000
Rows: TypeAlias = Iterator[dict[str, Any]]
_LOSS = Metric("train/loss")


def critical_batches(studies: int) -> Rows:
    """Intervals of the critical size, of the fewest steps, and of steps at twice the largest."""
    for sizes, seeds, sd in itertools.product((4, 6), (1, 3), (0.05, 0.15)):
        counts: Counter[str] = Counter()
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            tested = 32.0 * 2.0 ** np.arange(sizes)
            critical = math.exp(rng.uniform(math.log(tested[0]), math.log(tested[-1])))
            b = np.repeat(tested, seeds)
            usual = 1000.0 * (1.0 + critical / b)
            steps = usual * np.exp(sd * rng.standard_normal(len(b)))
            every = 0.05 * usual
            until = np.ceil(steps / every) * every
            fit = batch_scaling(b, until - every, until)
            assert isinstance(fit, BatchScaling)
            counts["critical"] += critical in fit.critical
            counts["steps"] += 1000.0 in fit.fewest_steps
            beyond = 2.0 * tested[-1]
            counts["beyond"] += 1000.0 * (1.0 + critical / beyond) in fit.steps_at(beyond)
            counts["both"] += fit.scaling.value == "both"
            counts["misfit"] += fit.misfit is not None and fit.misfit <= 0.05
        yield {
            "kind": "critical",
            "sizes": sizes,
            "seeds": seeds,
            "sd": sd,
            "studies": studies,
            **{key: counts[key] for key in ("critical", "steps", "beyond", "both", "misfit")},
        }


def one_sided(studies: int) -> Rows:
    """Data from a limit alone: how often the other side is bounded, which would be wrong."""
    for limit, critical in (("perfect", 1e9), ("diminishing", 1e-6)):
        said: Counter[str] = Counter()
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            b = np.repeat(32.0 * 2.0 ** np.arange(5), 2)
            steps = 1000.0 * (1.0 + critical / b) * np.exp(0.1 * rng.standard_normal(len(b)))
            fit = batch_scaling(b, steps, steps)
            assert isinstance(fit, BatchScaling)
            said[fit.scaling.value] += 1
        yield {"kind": "one-sided", "limit": limit, "studies": studies, "said": dict(said)}


def times_of_steps(studies: int) -> Rows:
    """Intervals of the median time of a step, with a warm-up and correlated neighbours."""
    for n, rho in itertools.product((20, 100), (0.0, 0.5, 0.8)):
        held = 0
        for seed in range(studies):
            times = np.exp(0.05 * ar1_noise(rho, 1, n, FIRST_SEED + seed)[0])
            times[: n // 10] *= np.geomspace(5.0, 1.5, n // 10)
            found = step_times(times)
            held += found is not None and 1.0 in found.median
        yield {"kind": "times", "steps": n, "rho": rho, "studies": studies, "held": held}


THROUGHPUTS: dict[str, tuple[Callable[[float], float], float | None]] = {
    "proportional": (lambda _: 0.1, None),
    "full at 128": (lambda size: 0.02 * max(size / 128.0, 1.0), 128.0),
    "a line": (lambda size: 0.05 + 0.0001 * size, None),
    "a line with a kink at 512": (
        lambda size: (0.05 + 0.0001 * size) * (1.6 if size >= 512 else 1.0),
        None,
    ),
}


def throughputs(studies: int) -> Rows:
    """Where throughput is said to stop, and the line of times: 7 sizes of 30 steps each."""
    sizes = [16.0 * 2**i for i in range(7)]
    for (name, (seconds, stop)), noise in itertools.product(THROUGHPUTS.items(), (0.02, 0.1)):
        counts: Counter[str] = Counter()
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            measured = {}
            for size in sizes:
                shift = 0.01 * rng.standard_normal()
                one = step_times(seconds(size) * np.exp(shift + noise * rng.standard_normal(30)))
                assert one is not None
                measured[size] = one
            found, line = saturation(measured), affine_time(measured)
            assert line is not None
            counts["stops"] += found.stops_at is not None
            counts["right"] += found.stops_at == stop
            counts["kink"] += not line.fits
            counts["held"] += 0.05 in line.fixed and 0.0001 in line.per_example
        yield {
            "kind": "throughput",
            "what": name,
            "noise": noise,
            "studies": studies,
            **{key: counts[key] for key in ("stops", "right", "kink", "held")},
        }


def leaks(studies: int) -> Rows:
    """Growth of memory that fills up, jumps twice at any time, and leaks or not."""
    for n, rho, leak in itertools.product((50, 200), (0.0, 0.9), (0.0, 10.0, 20.0, 40.0)):
        counts: Counter[str] = Counter()
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            at = np.arange(n)
            values = 1000.0 - 300.0 * np.exp(-at / (0.03 * n)) + leak * at / n
            values += ar1_noise(rho, 1, n, FIRST_SEED + seed)[0]
            for place in rng.integers(0, n, 2):
                values[place:] += rng.uniform(4.0, 60.0)
            found = growth(at, values)
            assert found is not None
            counts["found"] += found.p <= 0.01
            counts["at_5"] += found.p <= 0.05
            counts["held"] += leak / n in found.per_step
        yield {
            "kind": "leak",
            "n": n,
            "rho": rho,
            "leak": leak,
            "studies": studies,
            **{key: counts[key] for key in ("found", "at_5", "held")},
        }


def sources(studies: int) -> Rows:
    """Intervals of a source's variance above a residual of 1, and the seeds said to be needed."""
    for n, variance in itertools.product((3, 5, 10), (0.0, 1.0, 4.0)):
        held = enough = 0
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            alone = math.sqrt(1.0 + variance) * rng.standard_normal(n)
            # As the probe has them: some runs, each with a second one of the same seeds.
            same = rng.standard_normal((n, 2))
            found = variance_components({"seed": alone}, list(same))
            held += variance in found.sources["seed"].variance
            sd = pooled_sd([alone])
            assert sd is not None
            true = seeds_needed(type(sd)(*[math.sqrt(1.0 + variance)] * 3, sd.freedom), 2.0)
            said = seeds_needed(sd, 2.0)
            assert true is not None and said is not None and true.seeds is not None
            enough += (said.low or 0) <= true.seeds <= (said.high or math.inf)
        row = {"kind": "variance", "runs": n, "variance": variance, "studies": studies}
        yield {**row, "held": held, "seeds": enough}


def goals(studies: int) -> Rows:
    """Bounds of the step at which a noisy loss comes down to a level."""
    for noise, window in itertools.product((0.0, 0.05, 0.2), (1, 5, 21)):
        held, off = 0, []
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            at = np.arange(0, 4000, 10)
            loss = np.exp(-at / 1000.0) * np.exp(noise * rng.standard_normal(len(at)))
            found = step_of_goal(at, loss, math.exp(-2.0), window)
            assert found is not None
            held += found.after < 2000.0 <= found.until
            middle = (found.after + found.until) / 2.0
            off.append(abs(middle - 2000.0) / 2000.0 if found.reached else math.inf)
        row = {"kind": "goal", "noise": noise, "window": window, "studies": studies}
        yield {**row, "held": held, "off": round(float(np.median(off)), 3)}


def _shapes(n: int) -> dict[str, tuple[np.ndarray, str]]:
    at = np.arange(n) / n
    return {
        "healthy": (np.ones(n), "stable"),
        "blow-up from the middle on": (np.exp(6.0 * np.clip(at - 0.5, 0.0, None)), "sudden"),
        "early spike of 4, gone again": (np.where((at > 0.04) & (at < 0.09), 4.0, 1.0), "early"),
        "jump by 3": (np.where(at > 0.6, 3.0, 1.0), "sudden"),
        "jump by 1.6": (np.where(at > 0.6, 1.6, 1.0), "sudden"),
    }


def _reading(loss: np.ndarray) -> Reading:
    trial = Trial("simulated", 1, Setting(), {}, 1, FromSequence(0))
    attempt = AttemptRecord(1, "", "", outcome=Outcome(OutcomeKind.COMPLETE, "finished"))
    curve = Curve.of(np.arange(1, len(loss) + 1), loss)
    return Reading(TrialRecord(trial, (attempt,), {_LOSS.name: curve}), Standing.MEASURED)


def stabilities(studies: int) -> Rows:
    """Kinds of trainings as the probes see them, beside what `loss_spikes` finds of them.

    Losses fall by a factor of 1.7 to 200; what is usual comes from two healthy trainings.
    """
    for n, rho, sd in itertools.product((100, 500), (0.0, 0.5, 0.9), (0.05, 0.2, 0.4)):
        for name, (factor, kind) in _shapes(n).items():
            counts: Counter[str] = Counter()
            for seed in range(studies):
                rng = np.random.default_rng(FIRST_SEED + seed)
                floor, fall = 10 ** rng.uniform(-2.3, -0.2), n * rng.uniform(0.03, 0.5)
                trend = 2.3 * (floor + (1.0 - floor) * np.exp(-np.arange(n) / fall))
                noise = np.exp(sd * ar1_noise(rho, 3, n, FIRST_SEED + seed))
                compared = courses.usual(
                    [_reading(trend * noise[1]), _reading(trend * noise[2])], _LOSS
                )
                assert compared is not None
                loss = trend * noise[0] * factor
                found = courses.course(_reading(loss), _LOSS, compared, n)
                assert found is not None
                counts["unstable"] += not found.is_stable
                counts["right"] += found.kind.value.startswith(kind)
                counts["spikes"] += bool(loss_spikes(range(n), loss))
            yield {
                "kind": "stability",
                "n": n,
                "rho": rho,
                "sd": sd,
                "what": name,
                "studies": studies,
                **{key: counts[key] for key in ("unstable", "right", "spikes")},
            }


def promises(studies: int) -> Rows:
    """What results at 7 rates promise at twice the best: results in standard deviations of a seed.

    A bowl has its bottom at the fifth rate, a fall is cut off by an edge after it.
    """
    number = np.arange(7.0)
    cut = np.where(number > 4, 1e3, 0.0)
    shapes = {"equal rates": 0.0 * number}
    shapes |= {f"a bowl, {c} sd one rate off": c * (number - 4) ** 2 for c in (1, 3, 10)}
    shapes |= {f"a bowl, {c} sd, and an edge": c * (number - 4) ** 2 + cut for c in (1, 3, 10)}
    shapes |= {f"a fall by {s} sd a rate to an edge": -s * number + cut for s in (3, 6, 12, 25)}
    for name, truth in shapes.items():
        found = []
        for seed in range(studies):
            rng = np.random.default_rng(FIRST_SEED + seed)
            each = truth[:, None] + rng.standard_normal((7, 3))
            means = each.mean(axis=1)
            good = np.argsort(means)[:4]
            error = math.sqrt(float(np.mean(each[good].var(axis=1, ddof=1))) / 3)
            at = np.log(10.0) * number / 3
            twice = float(at[int(np.argmin(means))]) + math.log(2.0)
            found.append(gain_beyond_p(at, means, error, 6, twice))
        counts = {"problem": PROBLEM_BUDGET, "watch": WATCH_BUDGET}
        row = {"kind": "promise", "what": name, "studies": studies}
        yield row | {key: sum(p <= budget for p in found) for key, budget in counts.items()}


def run(data: Path | None) -> Rows:
    with one_thread():
        if data is not None:
            yield from map(rcp.judged, rcp.points(data))
        yield from critical_batches(30)
        yield from one_sided(20)
        yield from times_of_steps(300)
        yield from throughputs(60)
        yield from leaks(200)
        yield from sources(300)
        yield from goals(100)
        yield from stabilities(10)
        yield from promises(400)
        yield from adoptions(2000, FIRST_SEED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of public tuning logs")
    options = parser.parse_args()
    kept: list[dict[str, Any]] = []
    if options.data is None and (RESULTS / "probes.jsonl").is_file():
        kept = [row for row in load("probes") if row["kind"] == "rcp"]
    print(f"Wrote {save('probes', itertools.chain(kept, run(options.data)))}")


if __name__ == "__main__":
    main()
