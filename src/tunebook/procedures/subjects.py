"""What a procedure is about: a study whose knobs are known, and a configuration to vary."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from tunebook.core.domains import Choice, Value, same_value
from tunebook.core.errors import StudyError
from tunebook.core.expressions import evaluate, names_in
from tunebook.core.hashing import derive_seed
from tunebook.core.knobs import PARAMETER_KNOBS, Knobs
from tunebook.core.objective import Objective
from tunebook.core.results import Results
from tunebook.core.space import Config, Derived, Fixed, Parameter, Role, Space
from tunebook.core.study import Asked, Budget, Resources, Sampling, Study
from tunebook.procedures.needs import remedy
from tunebook.training.knobs import LOOP_DEFAULTS, LOOP_KNOBS, REGULARISERS

# The schedule that decays nothing, as the reference loop and most programs call it.
CONSTANT: Final = "constant"


@dataclass(frozen=True, slots=True)
class Subject:
    """A study, and the configuration from which a procedure varies it.

    `asked` goes with every study that the procedure makes, so that the book can tell what it was.
    `seen` is what the book has of the study itself: it may change an answer, never a stage. `where`
    is the option by which commands that are proposed find the book, if it is not the usual one.
    """

    asked: Asked
    seen: Results | None = None
    where: str = ""

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

    @property
    def file(self) -> str:
        """The study's file, as it stands in a command that is proposed."""
        return self.study.file or "STUDY.yaml"

    def name(self, knob: str) -> str:
        """The parameter or metric that plays a part, which the procedure cannot do without."""
        found: str | None = getattr(self.knobs, knob)
        if found is None:
            raise StudyError(
                f"the procedure needs {knob}, which no knob of {self.study.name} names: "
                f"{remedy(knob, self.study)}"
            )
        return found

    def value(self, knob: str) -> Value:
        """The value that a knob's parameter has at the start; None where it has none."""
        name = getattr(self.knobs, knob)
        return self.config.get(name) if name is not None else None

    def number(self, knob: str) -> float:
        """The same for a knob that the procedure multiplies and divides: a number above 0."""
        value = self.value(knob)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise StudyError(
                f"the procedure varies {getattr(self.knobs, knob)} around its value, "
                f"which is {value!r}; give it a number, in the study or by --set"
            )
        if not 0 < value < math.inf:
            raise StudyError(
                f"the procedure varies {getattr(self.knobs, knob)} by factors around its value, "
                f"which is {value!r}; give it one above 0, in the study or by --set"
            )
        return float(value)

    def constant_rate(self) -> dict[str, Value]:
        """What keeps the learning rate constant, where the program is known to be able to.

        A value that it does not know would make every trial fail.
        """
        name = self.knobs.schedule
        if name is None:
            return {}
        source = self.study.space[name].source if name in self.study.space else None
        offered = isinstance(source, Choice) and source.contains(CONSTANT)
        known = offered or self.study.task is not None or self.config.get(name) == CONSTANT
        return {name: CONSTANT} if known else {}

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
        seeds_of: str | None = None,
    ) -> Study:
        """A study that varies some parameters, and has all others at the start's values.

        Its settings are every combination of the varied values, each tried `replicates` times; the
        seeds are the same for every setting. With `seeds_of` they are those of another stage.
        """
        varied = [Parameter(n, Role.SCIENTIFIC, Choice(tuple(v))) for n, v in vary.items()]
        study = self._varied(stage, varied, fix or {}, steps)
        return replace(
            study,
            goal=goal,
            trials=replicates,
            objective=objective or study.objective,
            resources=resources or study.resources,
            seed=self._seed(seeds_of or stage),
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
        seeds_of: str | None = None,
    ) -> Study:
        """A study of these configurations, each with a seed of its own.

        With `seeds_of` they are the seeds of another stage.
        """
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
            seed=self._seed(seeds_of or stage),
        )

    def _seed(self, stage: str) -> int:
        """A stage's own seeds: no result may owe its luck to a seed that was selected before."""
        return derive_seed(self.study.seed, "procedure", self.asked.stage(stage))

    def _varied(
        self, stage: str, varied: Sequence[Parameter], fix: Config, steps: int | None
    ) -> Study:
        base, budget, own = self.study, self.study.budget, dict(fix)
        if steps is not None and self.knobs.steps is not None:
            own[self.knobs.steps] = steps
        elif steps is not None:
            budget = Budget(steps)
        name = self.asked.stage(stage)
        varying = {parameter.name for parameter in varied}
        given = [Parameter(n, Role.FIXED, Fixed(v)) for n, v in own.items() if n not in varying]
        others = _others(base.space, self.config, {*varying, *own})
        space = Space((*varied, *given, *others))
        return replace(
            base,
            name=name,
            space=space,
            knobs=within(base.knobs, space),
            budget=budget,
            more_trials=(),
            sampling=Sampling(),
            seed=self._seed(stage),
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


def _others(space: Space, fixed: Config, changed: Collection[str]) -> list[Parameter]:
    """All parameters that are not varied. What is computed from a changed one follows it."""
    kept = [
        p
        for p in space
        if p.name not in changed and _is_computed(p, fixed) and _follows(p, space, changed)
    ]
    names = {*changed, *(parameter.name for parameter in kept)}
    values = {name: value for name, value in fixed.items() if name not in names}
    return [*kept, *(Parameter(n, Role.FIXED, Fixed(v)) for n, v in values.items())]


def _is_computed(parameter: Parameter, config: Config) -> bool:
    """Whether a configuration has what a parameter is derived as, and no value of its own."""
    if not isinstance(parameter.source, Derived) or parameter.name not in config:
        return False
    expression = parameter.source.expression
    known = names_in(expression) <= config.keys()
    return known and same_value(evaluate(expression, config), config[parameter.name])


def _follows(parameter: Parameter, space: Space, changed: Collection[str]) -> bool:
    if not isinstance(parameter.source, Derived):
        return False
    return any(
        name in changed or (name in space and _follows(space[name], space, changed))
        for name in names_in(parameter.source.expression)
    )
