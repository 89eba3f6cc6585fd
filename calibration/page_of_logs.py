"""What the page says of real logs, from their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from answerable import ENOUGH_TRIALS
from logs import CONFIDENCE, NEAR_CHANCE, SAMPLE
from records import Row
from shares import NONE, met, share, table

MOST_UNKNOWN = 0.20


def of_logs(rows: Sequence[Row]) -> dict[str, object]:
    """The words of all parts."""
    return {
        **best_of_k(_of(rows, "best-of-k")),
        **infeasible(_of(rows, "diverged")),
        **edges(_of(rows, "edge")),
        **at_an_end(_of(rows, "winners")[0]),
        **unknown(_of(rows, "unknown")),
    }


def best_of_k(rows: Sequence[Row]) -> dict[str, object]:
    counts = ("estimates within", "bands equal", "truth within")
    return {
        "sample": SAMPLE,
        "confidence": f"{CONFIDENCE:.0%}",
        "best_of_k": table(
            ["log", "medians within its band", "bands equal", "whole log within ours", "means"],
            (
                [
                    row["log"],
                    *(f"{row[key]} of {row['ks']}" for key in counts),
                    "equal" if row["means equal"] else "differ",
                ]
                for row in rows
            ),
        ),
    }


def infeasible(rows: Sequence[Row]) -> dict[str, object]:
    keys = ("log", "trials", "known", "found")
    return {
        "near_chance": f"{NEAR_CHANCE:g}",
        "diverged": table(
            ["log", "trials", "known bad", "found", "missed", "infeasible besides"],
            ([*(r[k] for k in keys), ", ".join(r["missed"]) or "none", r["others"]] for r in rows),
        ),
    }


def edges(rows: Sequence[Row]) -> dict[str, object]:
    known = [row for row in rows if row["broken"]]

    def below(key: str) -> int:
        pairs = [(row["edge"], row[key]) for row in known]
        return sum(None not in pair and pair[0] <= pair[1] for pair in pairs)

    return {
        "edges_known": len(known),
        "edges_first": below("first"),
        "edges_kept": below("begins"),
        "edges": table(
            [
                "sweep",
                "NaN or infinite",
                "found",
                "first",
                "all from",
                "edge",
                "best rate",
                "verdict",
            ],
            (
                [
                    row["log"].removeprefix("deepobs-"),
                    row["broken"],
                    row["found"],
                    *(_rate(row[key]) for key in ("first", "begins", "edge", "best")),
                    row["verdict"],
                ]
                for row in rows
            ),
        ),
    }


def _rate(value: float | None) -> str:
    return NONE if value is None else f"{value:.2g}"


def at_an_end(row: Row) -> dict[str, object]:
    return {
        "tabm_studies": row["studies"],
        "tabm_near": row["near"],
        "tabm_share": f"{row['share']:.0%}",
        "tabm_expected": f"{row['expected']:.0f}",
        "tabm": table(
            ["parameter", "winners", "at the lower end", "at the upper end"], row["parameters"]
        ),
    }


def unknown(rows: Sequence[Row]) -> dict[str, object]:
    asked, missing = (
        sum(row["answerable"] for row in rows),
        sum(len(row["unknown"]) for row in rows),
    )
    keys = Counter(key for row in rows for key in row["unknown"])
    over = [r for r in rows if len(r["unknown"]) > MOST_UNKNOWN * r["answerable"]]
    return {
        "unknown_logs": len(rows),
        "unknown_over": len(over),
        "unknown_which": ", ".join(row["log"] for row in over) or "none",
        "enough_trials": ENOUGH_TRIALS,
        "unknown": share(missing, asked),
        "unknown_goal": f"{MOST_UNKNOWN:.0%}",
        "unknown_met": met(missing, asked, MOST_UNKNOWN),
        "unknown_by_question": ", ".join(f"`{k}` {n}" for k, n in keys.most_common()) or "none",
        "unknown_by_log": table(
            ["log", "trials", "unknown", "problem", "watch"],
            (
                [
                    row["log"],
                    row["trials"],
                    f"{len(row['unknown'])} of {row['answerable']}",
                    ", ".join(row["problem"]) or NONE,
                    ", ".join(row["watch"]) or NONE,
                ]
                for row in rows
            ),
        ),
    }


def _of(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]
