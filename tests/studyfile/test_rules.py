"""The rules of thumb, each by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import values
from tunebook.core.domains import Value
from tunebook.studyfile import rules
from tunebook.studyfile.rules import Entry, Found


@given(st.floats(1e-9, 1e9))
def test_a_range_is_centred_on_the_default(default: float) -> None:
    (entry, knob) = rules.learning_rate(Found("lr", default))
    low, high = entry.content["log"]
    assert (low * high) ** 0.5 == pytest.approx(default, rel=0.1)
    assert knob == Entry("knobs", "learning_rate", "lr")


@given(values)
def test_a_batch_size_is_as_the_program_has_it(default: Value) -> None:
    size, *knobs = rules.batch_size(Found("size", default))
    assert (size.section, size.content) == ("fixed", default)
    if knobs:
        assert knobs == [Entry("knobs", "batch_size", "size")]
        assert isinstance(default, int | float)
        assert default > 0


@pytest.mark.parametrize(
    ("found", "content", "is_knob"),
    [
        (Found("warmup"), 0, True),
        (Found("warmup", required=True), None, False),
        (Found("warmup", 0), 0, True),
        (Found("warmup", 0.1), 0.1, False),
        (Found("warmup", True), True, False),
        (Found("warmup", "auto"), "auto", False),
        (Found("lr_warmup", 10), 10, False),
        (Found("lr_warmup_iters", 10), 10, True),
        (Found("warmup_epochs", 10), 10, False),
    ],
)
def test_a_warmup_is_counted_in_steps(found: Found, content: Value, is_knob: bool) -> None:
    entry, *knobs = rules.warmup(found)
    assert (entry.content, bool(knobs)) == (content, is_knob)


@pytest.mark.parametrize("default", [None, -1, 0, True, "500 steps"])
def test_what_is_no_budget_is_left_unless_it_must_be_given(default: Value) -> None:
    (entry,) = rules.max_steps(Found("steps", default))
    assert (entry.content, entry.comment) == (
        None,
        "left to the program: its default is no budget",
    )
    (entry,) = rules.max_steps(Found("steps", default, required=True))
    assert entry == Entry(rules.PLACE, "steps", "max_steps", "the budget of a trial")
