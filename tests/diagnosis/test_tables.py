"""Trials as a table of what varies."""

from __future__ import annotations

import numpy as np

from hostile_evidence import RICH, Ran, evidence_of
from tunebook.core.space import Setting
from tunebook.diagnosis.tables import tabulate

ADAM, SGD = (Setting((("optimiser", name),)) for name in ("adam", "sgd"))
POINT = {"decay": 0.5, "layers": 0.5, "rate": 0.25, "momentum": 0.5, "act": 0.0, "slope": 0.3}


def test_columns_are_what_varies_with_nan_where_it_does_not_exist() -> None:
    ran = [
        Ran(POINT, 0.1, setting=SGD),
        Ran({**POINT, "rate": 0.75, "act": 0.9}, 0.2, setting=ADAM),
    ]
    evidence = evidence_of(RICH, ran)
    table = tabulate(evidence.study, evidence.readings)
    names = [p.name for p in table.parameters]
    assert names == ["optimiser", "rate", "momentum", "act", "slope"]
    assert table.categories.tolist() == [True, False, False, True, False]
    momentum = table.points[:, names.index("momentum")]
    assert momentum[0] == 0.5
    assert np.isnan(momentum[1])
    assert not np.isnan(table.filled).any()


def test_equal_trials_have_no_columns() -> None:
    evidence = evidence_of(RICH, [Ran(POINT, 0.1, setting=SGD)] * 3)
    assert tabulate(evidence.study, evidence.readings).points.shape == (3, 0)


def test_no_trials_have_no_rows() -> None:
    evidence = evidence_of(RICH, [])
    assert tabulate(evidence.study, evidence.readings).points.shape == (0, 0)
