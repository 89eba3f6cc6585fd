"""Results with any values in them, for tests of what is written for other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from searchable import study_in
from strategies import texts
from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
from tunebook.core.trials import FromSequence, Outcome, OutcomeKind, Trial

COMPLETE = Outcome(OutcomeKind.COMPLETE, "it ended")

floats = st.floats(allow_nan=True, allow_infinity=True)
whole = st.integers(-(2**63), 2**63 - 1)


def results_of(
    configs: Sequence[Mapping[str, Value]],
    curves: Sequence[Mapping[str, Curve]] = (),
    reasons: Sequence[str] = (),
) -> Results:
    """A study of complete trials, with these parameters and curves."""
    records = []
    for index, config in enumerate(configs):
        trial = Trial("points", index + 1, Setting(), dict(config), index, FromSequence(index))
        outcome = Outcome(OutcomeKind.COMPLETE, reasons[index]) if reasons else COMPLETE
        attempt = AttemptRecord(1, "token", "folder", outcome=outcome, seconds=1.5)
        records.append(TrialRecord(trial, (attempt,), curves[index] if curves else {}))
    return Results(study_in(Space.of(fixed={"width": 8})), tuple(records))


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    steps = sorted(draw(st.sets(st.integers(0, 2**62), max_size=6)))
    values = draw(st.lists(floats, min_size=len(steps), max_size=len(steps)))
    seconds = draw(st.lists(st.floats(0, 1e9), min_size=len(steps), max_size=len(steps)))
    return Curve.of(steps, values, seconds)


@st.composite
def columns(draw: st.DrawFn, *kinds: st.SearchStrategy[Value]) -> Results:
    """Trials whose parameter `x0` is of the first kind throughout, `x1` of the second."""
    rows = draw(st.lists(st.tuples(*kinds), min_size=1, max_size=6))
    logged = st.dictionaries(texts, curves(), max_size=2)
    return results_of(
        [{f"x{index}": value for index, value in enumerate(row)} for row in rows],
        draw(st.lists(logged, min_size=len(rows), max_size=len(rows))),
    )
