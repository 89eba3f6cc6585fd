"""Public tuning logs as results: what real studies look like. No data is part of the project.

Each loader takes the folder of the logs. Trials keep the order and the values of their source;
points that were drawn at random count as sampled, repeated configurations as replicates.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tunebook.core.curves import Curve
from tunebook.core.domains import Choice, Domain, Float, Int, Value
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
from tunebook.core.study import Study
from tunebook.core.trials import (
    Imported,
    Listed,
    Origin,
    Outcome,
    OutcomeKind,
    Replicate,
    Trial,
)

DATA = Path(__file__).parents[2] / "shared" / "data"
FINISHED = Outcome(OutcomeKind.COMPLETE, "finished")


@dataclass(frozen=True)
class Row:
    """One trial of a log."""

    config: Mapping[str, Value]
    curves: Mapping[str, Curve]
    of: int | None = None  # the number of the trial that this one repeats
    listed: bool = False


def results(study: Study, rows: Sequence[Row]) -> Results:
    """A study with the trials of a log, all of which ended by themselves."""
    return Results(study, tuple(_record(study, i, row) for i, row in enumerate(rows)))


def _record(study: Study, index: int, row: Row) -> TrialRecord:
    origin: Origin = Imported(index, "log")
    if row.of is not None:
        origin = Replicate(index, row.of)
    elif row.listed:
        origin = Listed(index)
    last = max((int(c.steps[-1]) for c in row.curves.values() if len(c)), default=-1)
    wanted = {p.name for p in study.space if p.makes_settings}
    setting = Setting(tuple((n, v) for n, v in row.config.items() if n in wanted))
    trial = Trial(study.name, index + 1, setting, dict(row.config), index, origin)
    attempt = AttemptRecord(1, "log", "", outcome=FINISHED, last_step=last)
    return TrialRecord(trial, (attempt,), dict(row.curves))


def deberta(data: Path = DATA) -> Results:
    """DeBERTa on MultiNLI by random search: 1,024 trials, 264 of which end near chance."""
    space = Space.of(
        nuisance={
            "num_train_epochs": Int(1, 4),
            "train_batch_size": Int(16, 64),
            "learning_rate": Float(1e-6, 1e-3, log=True),
            "warmup_share": Float(0.0, 0.6),
            "cls_drop_out": Float(0.0, 0.3),
        }
    )
    study = Study(
        "deberta",
        space,
        Objective(Metric("valid/accuracy", "higher")),
        trials=1024,
        knobs=Knobs(
            learning_rate="learning_rate",
            batch_size="train_batch_size",
            steps="num_train_epochs",
            chance=1 / 3,
            valid_examples=9815,
        ),
    )
    rows = []
    for line in _lines(data / "opda" / "deberta" / "deberta-base_tuning.results.jsonl"):
        epoch = line["total_model_steps"] / line["num_train_epochs"]
        config = {name: line[name] for name in space.names if name != "warmup_share"}
        config["warmup_share"] = min(line["warmup_steps"] / epoch, 0.6)
        steps, values = zip(*line["learning_curves"]["matched"], strict=True)
        rows.append(Row(config, {"valid/accuracy": Curve.of(steps, values)}))
    return results(study, rows)


def alexnet(data: Path = DATA) -> Results:
    """AlexNet on ImageNet by random search: 512 trials, 147 with a NaN, 49 without a curve."""
    space = Space.of(
        nuisance={
            "epochs": Int(20, 100),
            "batch_size": [128, 256, 512, 1024],
            "lr": Float(5e-3, 5e1, log=True),
            "lr_peak": Float(0.0, 0.8),
            "momentum": Float(0.7, 1.0),
            "weight_decay": Float(1e-6, 1e-3, log=True),
            "label_smoothing": Float(0.0, 0.5),
        }
    )
    study = Study(
        "alexnet",
        space,
        Objective(Metric("valid/top_1", "higher")),
        trials=512,
        knobs=Knobs(
            learning_rate="lr",
            batch_size="batch_size",
            steps="epochs",
            train_loss="train/loss",
            chance=0.001,
            valid_examples=50_000,
        ),
    )
    rows = []
    for line in _lines(data / "opda" / "alexnet" / "alexnet_tuning.results.jsonl"):
        config = {name: line[name] for name in space.names if name != "lr_peak"}
        config["lr_peak"] = min(line["lr_peak_epoch"] / line["epochs"], 0.8)
        curve = line["learning_curve"]
        epochs = [point["epoch"] + 1 for point in curve]
        curves = {
            "valid/top_1": Curve.of(epochs, [_number(point["top_1"]) for point in curve]),
            "train/loss": Curve.of(epochs, [_number(point["train_loss"]) for point in curve]),
        }
        if line["nan_train_loss"]:
            # What the log says of a trial without a curve: a NaN came before the first epoch ended.
            end = epochs[-1] + 1 if epochs else 1
            curves = {
                name: c.then(Curve.of([end], [math.nan], [0.0])) for name, c in curves.items()
            }
        rows.append(Row(config, curves))
    return results(study, rows)


def taskset(data: Path = DATA) -> Iterator[Results]:
    """Four recurrent networks on text with 1,000 settings of Adam each."""
    scales: dict[str, Domain] = {
        "learning_rate": Float(1e-8, 1e1, log=True),
        "beta1": Float(0.0, 1.0),
        "beta2": Float(0.0, 1.0),
        "epsilon": Float(1e-10, 1e3, log=True),
        "l1": Float(1e-8, 1e1, log=True),
        "l2": Float(1e-8, 1e1, log=True),
        "linear_decay": Float(1e-7, 1e-4, log=True),
        "exponential_decay": Float(1e-6, 1e-3, log=True),
    }
    for file in sorted((data / "taskset").glob("*.json.gz")):
        study = Study(
            "taskset-" + file.name.removesuffix(".json.gz").split("imdb_")[-1],
            Space.of(nuisance=scales),
            Objective(Metric("valid/loss")),
            trials=1000,
            knobs=Knobs(learning_rate="learning_rate", train_loss="train/loss", chance=math.log(2)),
        )
        rows = []
        with gzip.open(file, "rt") as stream:
            for entry in json.load(stream):
                curves = {
                    f"{part}/loss": Curve.of(
                        np.arange(len(entry[part]["loss"])) * 200 + 1,
                        [_number(value) for value in entry[part]["loss"]],
                    )
                    for part in ("train", "valid")
                }
                config = {name: _within(scales[name], entry["hp"][name]) for name in scales}
                rows.append(Row(config, curves))
        yield results(study, rows)


def deepobs(data: Path = DATA) -> Iterator[Results]:
    """Learning-rate sweeps of 36 points, with nine more seeds at the best rate of each."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in _lines(data / "deepobs" / "epoch_curves.jsonl.gz"):
        grouped.setdefault((line["testproblem"], line["optimizer"]), []).append(line)
    for (problem, optimizer), lines in sorted(grouped.items()):
        sweep = sorted(
            (x for x in lines if x["random_seed"] == 42), key=lambda x: x["learning_rate"]
        )
        seeds = [x for x in lines if x["random_seed"] != 42]
        rates = [float(x["learning_rate"]) for x in sweep]
        has_accuracy = bool(sweep[0].get("test_accuracies"))
        metric = Metric("valid/accuracy", "higher") if has_accuracy else Metric("valid/loss")
        study = Study(
            f"deepobs-{problem}-{optimizer.removesuffix('Optimizer').lower()}",
            Space.of(
                nuisance={"learning_rate": Float(rates[0], rates[-1], log=True)},
                fixed={"batch_size": sweep[0]["batch_size"]},
            ),
            Objective(metric),
            trials=len(sweep),
            knobs=Knobs(
                learning_rate="learning_rate", batch_size="batch_size", train_loss="train/loss"
            ),
        )
        rows = [
            Row({"learning_rate": r, **_batch(x)}, _epochs(x))
            for r, x in zip(rates, sweep, strict=True)
        ]
        for line in seeds:
            near = int(np.argmin(np.abs(np.log(rates) - np.log(float(line["learning_rate"])))))
            config = {"learning_rate": rates[near], **_batch(line)}
            rows.append(Row(config, _epochs(line), of=near + 1))
        yield results(study, rows)


