"""Lengths of warm-up that are tried."""

from __future__ import annotations

from simulated_remedies import subject
from tunebook.procedures.remedies.warmup_lengths import asked_for, lengths


def test_lengths_are_orders_of_magnitude_up_to_a_tenth() -> None:
    assert lengths(1_000_000) == (1000, 10_000, 100_000)
    assert lengths(300) == (2, 3, 30)
    # A warm-up of one step is none.
    assert lengths(40) == (2, 4)
    assert lengths(5) == (2,)


def test_a_program_counts_its_warm_up_among_its_steps() -> None:
    assert asked_for(subject(), 120, 20) == 120
