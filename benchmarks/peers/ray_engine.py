"""No-op trials that report, by Ray Tune on a warm Ray; run by `.venv-bench`'s Python.

Arguments: fresh or reuse (of actors), trials, reports, workers. It prints the seconds of `fit`; Ray
was started before, and has run as many trials as there are workers.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

# Ray tells of every trial on the terminal; it is not to wait for one.
os.environ["RAY_AIR_NEW_OUTPUT"] = "0"

import ray
from ray import tune


def fit(trials: int, reports: int, reuse: bool) -> float:
    def train(config: dict[str, float]) -> None:
        for _ in range(reports):
            tune.report({"loss": config["x"]})

    with tempfile.TemporaryDirectory() as folder:
        tuner = tune.Tuner(
            tune.with_resources(train, {"cpu": 1}),
            param_space={"x": tune.uniform(0.0, 1.0)},
            tune_config=tune.TuneConfig(num_samples=trials, reuse_actors=reuse),
            run_config=tune.RunConfig(storage_path=folder, verbose=0),
        )
        began = time.perf_counter()
        results = tuner.fit()
        spent = time.perf_counter() - began
        kept = [len(result.metrics_dataframe) for result in results]
        assert kept == [reports] * trials, kept
    return spent


def main() -> None:
    reuse, (trials, reports, workers) = sys.argv[1] == "reuse", map(int, sys.argv[2:])
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    fit(workers, reports, reuse)
    print(fit(trials, reports, reuse))
    ray.shutdown()


if __name__ == "__main__":
    main()
