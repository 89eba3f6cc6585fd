"""What a procedure is about: a study whose knobs are known, and a configuration to vary."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tunebook.core.domains import Choice, Value
from tunebook.core.errors import StudyError
from tunebook.core.expressions import names_in
from tunebook.core.hashing import derive_seed
from tunebook.core.knobs import PARAMETER_KNOBS, Knobs
from tunebook.core.objective import Objective
from tunebook.core.representation import number
from tunebook.core.results import Results
from tunebook.core.space import Config, Derived, Fixed, Parameter, Role, Space
from tunebook.core.study import Asked, Budget, Resources, Sampling, Study
from tunebook.training.knobs import LOOP_DEFAULTS, LOOP_KNOBS, REGULARISERS


@dataclass(frozen=True, slots=True)
class Subject:
    """A study, and the configuration from which a procedure varies it.

    `asked` goes with every study that the procedure makes, so that the book can tell what it was.
    """

    asked: Asked

    @property
    def study(self) -> Study:
        return self.asked.about

    @property
    def knobs(self) -> Knobs:
        return self.study.knobs

    @property
    def config(self) -> dict[str, Value]:
        return dict(self.asked.start)

    @property
    def steps(self) -> int | None:
        """The steps of a trial, where the study says them."""
        if self.knobs.steps is not None:
            given = self.config.get(self.knobs.steps)
            return int(given) if isinstance(given, int | float) else None
        budget = self.study.budget
        return int(budget.amount) if budget is not None and budget.unit == "steps" else None

    def value(self, knob: str) -> Value:
        """The value that a knob's parameter has at the start; None where it has none."""
        name = getattr(self.knobs, knob)
        return self.config.get(name) if name is not None else None

    def number(self, knob: str) -> float:
        """The same for a knob that the procedure cannot do without."""
        value = self.value(knob)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise StudyError(
                f"the procedure varies {getattr(self.knobs, knob)} around its value, "
                f"which is {value!r}; give it a number, in the study or by --set"
            )
        return float(value)

    def stage(
        self,
        stage: str,
        vary: Mapping[str, Sequence[Value]],
        fix: Config | None = None,
        *,
        goal: str,
        steps: int | None = None,
        replicates: int = 1,
        objective: Objective | None = None,
        resources: Resources | None = None,
    ) -> Study:
        """A study that varies some parameters, and has all others at the start's values.

        Its settings are every combination of the varied values, each tried `replicates` times; the
        seeds are the same for every setting.
        """
        varied = [Parameter(n, Role.SCIENTIFIC, Choice(tuple(v))) for n, v in vary.items()]
        study = self._varied(stage, varied, fix or {}, steps)
        return replace(
            study,
            goal=goal,
            trials=replicates,
            objective=objective or study.objective,
            resources=resources or study.resources,
        )

    def listed(
        self,
        stage: str,
        rows: Sequence[Config],
        fix: Config | None = None,
        *,
        goal: str,
        steps: int | None = None,
        objective: Objective | None = None,
    ) -> Study:
        """A study of these configurations, each with a seed of its own."""
        names = sorted({name for row in rows for name in row})
        values = {name: dict.fromkeys(row[name] for row in rows) for name in names}
        varied = [Parameter(n, Role.NUISANCE, Choice(tuple(v))) for n, v in values.items()]
        study = self._varied(stage, varied, fix or {}, steps)
        # Without a varied parameter the rows are replicates of one configuration.
        configs = tuple(tuple(row.items()) for row in rows)
        return replace(
            study,
            goal=goal,
            trials=len(rows),
            sampling=Sampling("list", configs=configs) if names else Sampling(),
            objective=objective or study.objective,
        )

    def _varied(
        self, stage: str, varied: Sequence[Parameter], fix: Config, steps: int | None
    ) -> Study:
        base, fixed, budget = self.study, {**self.config, **fix}, self.study.budget
        if steps is not None and self.knobs.steps is not None:
            fixed[self.knobs.steps] = steps
        elif steps is not None:
            budget = Budget(steps)
        name = self.asked.stage(stage)
        space = Space((*varied, *_others(base.space, fixed, {p.name for p in varied})))
        return replace(
            base,
            name=name,
            space=space,
            knobs=within(base.knobs, space),
            budget=budget,
            more_trials=(),
            sampling=Sampling(),
            # Its own seeds: a result must not owe its luck to a seed that was selected before.
            seed=derive_seed(base.seed, "procedure", name),
            parent=None,
            baseline=(),
            note="",
            asked=self.asked,
        )


