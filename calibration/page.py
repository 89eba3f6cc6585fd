"""docs/calibration.md: the words of page.md with the numbers of the raw results.

`python calibration/page.py` takes a second; `make calibration` computes the results first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template

from alarms import CELLS
from page_of_logs import of_logs
from page_of_probes import of_probes
from planted import ALL_DIMENSIONS, FAULTS, Fault
from power import FAMILY, MISSES, STUDIES, TRIALS, WATCH, is_found
from records import RESULTS, Row, load
from shares import NONE, met, share, table
from simulation import FIRST_CALIBRATION_SEED
from tunebook.diagnosis.dimensions import TRIALS_FOR_EACH
from tunebook.diagnosis.judging import PROBLEM_BUDGET, WATCH_BUDGET

TEXT = Path(__file__).with_name("page.md")
PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
WRONG_WINNERS = 0.05
ALARMS = ("problem", "watch")


def page(folder: Path = RESULTS) -> str:
    """The whole page."""
    words = {
        "first_seed": f"{FIRST_CALIBRATION_SEED:,}",
        "problem_budget": f"{PROBLEM_BUDGET:.0%}",
        "watch_budget": f"{WATCH_BUDGET:.0%}",
        "others_in_family": FAMILY - 1,
        "watch_level": f"{WATCH:g}",
        "least_found": STUDIES - MISSES,
        "studies": STUDIES,
        "trials_for_each": TRIALS_FOR_EACH,
        **budget(load("alarms", folder)),
        **findings(load("power", folder)),
        **winners(load("winners", folder)),
        **of_logs(load("logs", folder)),
        **of_probes(load("probes", folder)),
    }
    return Template(TEXT.read_text(encoding="utf-8")).substitute(words)


def budget(rows: Sequence[Row]) -> dict[str, object]:
    """The alarms of whole reports."""
    enough = [row for row in rows if row["trials"] >= TRIALS_FOR_EACH * row["dimensions"]]
    few = [row for row in rows if row not in enough]
    goals = (
        ("any problem", ("problem",), PROBLEM_BUDGET),
        ("any watch or problem", ALARMS, WATCH_BUDGET),
    )
    raised = Counter((key, verdict) for row in enough for key, verdict, _ in row["alarms"])
    single = Counter(key for row in enough for key, _, _ in row["alarms"])
    said = [f"`{key}` ({verdict}) {n} times" for (key, verdict), n in raised.most_common()]
    undersampled = sum("sampled-enough" in (key for key, _, _ in row["alarms"]) for row in few)
    return {
        "fewest_tests": min(row["tests"] for row in rows),
        "most_tests": max(row["tests"] for row in rows),
        "alarms_studies": len(rows),
        "enough_studies": len(enough),
        "few_studies": len(few),
        "cells": _cells(),
        "budget": table(
            ["in a healthy study", "reports", "goal", ""],
            (
                [what, share(n, len(enough)), f"≤ {goal:.0%}", met(n, len(enough), goal)]
                for what, levels, goal in goals
                if (n := _alarmed(enough, levels)) >= 0
            ),
        ),
        "raised": ", ".join(said) or "none",
        "budget_by_kind": _by_kind(enough),
        "all_problems": share(_alarmed(rows, ("problem",)), len(rows)),
        "all_alarms": share(_alarmed(rows, ALARMS), len(rows)),
        "all_met": met(_alarmed(rows, ALARMS), len(rows), WATCH_BUDGET),
        "all_but_dimensions": share(_alarmed(rows, ALARMS, but=("dimensions",)), len(rows)),
        "few_undersampled": share(undersampled, len(few)),
        "few_problems": share(_alarmed(few, ("problem",)), len(few)),
        "few_others": share(_alarmed(few, ALARMS, but=("dimensions", "sampled-enough")), len(few)),
        "single_questions": table(
            ["question", "reports"],
            ([f"`{key}`", share(n, len(enough))] for key, n in single.most_common()),
        ),
    }


def _alarmed(rows: Sequence[Row], levels: Sequence[str], but: Sequence[str] = ()) -> int:
    """Reports with an alarm of these levels, some questions aside."""
    return sum(
        any(key not in but and verdict in levels for key, verdict, _ in row["alarms"])
        for row in rows
    )


def _cells() -> str:
    names = ("trials", "dimensions", "settings")
    values = (sorted(set(column)) for column in zip(*CELLS, strict=True))
    return " x ".join(
        f"{', '.join(map(str, own))} {name}" for own, name in zip(values, names, strict=True)
    )


def _by_kind(rows: Sequence[Row]) -> str:
    kinds: dict[str, Callable[[Row], bool]] = {
        **{f"{n} trials": lambda row, n=n: row["trials"] == n for n in TRIALS},
        **{f"{d} dimensions": lambda row, d=d: row["dimensions"] == d for d in ALL_DIMENSIONS},
        "one setting": lambda row: row["settings"] == 1,
        "two settings": lambda row: row["settings"] == 2,
        "rates that diverge, far from the optimum": lambda row: row["cliff"],
        "no rates that diverge": lambda row: not row["cliff"],
        "replicates": lambda row: row["replicates"],
    }
    own = {name: [row for row in rows if belongs(row)] for name, belongs in kinds.items()}
    return table(
        ["studies with", "reports", "any problem", "any watch or problem"],
        (
            [name, len(some), _alarmed(some, ("problem",)), _alarmed(some, ALARMS)]
            for name, some in own.items()
        ),
    )


def findings(rows: Sequence[Row]) -> dict[str, object]:
    """False alarms and power, fault by fault."""
    interest = sorted(row["interest"] for row in rows if row["healthy"])
    tenth = len(interest) // 10
    head = ["question", "planted", "size", "alone", "in a report", *map(str, TRIALS)]
    keys = list(dict.fromkeys(fault.question for fault in FAULTS))
    together = sorted(FAULTS, key=lambda fault: keys.index(fault.question))
    return {
        "interest": f"{interest[tenth]:.1g} to {interest[-1 - tenth]:.1g}",
        "findings": table(head, (_finding(fault, rows) for fault in together)),
    }


def _finding(fault: Fault, rows: Sequence[Row]) -> list[str]:
    own = [r for r in rows if (r["question"], r["what"]) == (fault.question, fault.what)]
    calm = [row for row in own if row["healthy"]]
    studies = sum(len(row["alarm"]) for row in calm)
    reported = sum(p <= WATCH for row in calm for p in row["alarm"])
    return [
        f"`{fault.question}`",
        fault.what,
        fault.unit,
        f"{sum(row['alone'] for row in calm)} of {studies}",
        f"{reported} of {studies}",
        *(" / ".join(_smallest(own, n, d) for d in fault.dimensions) for n in TRIALS),
    ]


def _smallest(rows: Sequence[Row], trials: int, dimensions: int) -> str:
    found = (
        f"{row['size']:g}"
        for row in rows
        if (row["trials"], row["dimensions"]) == (trials, dimensions)
        and not row["healthy"]
        and is_found(row)
    )
    return next(found, NONE)


def winners(rows: Sequence[Row]) -> dict[str, object]:
    """Confident winners on exact tables."""
    kinds = [
        (f"{'unequal' if unequal else 'equal'} dimensions, {trials} trials", own)
        for unequal in (False, True)
        for trials in TRIALS
        if (own := [r for r in rows if r["unequal"] == unequal and r["trials"] == trials])
    ]
    worst = max(rows, key=lambda row: row["wrong"] / row["studies"])
    head = ["studies", "wrong", "confident", "the exact best named"]
    return {
        "tables": len({row["table"] for row in rows}),
        "winner_goal": f"{WRONG_WINNERS:.0%}",
        "winner_met": met(_sum(rows, "wrong"), _sum(rows, "studies"), WRONG_WINNERS),
        "winners": table(head, (_won(*kind) for kind in [*kinds, ("all", rows)])),
        "worst_winner": f"{worst['wrong']} of {worst['studies']} wrong ({worst['table']}, "
        f"{'unequal' if worst['unequal'] else 'equal'} dimensions, {worst['trials']} trials)",
    }


def _won(name: str, rows: Sequence[Row]) -> list[str]:
    studies = _sum(rows, "studies")
    named, right = (f"{_sum(rows, key) / studies:.0%}" for key in ("named", "right"))
    return [name, share(_sum(rows, "wrong"), studies), named, right]


def _sum(rows: Sequence[Row], key: str) -> int:
    return sum(row[key] for row in rows)


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE}")


if __name__ == "__main__":
    main()
