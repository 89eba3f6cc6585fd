"""The report as a value: what was found, what was seen, and the facts they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tunebook.charts.comparison import compare
from tunebook.charts.figures import Figure
from tunebook.charts.gallery import figures
from tunebook.core.domains import Value
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Finding, Verdict
from tunebook.core.objective import Objective
from tunebook.core.results import RUNNING, Results
from tunebook.core.space import Config, Fixed, Setting
from tunebook.core.study import Study
from tunebook.diagnosis.diagnosing import examine
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.surfaces import tuned
from tunebook.stats.optima import Optimum
from tunebook.stats.threads import one_thread

MOST_BEST = 10
# Grids and lists have as many trials as they have points; the others as many as the study says.
_COUNTED = ("halton", "sobol", "random")


@dataclass(frozen=True, slots=True)
class Row:
    """A trial as a report shows it: how it ended, and what that is worth to analysis."""

    number: int
    setting: Setting
    config: Config
    status: str
    standing: Standing
    value: float | None
    step: int | None
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Arm:
    """A setting as a report shows it: its trials by outcome, and its best one."""

    setting: Setting
    outcomes: Mapping[str, int]
    measured: int
    best: Row | None


@dataclass(frozen=True, slots=True)
class Stage:
    """One study of a probe as its report shows it."""

    name: str
    goal: str
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Whole:
    """What the report on a probe rests on and leads to.

    `changes` are the lines of the difference between the study's file and the one that is
    proposed; `retune` names what must be tuned again after that.
    """

    stages: tuple[Stage, ...] = ()
    changes: tuple[str, ...] = ()
    retune: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Another study beside the one that a report is about, under the same objective."""

    other: Report
    differences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Report:
    """What a study has to say at one moment.

    Findings are in order, worst first; those of a probe as it gives its answers. `rows` are all
    trials by number, `best` those with the best results; `planned` is how many trials there will
    be, where that is known. On a probe, `study` is a stage, whose trials they are, and `whole`
    tells of the others.
    """

    study: Study
    objective: Objective
    findings: tuple[Finding, ...]
    figures: tuple[Figure, ...]
    rows: tuple[Row, ...]
    best: tuple[Row, ...]
    arms: tuple[Arm, ...]
    outcomes: Mapping[str, int]
    planned: int | None = None
    comparison: Comparison | None = None
    made: datetime | None = None
    version: str = ""
    whole: Whole = Whole()

    @property
    def name(self) -> str:
        """The study, or the probe that it is a stage of."""
        asked = self.study.asked
        return self.study.name if asked is None else asked.stage("").removesuffix(".")

    @property
    def tally(self) -> dict[Verdict, int]:
        """How many findings have which verdict, worst first."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def running(self) -> int:
        return self.outcomes.get(RUNNING, 0)

    @property
    def is_finished(self) -> bool:
        """Whether every trial that was planned has ended for good."""
        pending = sum(row.standing is Standing.PENDING for row in self.rows)
        return not pending and len(self.rows) >= (self.planned or 1)

    @property
    def fixed(self) -> dict[str, Value]:
        """Values that the whole study shares: the conclusions hold under them."""
        own = {p.name: p.source.value for p in self.study.space if isinstance(p.source, Fixed)}
        return {**{n: v for n, v in self.study.baseline if n not in self.study.space}, **own}

    def with_verdict(self, *verdicts: Verdict) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict in verdicts)

    @property
    def is_of_probe(self) -> bool:
        """Whether it answers the question of a probe, of which the study is a stage."""
        return self.study.asked is not None

    @property
    def raised(self) -> tuple[Finding, ...]:
        """What is told in full: what speaks against the study; of a probe, all its answers."""
        if self.is_of_probe:
            return self.findings
        return self.with_verdict(Verdict.PROBLEM, Verdict.WATCH)

    @property
    def unknown(self) -> tuple[Finding, ...]:
        """Questions that the trials cannot answer."""
        return () if self.is_of_probe else self.with_verdict(Verdict.UNKNOWN)

    @property
    def calm(self) -> tuple[Finding, ...]:
        """Questions with good answers, of which few words are made."""
        return () if self.is_of_probe else self.with_verdict(Verdict.GOOD)

    def __str__(self) -> str:
        from tunebook.report import terminal

        return terminal.text(self)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.tally.items() if count)
        return f"Report({self.name}, {counts or 'no findings'})"

    def _repr_html_(self) -> str:
        from tunebook.report import html

        return html.framed(self)


def make(
    results: Results,
    objective: Objective | None = None,
    *,
    against: Results | None = None,
    made: datetime | None = None,
    version: str = "",
) -> Report:
    """The report on a study, under its own objective or another one, and beside another study."""
    with one_thread():
        evidence = gather(results, objective)
        comparison = _compare(evidence, against, version) if against is not None else None
        findings = examine(evidence)
        pictures = figures(evidence, _optima(evidence))
    return assemble(evidence, findings, pictures, comparison=comparison, made=made, version=version)


def _optima(evidence: Evidence) -> dict[Setting, Optimum] | None:
    """What the models behind the verdicts say of each setting: its whiskers in the pictures."""
    models = tuned(evidence)
    if models is None:
        return None
    settings = (arm.setting for arm in models.arms)
    return dict(zip(settings, models.contest.optima, strict=True))


def assemble(
    evidence: Evidence,
    findings: Sequence[Finding],
    figures: Sequence[Figure] = (),
    *,
    comparison: Comparison | None = None,
    made: datetime | None = None,
    version: str = "",
    whole: Whole | None = None,
) -> Report:
    """A report from its parts."""
    study = evidence.study
    rows = {reading.number: _row(reading) for reading in evidence.readings}
    if study.asked is None:
        findings = sorted(findings, key=lambda finding: finding.verdict.rank)
    return Report(
        study,
        evidence.objective,
        tuple(findings),
        tuple(figures),
        tuple(rows.values()),
        tuple(rows[reading.number] for reading in evidence.ranked[:MOST_BEST]),
        tuple(
            Arm(
                arm.setting,
                evidence.results.counts(arm.setting),
                len(arm.measured),
                rows[arm.best.number] if arm.best else None,
            )
            for arm in evidence.arms
        ),
        evidence.results.counts(),
        _planned(study),
        comparison,
        made,
        version,
        whole or Whole(),
    )


def _compare(evidence: Evidence, against: Results, version: str) -> Comparison:
    other = gather(against, evidence.objective)
    return Comparison(
        assemble(other, examine(other), version=version),
        evidence.study.difference(against.study),
        compare(evidence, other),
    )


def _row(reading: Reading) -> Row:
    record = reading.record
    return Row(
        reading.number,
        record.trial.setting,
        record.trial.config,
        record.status,
        reading.standing,
        reading.value,
        reading.step,
        record.seconds,
        reading.why,
    )


def _planned(study: Study) -> int | None:
    # A script that tracks itself has no space, and nobody has said how often it will run.
    if study.sampling.method not in _COUNTED or not study.space.parameters:
        return None
    return sum(study.trials_for(setting) for setting in study.space.settings())
