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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from opda.nonparametric import EmpiricalDistribution

import real
from answerable import ENOUGH_TRIALS, is_answerable
from boundary_winners import NEAR, tabm
from records import save
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Verdict
from tunebook.core.results import Results
from tunebook.diagnosis.diagnosing import examine
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.stability import stability
from tunebook.stats.best_of_k import expected_best, quantile_band, quantile_best

Rows: TypeAlias = Iterator[dict[str, Any]]
Part: TypeAlias = Callable[[Path], Rows]
# The name of a trial, whether it is known to be bad, and what gathering says.
Judged: TypeAlias = tuple[str, bool, Reading]

# A sample of this many trials is what a study affords; the rest of a log tells the truth.
SAMPLE = 64
CONFIDENCE = 0.95
# DeBERTa's trials that end below this accuracy are at chance (1/3); the next one ends at 0.44.
NEAR_CHANCE = 0.4


def random_searches(data: Path) -> Iterator[Results]:
    """The logs whose points were drawn at random."""
    yield real.deberta(data)
    yield real.alexnet(data)
    yield from real.taskset(data)


def beginning(results: Results, trials: int = ENOUGH_TRIALS) -> Results:
    """The first trials of a random search, which are a random search of that many."""
    study = replace(results.study, name=f"{results.study.name}-first-{trials}", trials=trials)
    return replace(results, study=study, trials=results.trials[:trials])


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
    judged: list[Judged] = []
    for results, group in zip(real.algoperf(data), groups, strict=True):
        known = group.select("trial_id", "nonfinite_train").iter_rows()
        for reading, (name, broken) in zip(gather(results).readings, known, strict=True):
            judged.append((name, broken is True, reading))
    yield _counted("algoperf", judged)


def near_chance(data: Path) -> Rows:
    """DeBERTa's trials by their last accuracy."""
    readings = gather(real.deberta(data)).readings
    last = [float(r.record.curves["valid/accuracy"].values[-1]) for r in readings]
    yield _counted(
        "deberta",
        [(str(r.number), x <= NEAR_CHANCE, r) for r, x in zip(readings, last, strict=True)],
    )


def diverged_alexnet(data: Path) -> Rows:
    readings = gather(real.alexnet(data)).readings
    yield _counted("alexnet", [(str(r.number), is_broken(r), r) for r in readings])


def _counted(log: str, judged: Sequence[Judged]) -> dict[str, Any]:
    """Trials that are known to be bad, by name, against what gathering says of them."""
    bad = [(name, r.standing is Standing.INFEASIBLE) for name, known, r in judged if known]
    others = [r for _, known, r in judged if not known and r.standing is Standing.INFEASIBLE]
    return {
        "kind": "diverged",
        "log": log,
        "trials": len(judged),
        "known": len(bad),
        "found": sum(found for _, found in bad),
        "others": len(others),
        "missed": [name for name, found in bad if not found],
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
            "first": rates[broken[0].number - 1] if broken else None,
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
    searches = list(random_searches(data))
    logs = itertools.chain(
        searches, map(beginning, searches), real.deepobs(data), real.algoperf(data)
    )
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


PARTS: tuple[Part, ...] = (
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
