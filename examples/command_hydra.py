"""A Hydra script: a tree of options, metrics as JSON lines in the run's folder."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import hydra
import numpy as np
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig

TOO_LARGE = 3


@dataclass
class Model:
    degree: int = 1
    basis: str = "powers"


@dataclass
class Config:
    model: Model = field(default_factory=Model)
    learning_rate: float = 0.1
    steps: int = 100
    seed: int = 0


ConfigStore.instance().store("config", Config)


@hydra.main(version_base=None, config_name="config")
def main(config: Config) -> None:
    random = np.random.default_rng(config.seed)
    x = random.uniform(-1, 1, 200)
    y = np.sin(3 * x) + random.normal(0, 0.1, 200)
    orders = range(config.model.degree + 1)
    if config.model.basis == "powers":
        features = np.array([x**k for k in orders])
    else:
        features = np.array([np.cos(k * np.pi * (x + 1) / 2) for k in orders])
    weights = np.zeros(len(features))
    with Path(HydraConfig.get().runtime.output_dir, "metrics.jsonl").open("w") as file:
        for step in range(config.steps):
            error = weights @ features - y
            if np.abs(weights).max() > 1e3:
                sys.exit(TOO_LARGE)
            row = {"step": step, "valid/loss": float(np.mean(error[100:] ** 2))}
            file.write(json.dumps(row) + "\n")
            weights -= config.learning_rate * features[:, :100] @ error[:100] / 100


main()
