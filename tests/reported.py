"""Reports for tests: one by hand, one whose every name is hostile, and any."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
from hypothesis import strategies as st

from shown import results
from strategies import texts
from tunebook.charts.figures import Axis, Figure, Line, Panel, Points, Table
from tunebook.core.curves import Curve
from tunebook.core.domains import Choice, Float
from tunebook.core.findings import Claim, Finding, Question, Verdict
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Space
from tunebook.core.study import Asked, Study
from tunebook.core.trials import FromSequence, Outcome, OutcomeKind, Trial
from tunebook.diagnosis import questions
from tunebook.diagnosis.gathering import gather
from tunebook.report.making import Comparison, Report, Stage, Whole, assemble

MADE = datetime(2026, 3, 4, 12, 30)
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\u202eright to left\u202c \u05d0\u05d1",
    "a|b [link](javascript:alert(1)) `code` https://evil.example/ \x1b[31m",
    "\"'>&amp;<b>{{ 7 * 7 }}",
)

PROBLEM = Finding(
    questions.SEARCH_SPACE,
    Verdict.PROBLEM,
    "4 of the best 5 trials lie in the top tenth of learning_rate.",
    "Expand it: learning_rate: {log: [1e-4, 1.0]}.",
    claims=(
        Claim("learning_rate, high side", Verdict.PROBLEM, 0.003, subject="learning_rate"),
        Claim("dropout, low side", Verdict.PROBLEM, 0.4, subject="dropout"),
        Claim("a fact", Verdict.WATCH),
    ),
    trials=(3, 7),
    numbers={"share": 0.8, "beyond": float("nan")},
    method="The best fifth against all trials, by permutation.",
)
WATCH = Finding(questions.SPIKES, Verdict.WATCH, "The loss jumps in 3 trials.", "Clip at 1.2.")
UNKNOWN = Finding(
    questions.TRIAL_VARIANCE, Verdict.UNKNOWN, "No configuration ran twice.", "Run 5 seeds."
)
WINNER = Finding(questions.WINNER, Verdict.GOOD, "model=cnn wins with a probability of 0.98.")
GOOD = Finding(questions.BASELINE, Verdict.GOOD, "0.1 is better than chance, 0.9.")
FINDINGS = (GOOD, UNKNOWN, WINNER, WATCH, PROBLEM)


def study(name: str = "model", metric: str = "valid/error", **details: object) -> Study:
    """Two models, tuned."""
    values = details.pop("values", ("mlp", "cnn"))
    space = Space.of(
        scientific={"model": Choice(values)},  # type: ignore[arg-type]
        nuisance={"learning_rate": Float(1e-4, 1e-1, log=True), "dropout": Float(0, 0.5)},
        fixed={"batch_size": 128},
    )
    objective = Objective(Metric(metric))
    goal = str(details.pop("goal", "Which model is better?"))
    return Study(name, space, objective, goal=goal, trials=4, **details)  # type: ignore[arg-type]


def records(of: Study, count: int = 8) -> Results:
    """So many trials of a study: the fifth diverged, the others are complete."""
    settings, metric = of.space.settings(), of.objective.metric.name
    made = []
    for i in range(count):
        setting = settings[i % 2]
        config = of.space.decode(
            setting, {"learning_rate": (i + 0.5) / count, "dropout": (i * 0.37) % 1}
        )
        trial = Trial(of.name, i + 1, setting, config, i, FromSequence(i // 2))
        outcome = Outcome(OutcomeKind.COMPLETE, "finished")
        if i == 4:
            outcome = Outcome(OutcomeKind.INFEASIBLE, f"{metric} is NaN")
        curves = {
            metric: Curve.of([10, 20, 30], [0.9, 0.5, 0.3 - i / 50]),
            "train/loss": Curve.of([10, 20, 30], [2.0, 1.0, 0.5 + i / 50]),
        }
        attempt = AttemptRecord(1, "token", "", outcome=outcome, seconds=1.5, last_step=30)
        made.append(TrialRecord(trial, (attempt,), curves))
    return Results(of, tuple(made))


def figure(key: str = "best-so-far", title: str = "Best so far", text: str = "It falls.") -> Figure:
    """A small picture with a table."""
    x = np.arange(1.0, 9.0)
    y = 0.3 - x / 50
    panel = Panel(
        Axis("trial"),
        Axis(text),
        (Points(x, y, 0, text, tuple(text for _ in x)), Line(x, y, 1, title, text)),
    )
    return Figure(key, title, text, (panel,), Table(("trial", title), (("1", text),)), text)


def axes(*names: str) -> Figure:
    """Axis plots with a panel for each parameter."""
    x = np.geomspace(1e-4, 1e-1, 8)
    panels = tuple(
        Panel(Axis(name, "log"), Axis("valid/error"), (Points(x, x),), name) for name in names
    )
    columns = ("parameter", "searched", "best trial", "best 5")
    rows = tuple((name, "0.0001 to 0.1 (log)", "0.05", "-") for name in names)
    return Figure("axes", "Along each parameter", "All of them.", panels, Table(columns, rows))


def by_hand(**details: object) -> Report:
    """A report with a finding of each verdict and two pictures."""
    evidence = gather(records(study()))
    given: dict[str, object] = {"made": MADE, "version": "1.2.3", **details}
    pictures = (axes("learning_rate", "dropout"), figure())
    return assemble(evidence, FINDINGS, pictures, **given)  # type: ignore[arg-type]


PROBES = (
    Finding(
        Question("probe-variance", "How much do results vary?", "variance"),
        Verdict.GOOD,
        "The standard deviation is 0.01.",
        method="by chi-square",
    ),
    Finding(
        Question("probe-seeds", "How many seeds?", "variance"), Verdict.WATCH, "It takes 40 seeds."
    ),
    Finding(
        Question("probe-sources", "Which sources?", "variance"),
        Verdict.UNKNOWN,
        "The split is not named.",
        "Write 'seed: 0' under fixed.",
    ),
)


def probed(*keys: str) -> Report:
    """A report on a stage of a probe, with pictures of these questions."""
    of = study("model.variance.all", goal="How much do results vary?")
    asked = Asked("variance", study(), (("dropout", 0.1),), "trial 3 of model")
    evidence = gather(records(replace(of, asked=asked)))
    pictures = [figure(key, f"Picture of {key}") for key in keys]
    stages = (
        Stage("model.variance.same", "Are equal runs equal?", {"complete": 12}),
        Stage("model.variance.all", "How much do results vary?", {"complete": 7, "infeasible": 1}),
    )
    changes = ("@@ -2 +2 @@", "-dropout: 0.1", "+dropout: 0.2")
    whole = Whole(stages, changes, ("learning_rate",))
    return assemble(evidence, PROBES, pictures, made=MADE, version="1.2.3", whole=whole)


def compared() -> Report:
    """The same beside another study."""
    other = assemble(gather(records(study("other"), 6)), (GOOD,))
    return by_hand(comparison=Comparison(other, ("+ depth: fixed at 3",), (figure("compare"),)))


def hostile() -> Report:
    """A report in which every name and text that others choose means harm."""
    image, script, turned, markup, quotes = HOSTILE
    of = study(metric=image, values=(script, turned), goal=markup, note=quotes, file=image)
    question = questions.SEARCH_SPACE
    finding = Finding(
        question,
        Verdict.PROBLEM,
        f"{image} and {turned}",
        script,
        claims=(Claim(quotes, Verdict.WATCH, 0.1, subject=image),),
        numbers={script: 1.0},
        method=markup,
    )
    good = Finding(questions.BASELINE, Verdict.GOOD, quotes, claims=(Claim(image, Verdict.GOOD),))
    pictures = (figure(title=image, text=script), figure("two", title=turned, text=quotes))
    other = assemble(gather(records(of)), (good,))
    comparison = Comparison(other, (image, script), (figure("three", markup, turned),))
    evidence = gather(records(of))
    whole = Whole((Stage(image, markup, {script: 1}),), (f"+{script}", turned), (quotes,))
    return assemble(
        evidence,
        (finding, good),
        pictures,
        comparison=comparison,
        version=script,
        whole=whole,
    )


_numbers = st.dictionaries(texts, st.floats(), max_size=2)
_claims = st.builds(
    Claim, texts, st.sampled_from(Verdict), st.none() | st.floats(0, 1), texts, texts
)
_findings = st.builds(
    Finding,
    st.sampled_from([q for q in vars(questions).values() if isinstance(q, Question)]),
    st.sampled_from(Verdict),
    texts,
    texts,
    claims=st.lists(_claims, max_size=2).map(tuple),
    trials=st.lists(st.integers(1, 99), max_size=3).map(tuple),
    numbers=_numbers,
    method=texts,
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A report on any study, whatever its names, trials and findings are."""
    evidence = gather(draw(results()))
    found = draw(st.lists(_findings, max_size=4, unique_by=lambda f: f.question.key))
    pictures = [figure(title=draw(texts), text=draw(texts))] if draw(st.booleans()) else []
    return assemble(evidence, found, pictures, version=draw(texts))