def _batch(line: Mapping[str, Any]) -> dict[str, Value]:
    return {"batch_size": line["batch_size"]}


def _epochs(line: Mapping[str, Any]) -> dict[str, Curve]:
    names = {
        "train/loss": "train_losses",
        "valid/loss": "test_losses",
        "train/accuracy": "train_accuracies",
        "valid/accuracy": "test_accuracies",
    }
    return {
        name: Curve.of(np.arange(len(line[key])), [_number(value) for value in line[key]])
        for name, key in names.items()
        if line.get(key)
    }


def algoperf(data: Path = DATA) -> Iterator[Results]:
    """Five configurations, five times each, of every submission and workload."""
    folder = data / "algoperf"
    trials = pl.read_csv(folder / "trials.csv.gz")
    evals = pl.read_parquet(folder / "eval_measurements.parquet").partition_by(
        "trial_id", as_dict=True
    )
    steps = pl.read_parquet(folder / "train_measurements.parquet").partition_by(
        "trial_id", as_dict=True
    )
    keys = ["version", "ruleset", "submission", "workload", "framework"]
    for names, group in trials.partition_by(keys, as_dict=True).items():
        yield _algoperf(names, group.sort("study", "trial"), evals, steps)


def _algoperf(
    names: tuple[Any, ...], group: pl.DataFrame, evals: dict[Any, Any], steps: dict[Any, Any]
) -> Results:
    target = group["target_metric_name"][0]
    better = "lower" if target in ("wer", "loss") else "higher"
    rows, first = [], {}
    for index, line in enumerate(group.iter_rows(named=True)):
        config = json.loads(line["hparams"] or "{}")
        config = {k: v for k, v in config.items() if isinstance(v, int | float | str | bool)}
        key = json.dumps(config, sort_keys=True)
        of = first.setdefault(key, index + 1)
        curves = _columns(
            evals.get((line["trial_id"],)),
            f"validation/{target}",
            "validation/loss",
            "validation/ctc_loss",
        )
        train = _columns(steps.get((line["trial_id"],)), "loss", "grad_norm")
        curves |= {{"loss": "train/loss"}.get(name, name): c for name, c in train.items()}
        rows.append(Row(config, curves, of=None if of == index + 1 else of, listed=True))
    known = sorted({name for row in rows for name in row.config})
    parameters = {
        name: sorted({row.config[name] for row in rows if name in row.config}, key=repr)
        for name in known
    }
    varied = {name: values for name, values in parameters.items() if len(values) > 1}
    rate = "learning_rate" if "learning_rate" in known else None
    study = Study(
        "-".join(str(name) for name in names)[:100],
        Space.of(
            nuisance={name: _listed(values) for name, values in varied.items()},
            fixed={name: values[0] for name, values in parameters.items() if name not in varied},
        ),
        Objective(Metric(f"validation/{target}", better)),
        trials=len(rows),
        knobs=Knobs(learning_rate=rate, train_loss="train/loss", grad_norm="grad_norm"),
    )
    return results(study, rows)


