"""What diagnosis says of real tuning logs, against what is known of them.

`python calibration/logs.py` needs the folder of public logs (`--data`). Rows are kept by kind: the
best of k against the bands of the package opda, trials that diverged, edges of stability, winners
at the end of a range, and how many questions stay unknown that the data could answer.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from opda.nonparametric import EmpiricalDistribution

import real
from boundary_winners import NEAR, tabm
from records import save
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Verdict
from tunebook.core.results import Results
from tunebook.diagnosis.diagnosing import examine
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.replication import replicated
from tunebook.diagnosis.signals import losses_of, signal
from tunebook.diagnosis.stability import stability
from tunebook.stats.best_of_k import expected_best, quantile_band, quantile_best

Rows = Iterator[dict[str, Any]]

# A sample of this many trials is what a study affords; the rest of a log tells the truth.
SAMPLE = 64
CONFIDENCE = 0.95
# DeBERTa's trials that end below this accuracy are at chance (1/3); the next one ends at 0.44.
NEAR_CHANCE = 0.4
# The least number of trials whose report should leave little unknown.
ENOUGH_TRIALS = 32
# Evaluations in the best trial that questions about curves need.
POINTS = {
    "overfitting": 10,
    "step-budget": 10,
    "improving": 16,
    "saturated": 16,
    "late-variance": 16,
    "periodicity": 36,
}


def random_searches(data: Path) -> Iterator[Results]:
    """The logs whose points were drawn at random."""
    yield real.deberta(data)
    yield real.alexnet(data)
    yield from real.taskset(data)


def best_of_k(data: Path) -> Rows:
    """Samples of each log: our estimates within opda's bands, and our bands against its own."""
    ks = np.arange(1, SAMPLE // 2 + 1)
    for results in random_searches(data):
        losses = judged_losses(gather(results))
        worst = float(np.max(losses[np.isfinite(losses)])) + 1.0
        # opda takes finite values; what does not work is worse than everything.
        finite = np.where(np.isfinite(losses), losses, worst)
        rng = np.random.default_rng(1_000_000)
        sample = rng.permutation(finite)[:SAMPLE]
        lower, point, upper = opda_bands(sample)
        theirs = [band.quantile_tuning_curve(ks, minimize=True) for band in (upper, lower)]
        ours = quantile_band(sample, ks, confidence=CONFIDENCE)
        truth = quantile_best(finite, ks)
        estimate = quantile_best(sample, ks)
        mean = point.u_tuning_curve(ks, minimize=True)
        yield {
            "kind": "best-of-k",
            "log": results.study.name,
            "ks": len(ks),
            "estimates within": int(np.sum((theirs[0] <= estimate) & (estimate <= theirs[1]))),
            "means equal": bool(np.allclose(expected_best(sample, ks), mean)),
            "bands equal": int(np.sum((ours[0] == theirs[0]) & (ours[1] == theirs[1]))),
            "truth within": int(np.sum((ours[0] <= truth) & (truth <= ours[1]))),
        }


def opda_bands(sample: np.ndarray) -> tuple[EmpiricalDistribution, ...]:
    with warnings.catch_warnings():
        # Infeasible trials are equally bad: with ties the bands hold with more than they say.
        warnings.simplefilter("ignore", RuntimeWarning)
        return EmpiricalDistribution.confidence_bands(
            sample, CONFIDENCE, method="ld_equal_tailed", generator=np.random.default_rng(0)
        )


def judged_losses(evidence: Evidence) -> np.ndarray:
    arm = evidence.arms[0].sampled.judged
    bad = [r.standing is Standing.INFEASIBLE for r in arm.readings]
    return np.where(bad, np.inf, arm.losses)


def diverged_algoperf(data: Path) -> Rows:
    """Every trial that the log's own column says went non-finite in training."""
    trials = pl.read_csv(data / "algoperf" / "trials.csv.gz")
    keys = ["version", "ruleset", "submission", "workload", "framework"]
    groups = (group.sort("study", "trial") for group in trials.partition_by(keys))
    known = found = others = total = 0
    missed: list[str] = []
    for results, group in zip(real.algoperf(data), groups, strict=True):
        readings = gather(results).readings
        for reading, (name, broken) in zip(
            readings, group.select("trial_id", "nonfinite_train").iter_rows(), strict=True
        ):
            bad = reading.standing is Standing.INFEASIBLE
            total += 1
            known += broken is True
            found += broken is True and bad
            others += broken is not True and bad
            if broken is True and not bad:
                missed.append(name)
    yield {
        "kind": "diverged",
        "log": "algoperf",
        "trials": total,
        "known": known,
        "found": found,
        "others": others,
        "missed": missed,
    }


def near_chance(data: Path) -> Rows:
    results = real.deberta(data)
    readings = gather(results).readings
    last = [float(r.record.curves["valid/accuracy"].values[-1]) for r in readings]
    known = [r for r, value in zip(readings, last, strict=True) if value <= NEAR_CHANCE]
    bad = {r.number for r in readings if r.standing is Standing.INFEASIBLE}
    yield {
        "kind": "diverged",
        "log": "deberta",
        "trials": len(readings),
        "known": len(known),
        "found": sum(r.number in bad for r in known),
        "others": len(bad - {r.number for r in known}),
        "missed": [str(r.number) for r in known if r.number not in bad],
    }


def diverged_alexnet(data: Path) -> Rows:
    readings = gather(real.alexnet(data)).readings
    known = [r for r in readings if is_broken(r)]
    bad = {r.number for r in readings if r.standing is Standing.INFEASIBLE}
    yield {
        "kind": "diverged",
        "log": "alexnet",
        "trials": len(readings),
        "known": len(known),
        "found": sum(r.number in bad for r in known),
        "others": len(bad - {r.number for r in known}),
        "missed": [str(r.number) for r in known if r.number not in bad],
    }


def is_broken(reading: Reading) -> bool:
    """Whether any value of a trial is NaN or infinite."""
    return any(not np.all(np.isfinite(c.values)) for c in reading.record.curves.values())


def edges(data: Path) -> Rows:
    """DeepOBS's sweeps: where NaN and infinity begin, and the edge that is said."""
    for results in real.deepobs(data):
        evidence = gather(results)
        sweep = [r for r in evidence.readings if r.is_sampled]
        broken = [r for r in sweep if is_broken(r)]
        said = stability(evidence)
        rates = [float(r.record.trial.config["learning_rate"]) for r in sweep]  # type: ignore[arg-type]
        run = list(itertools.takewhile(is_broken, reversed(sweep)))
        yield {
            "kind": "edge",
            "log": results.study.name,
            "broken": len(broken),
            "found": sum(r.standing is Standing.INFEASIBLE for r in broken),
            "begins": rates[run[-1].number - 1] if run else None,
            "edge": said.numbers.get("edge"),
            "best": said.numbers.get("best"),
            "verdict": said.verdict.value,
        }


def boundary_winners(data: Path) -> Rows:
    winners = list(tabm(data))
    ends = Counter(
        (one.name.rpartition(".")[2], one.end) for w in winners for one in w.placed if one.end
    )
    names = Counter(one.name.rpartition(".")[2] for w in winners for one in w.placed)
    yield {
        "kind": "winners",
        "log": "tabm",
        "studies": len(winners),
        "near": sum(w.near_an_end for w in winners),
        "expected": round(sum(w.expected for w in winners), 1),
        "share": NEAR,
        "parameters": [
            [name, count, ends[name, "low"], ends[name, "high"]]
            for name, count in names.most_common()
        ],
    }


def unknown(data: Path) -> Rows:
    """Questions that stay unknown although the log has what they need."""
    logs = itertools.chain(random_searches(data), real.deepobs(data), real.algoperf(data))
    for results in logs:
        if len(results) < ENOUGH_TRIALS:
            continue
        evidence = gather(results)
        findings = examine(evidence)
        asked = [one for one in findings if is_answerable(evidence, one.question.key)]
        yield {
            "kind": "unknown",
            "log": results.study.name,
            "trials": len(results),
            "answerable": len(asked),
            "unknown": [o.question.key for o in asked if o.verdict is Verdict.UNKNOWN],
            "problem": [o.question.key for o in findings if o.verdict is Verdict.PROBLEM],
            "watch": [o.question.key for o in findings if o.verdict is Verdict.WATCH],
        }


def is_answerable(evidence: Evidence, key: str) -> bool:
    """Whether a log holds what a question reads. Most say nothing of code, clipping or warmup."""
    knobs = evidence.study.knobs
    if key in POINTS:
        points = [len(losses_of(evidence, arm.best)[0]) for arm in evidence.arms if arm.best]
        return max(points, default=0) >= POINTS[key]
    match key:
        case "code":
            return False
        case "clipping":
            return knobs.clipping is not None
        case "warmup":
            return knobs.warmup_steps is not None
        case "baseline":
            return knobs.chance is not None
        case "validation-size":
            return knobs.valid_examples is not None
        case "trial-variance":
            return bool(replicated(evidence))
        case "stability":
            return knobs.learning_rate is not None
        case "spikes" | "training-loss":
            return signal(evidence, "train_loss") is not None
    return True


PARTS = (
    best_of_k,
    diverged_algoperf,
    near_chance,
    diverged_alexnet,
    edges,
    boundary_winners,
    unknown,
)


def run(data: Path) -> Rows:
    for part in PARTS:
        for row in part(data):
            yield {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}
        print(part.__name__, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=real.DATA)
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"{options.data} is no folder: the results of real logs stay as they are.")
        return
    print(f"Wrote {save('logs', run(options.data))}")


if __name__ == "__main__":
    main()