def completed(study: Study) -> Study:
    """The study with every knob that can be known without asking: the reference loop's are."""
    if study.task is None:
        return study
    inherited = {name: value for name, value in study.baseline if name not in study.space}
    absent = {name: value for name, value in LOOP_DEFAULTS.items() if name not in study.space}
    added = {**absent, **inherited}
    space = study.space.edit({n: Parameter(n, Role.FIXED, Fixed(v)) for n, v in added.items()})
    given, known = study.knobs, within(LOOP_KNOBS, space)
    off = tuple((name, 0) for name in REGULARISERS if name in space)
    knobs = Knobs(
        **{f.name: getattr(given, f.name) or getattr(known, f.name) for f in fields(Knobs)}
    )
    knobs = replace(knobs, no_regularisation=given.no_regularisation or off)
    return replace(study, space=space, knobs=knobs, baseline=())


def within(knobs: Knobs, space: Space) -> Knobs:
    """Those knobs whose parameters a space has."""
    known = {name: getattr(knobs, name) for name in PARAMETER_KNOBS}
    changes: dict[str, Any] = {name: None for name, to in known.items() if to not in space}
    for name in ("no_regularisation", "no_augmentation"):
        changes[name] = tuple(pair for pair in getattr(knobs, name) if pair[0] in space)
    return replace(knobs, **changes)


def start(study: Study, results: Results | None, given: Config) -> tuple[dict[str, Value], str]:
    """The configuration to start from, and where it comes from.

    It is that of the best trial so far; before there is one, the baseline, and the middle of what
    the study searches. `given` values come first.
    """
    for name in given:
        if name not in study.space:
            study.space[name]  # raises, with the nearest name
    best = results.best() if results is not None else None
    if best is not None:
        record, measure = best
        config, source = (
            dict(record.trial.config),
            (
                f"trial {record.trial.number} of {study.name}, its best so far "
                f"({study.objective.metric.name} {number(measure.value)})"
            ),
        )
    else:
        setting = study.space.settings()[0]
        middle = {p.name: 0.5 for p in study.space.searched(setting)}
        baseline = dict(study.baseline)
        config = study.config(setting, middle)
        config |= {name: value for name, value in baseline.items() if name in config}
        searched = [name for name in middle if name not in baseline and name not in given]
        source = f"the values of {study.name}" + (
            f", with {', '.join(searched)} in the middle of their ranges" if searched else ""
        )
    config |= given
    if given:
        source += f", and {', '.join(f'{name}={value}' for name, value in given.items())} as given"
    return config, source


def _others(space: Space, fixed: Config, varied: Collection[str]) -> list[Parameter]:
    """All parameters that are not varied. What is computed from a varied one follows it."""
    kept = [p for p in space if p.name not in varied and _follows(p, space, varied)]
    names = {*varied, *(parameter.name for parameter in kept)}
    values = {name: value for name, value in fixed.items() if name not in names}
    return [*kept, *(Parameter(n, Role.FIXED, Fixed(v)) for n, v in values.items())]


def _follows(parameter: Parameter, space: Space, varied: Collection[str]) -> bool:
    if not isinstance(parameter.source, Derived):
        return False
    return any(
        name in varied or (name in space and _follows(space[name], space, varied))
        for name in names_in(parameter.source.expression)
    )
