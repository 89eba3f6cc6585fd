"""What a procedure must be able to turn and to read, and what to write where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.errors import StudyError
from tunebook.core.knobs import METRIC_KNOBS, PARAMETER_KNOBS
from tunebook.core.study import Study
from tunebook.training.knobs import LOOP_KNOBS


@dataclass(frozen=True, slots=True)
class Need:
    """A knob that a procedure uses. Without one that is not `required`, some answers are unknown.

    `knob` may also be `max_steps`, the steps of a trial.
    """

    knob: str
    use: str
    required: bool = True


MAX_STEPS: Final = "max_steps"
# How a study file says that a parameter plays a part, by knob; others follow the same pattern.
_PARAMETERS: Final = {
    "learning_rate": "lr: 0.001",
    "batch_size": "batch: 128",
    "warmup_steps": "warmup: 0",
    "clipping": "clip: null",
    "eval_interval": "eval_every: 100",
    "schedule": "schedule: constant",
    "seed_init": "init_seed: null",
    "seed_data": "data_seed: null",
    "seed_split": "split_seed: null",
}
# The names by which programs know the same parameters; the knob's own name is always one.
_USUAL: Final = {
    "learning_rate": ("lr",),
    "batch_size": ("batch",),
    "warmup_steps": ("warmup",),
    "clipping": ("clip", "clip_norm", "max_grad_norm", "grad_clip"),
    "eval_interval": ("eval_every",),
    "schedule": ("lr_schedule",),
    "seed_init": ("init_seed",),
    "seed_data": ("data_seed",),
    "seed_split": ("split_seed",),
    "steps": ("max_steps",),
}
_METRICS: Final = {
    "train_loss": "train/loss",
    "train_error": "train/error",
    "grad_norm": "grad_norm",
}
_OFF: Final = {"no_regularisation": "{dropout: 0}", "no_augmentation": "{augment: false}"}
_FACTS: Final = {"target": "0.05", "chance": "0.9", "valid_examples": "1000"}


def lacking(study: Study, needs: Sequence[Need]) -> tuple[Need, ...]:
    """Those needs that a study does not meet."""
    return tuple(need for need in needs if not _has(study, need.knob))


def check(procedure: str, study: Study, needs: Sequence[Need]) -> None:
    """Refuse a study that lacks what the procedure cannot do without, and say what to write."""
    missing = [need for need in lacking(study, needs) if need.required]
    if not missing:
        return
    lines = [f"the probe {procedure} cannot work on {study.name}:"]
    lines += [f"  it needs {need.knob}, {need.use}: {remedy(need.knob, study)}" for need in missing]
    raise StudyError("\n".join(lines))


def remedy(knob: str, study: Study | None = None) -> str:
    """The lines of a study file, or of a program, that would make a knob known.

    The reference loop knows some by its own names: for a study of a task a line less is needed. So
    it is where the study has a parameter that is called as usual: another would be one too many.

    >>> remedy("warmup_steps")
    "write 'warmup: 0' under fixed and 'warmup_steps: warmup' under knobs"
    """
    if (line := _named(knob, study)) is not None:
        return line
    if knob == MAX_STEPS:
        return "write 'max_steps: 2000', or name the parameter under knobs as 'steps'"
    if knob in METRIC_KNOBS:
        metric = _METRICS[knob]
        return f"{_logged(metric, study)} and write '{knob}: {metric}' under knobs"
    if knob in _OFF:
        return f"write '{knob}: {_OFF[knob]}' under knobs, with parameters of the program"
    if knob in _FACTS:
        return f"write '{knob}: {_FACTS[knob]}' under knobs"
    if study is not None and study.task is not None and getattr(LOOP_KNOBS, knob) is not None:
        return f"write '{getattr(LOOP_KNOBS, knob)}: {_fixed(knob, study)[1]}' under fixed"
    name, value = _fixed(knob, study)
    return f"write '{name}: {value}' under fixed and '{knob}: {name}' under knobs"


def _named(knob: str, study: Study | None) -> str | None:
    """The line that names a parameter which the study has; a task's loop goes by its own names."""
    part = "steps" if knob == MAX_STEPS else knob
    if study is None or part not in PARAMETER_KNOBS:
        return None
    if study.task is not None and (knob == MAX_STEPS or getattr(LOOP_KNOBS, part) is not None):
        return None
    names = (part, *_USUAL.get(part, ()))
    found = next((name for name in names if name in study.space), None)
    return None if found is None else f"write '{part}: {found}' under knobs"


def _fixed(knob: str, study: Study | None) -> tuple[str, str]:
    """A parameter for a knob, with a value that changes nothing.

    A seed that is null leaves the run's own in force; a command has no word for that.
    """
    name, _, value = _PARAMETERS.get(knob, f"{knob}: 1").partition(": ")
    is_seed = knob.startswith("seed_")
    is_command = study is not None and study.command is not None
    return name, "0" if is_seed and is_command else value


def _logged(metric: str, study: Study | None) -> str:
    """How a metric is made known by a program of this kind."""
    if study is not None and study.command is not None:
        return "let it write that where 'metrics' reads,"
    if study is not None and study.task is not None:
        return "the loop does not log it: train with a function,"
    return f"log it, 'run.log({{\"{metric}\": value}}, step=step)',"


def _has(study: Study, knob: str) -> bool:
    if knob == MAX_STEPS:
        by_budget = study.budget is not None and study.budget.unit == "steps"
        return by_budget or study.knobs.steps is not None
    return not study.knobs.missing(knob)