def _columns(table: pl.DataFrame | None, *names: str) -> dict[str, Curve]:
    """Curves of a table: blank cells, which follow a divergence, are NaN."""
    if table is None:
        return {}
    table = table.unique("global_step", keep="last").sort("global_step")
    found = {}
    for name in names:
        if name not in table.columns or table[name].null_count() == table.height:
            continue
        values = table[name].cast(pl.Float64).to_numpy().astype(float)
        found[name] = Curve.of(table["global_step"].to_numpy(), values)
    return found


def _listed(values: Sequence[Value]) -> Domain:
    """The domain of a few values that a log holds: a range where they are numbers."""
    if any(isinstance(value, bool | str) for value in values) or len(values) < 3:
        return Choice(tuple(values))
    low, high = float(min(values)), float(max(values))  # type: ignore[type-var, arg-type]
    return Float(low, high, log=low > 0 and high / low > 30)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as stream:
        for line in stream:
            yield json.loads(line)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _within(domain: Domain, value: float) -> float:
    assert isinstance(domain, Float)
    return min(max(value, domain.low), domain.high)


def segment(data: Path = DATA, trials: int = 48, seed: int = 0) -> Results:
    """A study drawn from a complete table: a small network on `segment`, its depth in question.

    Every depth gets the same configurations, each with the result of one of five seeds.
    """
    names = ("alpha", "batch_size", "learning_rate_init", "width")
    table = pl.read_parquet(data / "hpo_tabular" / "hpobench_segment.parquet")
    levels = {name: sorted(table[name].unique().to_list()) for name in names}
    depths = sorted(table["depth"].unique().to_list())
    study = Study(
        "segment-depth",
        Space.of(
            scientific={"depth": depths},
            nuisance={
                name: (Int if name in ("batch_size", "width") else Float)(v[0], v[-1], log=True)
                for name, v in levels.items()
            },
        ),
        Objective(Metric("valid/error")),
        goal="Does a deeper network lower the validation error?",
        trials=trials,
        knobs=Knobs(learning_rate="learning_rate_init", batch_size="batch_size"),
    )
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(trials):
        config = {name: levels[name][rng.integers(len(levels[name]))] for name in names}
        column = f"val_acc_seed{rng.integers(5)}"
        for depth in depths:
            row = table.row(by_predicate=_equals({**config, "depth": depth}), named=True)
            error = Curve.of([1], [1.0 - float(row[column])])
            rows.append(Row({**config, "depth": depth}, {"valid/error": error}))
    return results(study, rows)


def _equals(values: Mapping[str, Value]) -> pl.Expr:
    return pl.all_horizontal(pl.col(name) == value for name, value in values.items())
