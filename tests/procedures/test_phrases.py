"""What several probes say in the same words."""

from __future__ import annotations

import pytest

from searchable import study_in
from simulated_probes import starting_from
from tunebook.core.domains import Value
from tunebook.core.knobs import Knobs
from tunebook.core.space import Space
from tunebook.procedures.phrases import kept_schedule

KNOBS = Knobs(schedule="plan")


def test_a_schedule_that_had_to_stay_is_told_with_what_to_write() -> None:
    subject = starting_from(study_in(Space.of(fixed={"plan": "cosine"}), knobs=KNOBS))
    assert kept_schedule(subject) == (
        " plan stayed cosine, which may decay: whether the program has a constant one is not "
        "known. If it has, write 'plan: [cosine, constant]' under scientific."
    )
    told = starting_from(
        study_in(Space.of(scientific={"plan": ["cosine", "constant"]}), knobs=KNOBS)
    )
    assert told.value("schedule") == "cosine" and kept_schedule(told) == ""


@pytest.mark.parametrize("plan", ["constant", None])
def test_without_a_decay_there_is_nothing_to_tell(plan: Value) -> None:
    study = study_in(Space.of(fixed={"plan": plan}), knobs=KNOBS)
    assert kept_schedule(starting_from(study)) == ""
    assert kept_schedule(starting_from(study_in(Space()))) == ""
