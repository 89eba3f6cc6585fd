"""The points of Optuna's QMCSampler as it comes, as JSON.

It reads {"seeds", "dimensions", "shared", "extra", "size"} from standard input and prints
{"flat": {dimensions: [points for each seed]}, "conditional": [[points of each arm] for each seed]}.
Nothing is set but the seed, which the sampler hands to its independent sampler.
"""

from __future__ import annotations

import json
import sys
import warnings

import optuna
from optuna.samplers import QMCSampler
from optuna.trial import Trial


def new_study(seed: int) -> optuna.Study:
    return optuna.create_study(sampler=QMCSampler(seed=seed))


def suggest(trial: Trial, prefix: str, count: int) -> list[float]:
    return [trial.suggest_float(f"{prefix}{number}", 0.0, 1.0) for number in range(count)]


def flat(seed: int, dimensions: int, size: int) -> list[list[float]]:
    study = new_study(seed)
    points = []
    for _ in range(size):
        trial = study.ask()
        points.append(suggest(trial, "x", dimensions))
        study.tell(trial, 0.0)
    return points


def conditional(seed: int, shared: int, extra: int, size: int) -> list[list[list[float]]]:
    """Define by run, as Optuna's users write it, until both arms have their trials."""
    study = new_study(seed)
    arms: list[list[list[float]]] = [[], []]
    while min(map(len, arms)) < size:
        trial = study.ask()
        arm = trial.suggest_categorical("arm", [0, 1])
        point = suggest(trial, "shared", shared)
        if arm == 1:
            point += suggest(trial, "extra", extra)
        arms[arm].append(point)
        study.tell(trial, 0.0)
    return [points[:size] for points in arms]


def main() -> None:
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    asked = json.load(sys.stdin)
    seeds, size = asked["seeds"], asked["size"]
    answer = {
        "flat": {
            dimensions: [flat(seed, dimensions, size) for seed in seeds]
            for dimensions in asked["dimensions"]
        },
        "conditional": [conditional(s, asked["shared"], asked["extra"], size) for s in seeds],
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
