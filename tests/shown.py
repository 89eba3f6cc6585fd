"""Results of every kind, and what a terminal shows of them."""

from __future__ import annotations

from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import RenderableType

from strategies import names, studies, texts, values
from tunebook.app import tables
from tunebook.core.curves import Curve
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting
from tunebook.core.study import Study
from tunebook.core.trials import Code, Listed, Outcome, OutcomeKind, Trial

outcomes = st.builds(Outcome, st.sampled_from(OutcomeKind), texts, detail=texts)
curves = st.lists(st.floats(), max_size=3).map(lambda found: Curve.of(range(len(found)), found))
configs = st.dictionaries(names | texts, values, max_size=3)
codes = st.builds(Code, *([st.none() | st.text("0123456789abcdef", min_size=40, max_size=40)] * 3))
attempts = st.builds(
    AttemptRecord,
    number=st.just(1),
    token=st.just("token"),
    folder=texts,
    outcome=st.none() | outcomes,
    seconds=st.floats(0, 1e6),
    resumed_at=st.none() | st.integers(0, 10**6),
    notes=st.lists(texts, max_size=2).map(tuple),
)


@st.composite
def results(draw: st.DrawFn, least: int = 0) -> Results:
    """A study of any kind with a few trials, whatever their names and endings are."""
    study = draw(studies())
    count = draw(st.integers(least, 4))
    return Results(study, tuple(draw(records(study, number)) for number in range(1, count + 1)))


@st.composite
def records(draw: st.DrawFn, study: Study, number: int) -> TrialRecord:
    """A trial of a study, in a setting that the study may or may not have."""
    pairs = draw(st.dictionaries(names, values, max_size=2))
    setting = Setting(tuple(sorted(pairs.items())))
    config = draw(configs)
    trial = Trial(study.name, number, setting, config, 0, Listed(number), draw(codes))
    metrics = st.sampled_from([study.objective.metric.name, "other"]) | texts
    return TrialRecord(
        trial,
        draw(st.lists(attempts, max_size=2).map(tuple)),
        draw(st.dictionaries(metrics, curves, max_size=2)),
    )


def screen(content: RenderableType, width: int = 80) -> list[str]:
    """The lines that a terminal of some width shows, without the blanks at their ends."""
    console = tables.console()
    console.width = width
    with console.capture() as captured:
        console.print(content)
    return [line.rstrip() for line in captured.get().split("\n")[:-1]]


def check_screen(lines: list[str], width: int = 80) -> None:
    """No line is too long, and none holds what could move the cursor."""
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if cell_len(line) > width] == []
