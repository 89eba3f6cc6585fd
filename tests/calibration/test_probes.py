"""The calibration of probes: its own seeds, and rows that the page can read."""

from __future__ import annotations

import itertools

import adoption
import alarms
import power
import probes
from page_of_probes import of_probes
from records import load


def test_its_seeds_are_its_own() -> None:
    assert probes.FIRST_SEED > power.FIRST_SEED + 10_000 * 100
    assert alarms.FIRST_CALIBRATION_SEED < probes.FIRST_SEED


def test_every_part_gives_rows_that_the_page_reads() -> None:
    parts = (probes.critical_batches, probes.one_sided, probes.times_of_steps, probes.throughputs)
    rest = (probes.leaks, probes.sources, probes.goals, probes.stabilities, probes.promises)
    rows = list(itertools.chain.from_iterable(part(2) for part in (*parts, *rest)))
    rows += adoption.adoptions(2, 0)
    assert {row["kind"] for row in rows} <= {row["kind"] for row in load("probes")}
    words = of_probes(rows)
    assert words["rcp_benchmarks"] == 0
    assert str(words["never_full"]).startswith("0 of 4")


def test_what_is_kept_keeps_its_goals() -> None:
    rows = load("probes")
    critical = [row for row in rows if row["kind"] == "critical"]
    studies = sum(row["studies"] for row in critical)
    assert sum(row["critical"] for row in critical) >= 0.9 * studies
    full = [row for row in rows if row.get("what") == "proportional"]
    assert sum(row["stops"] for row in full) <= 0.05 * sum(row["studies"] for row in full)
    calm = [row for row in rows if row["kind"] == "leak" and not row["leak"]]
    assert sum(row["found"] for row in calm) <= 0.02 * sum(row["studies"] for row in calm)
    healthy = [row for row in rows if row.get("what") == "healthy"]
    assert sum(row["unstable"] for row in healthy) <= 0.05 * sum(row["studies"] for row in healthy)
    adopted = [row for row in rows if row["kind"] == "adoption"]
    useless = [row for row in adopted if row["alike"] and not row["gain"]]
    # Four standard errors above the level of 2.5% of a comparison.
    assert useless and all(row["adopted"] <= 0.039 * row["studies"] for row in useless)
    helps = [row for row in adopted if row["gain"] >= 1.5]
    assert helps and all(row["adopted"] >= 0.95 * row["studies"] for row in helps)
    equal = [row for row in rows if row.get("what") == "equal rates"]
    assert equal and sum(row["problem"] for row in equal) <= 0.05 * sum(r["studies"] for r in equal)
