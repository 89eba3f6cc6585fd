"""The shape of a whole study file, and the JSON Schema made from it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.json_schema import GenerateJsonSchema

from tunebook.studyfile.contents import (
    LIST,
    MAPPING,
    PLAIN,
    Number,
    Trials,
    Value,
    Values,
    Whole,
    mapping_or_plain,
)
from tunebook.studyfile.parts import (
    Choices,
    Constraint,
    Derivation,
    Divergence,
    Held,
    Knobs,
    Method,
    Metrics,
    MoreTrials,
    Objective,
    Overrides,
    Part,
    Range,
    Resources,
    Sampling,
    Style,
)

CHOICES, RANGE = "<choices>", "<range>"


def _kind_of_source(content: Any) -> str:
    if isinstance(content, dict) and "values" in content:
        return CHOICES
    return LIST if isinstance(content, list) else RANGE


Source: TypeAlias = Annotated[
    Annotated[list[Value], Tag(LIST)]
    | Annotated[Choices, Tag(CHOICES)]
    | Annotated[Range, Tag(RANGE)],
    Discriminator(_kind_of_source),
]
FixedValue: TypeAlias = Annotated[
    Annotated[Value, Tag(PLAIN)] | Annotated[Held, Tag(MAPPING)], Discriminator(mapping_or_plain)
]
Expression: TypeAlias = Annotated[
    Annotated[str, Tag(PLAIN)] | Annotated[Derivation, Tag(MAPPING)],
    Discriminator(mapping_or_plain),
]
SamplingMethod: TypeAlias = Annotated[
    Annotated[Method, Tag(PLAIN)] | Annotated[Sampling, Tag(MAPPING)],
    Discriminator(mapping_or_plain),
]


OverrideStyle: TypeAlias = Annotated[
    Annotated[Style, Tag(PLAIN)] | Annotated[Overrides, Tag(MAPPING)],
    Discriminator(mapping_or_plain),
]


class StudyFile(Part):
    """One question, the space in which it is asked, and what may be spent on the answer."""

    model_config = ConfigDict(title="A study of tunebook")

    study: str
    """The study's name: letters, digits, '_', '.' and '-'."""
    goal: str = ""
    """The one question that this study answers."""
    note: str = ""
    """Anything worth remembering."""
    parent: str | None = None
    """The study that this one follows."""
    program: str | None = None
    """The training function, such as train.py:train."""
    task: str | None = None
    """A task for the reference loop, such as tunebook.training.tasks:mnist1d."""
    command: list[str] | None = None
    """A training script as a list of arguments: [python, train.py, "{overrides}"]."""
    overrides: OverrideStyle = "dashes"
    """How a command is passed its parameters: a word, or a mapping such as {style: hydra}."""
    metrics: Metrics = Metrics()
    """Where a command's metrics are found, such as {json_lines: stdout}."""
    infeasible_exit_codes: list[Whole] = Field(default_factory=list)
    """Exit codes by which a command says that its configuration cannot work."""
    objective: Objective
    """What the study optimises, such as {metric: valid/error, better: lower}."""
    max_steps: Number | None = None
    """The training steps that one trial may take."""
    max_examples: Number | None = None
    """The training examples that one trial may see."""
    max_seconds: Number | None = None
    """The seconds that one trial may take."""
    scientific: dict[str, Source] = Field(default_factory=dict)
    """Parameters whose effect is the question: a list of values, or a range."""
    nuisance: dict[str, Source] = Field(default_factory=dict)
    """Parameters tuned for a fair comparison, such as {learning_rate: {log: [1e-4, 1e-1]}}."""
    fixed: dict[str, FixedValue] = Field(default_factory=dict)
    """Parameters with one value, on which the conclusions will depend."""
    derive: dict[str, Expression] = Field(default_factory=dict)
    """Parameters computed from others, such as {momentum: 1 - one_minus_momentum}."""
    knobs: Knobs = Knobs()
    """Which parameter or metric plays which part."""
    trials: Trials = 20
    """How many trials each setting of the scientific parameters gets."""
    more_trials: list[MoreTrials] = Field(default_factory=list)
    """Settings that get more trials, such as {when: {optimizer: adam}, trials: 40}."""
    resources: Resources = Resources()
    """What one trial needs, such as {cpus: 2, memory: 4GB}."""
    divergence: Divergence = Divergence()
    """When a trial counts as diverged."""
    sampling: SamplingMethod = "halton"
    """How configurations are chosen: a word, or a mapping such as {method: grid, points: 5}."""
    seed: Whole = 0
    """The seed from which all points and trial seeds follow."""
    baseline: Values = Field(default_factory=dict)
    """Values in force for parameters that this study does not name."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_empty_keys(cls, content: dict[str, Any]) -> dict[str, Any]:
        """`nuisance:` with nothing under it is how a section looks when its lines are comments."""
        return {key: value for key, value in content.items() if value is not None}


class _WithoutTitles(GenerateJsonSchema):
    """An editor shows a title in place of the description: "Max Steps" says nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """The JSON Schema of study files, for editors and other tools."""
    content = StudyFile.model_json_schema(schema_generator=_WithoutTitles)
    return {"$schema": _WithoutTitles.schema_dialect, **content}


def keys_at(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that the mapping at the path of a pydantic error may have.

    >>> keys_at(("objective", "constraints", 0))
    ('metric', 'at_most', 'at_least')
    """
    match path:
        case (("scientific" | "nuisance"), _, tag) if tag == RANGE:
            return (*Range.model_fields, "values")
        case ("objective", "constraints", _):
            model: type[Part] = Constraint
        case ("fixed", _, _):
            model = Held
        case ("derive", _, _):
            model = Derivation
        case ("scientific" | "nuisance", _, _):
            model = Choices
        case ("more_trials", _):
            model = MoreTrials
        case (str() as key, *_):
            model = _SECTIONS[key]
        case _:
            model = StudyFile
    return tuple(model.model_fields)


_SECTIONS: dict[str, type[Part]] = {
    "objective": Objective,
    "knobs": Knobs,
    "resources": Resources,
    "divergence": Divergence,
    "sampling": Sampling,
    "overrides": Overrides,
    "metrics": Metrics,
}
