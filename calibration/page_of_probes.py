"""The part of docs/calibration.md about probes: tables from the rows of `probes.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from records import Row
from shares import NONE, share, table

# Steps at a size that was held out should be within this factor of the truth.
FACTOR = 1.5


def of_probes(rows: Sequence[Row]) -> dict[str, object]:
    """Words and tables, by their names in page.md."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row)
    return {
        **_critical(kinds["critical"], kinds["one-sided"]),
        **_rcp(kinds.get("rcp", [])),
        **_throughput(kinds["times"], kinds["throughput"]),
        **_rest(kinds["leak"], kinds["variance"], kinds["goal"]),
        **_stability(kinds["stability"]),
        **_promises(kinds["promise"]),
        **_adoptions(kinds["adoption"]),
    }


def _critical(rows: Sequence[Row], limits: Sequence[Row]) -> dict[str, object]:
    head = ["sizes", "seeds", "noise", "studies", "critical size held", "fewest steps held"]
    head += ["steps at twice the largest held", "bounded on both sides", "misfit said"]
    keys = ("critical", "steps", "beyond", "both", "misfit")
    return {
        "critical_held": share(_sum(rows, "critical"), _sum(rows, "studies")),
        "critical": table(
            head,
            (
                [row["sizes"], row["seeds"], row["sd"], row["studies"], *(row[k] for k in keys)]
                for row in rows
            ),
        ),
        "one_sided": "; ".join(
            f"where only the {row['limit']} limit was seen, "
            + ", ".join(f"*{kind}* {n} times" for kind, n in sorted(row["said"].items()))
            + f" of {row['studies']}"
            for row in limits
        ),
    }


def _rcp(rows: Sequence[Row]) -> dict[str, object]:
    inside = [factor for row in rows for factor in row["inside"]]
    outside = [factor for row in rows for factor in row["outside"]]
    held = sum(row["held"] for row in rows)
    head = ["benchmark", "sizes", "runs", "critical size", "noise", "misfit p"]
    head += ["largest factor inside", "at the ends"]
    return {
        "rcp_factor": FACTOR,
        "rcp_benchmarks": len(rows),
        "rcp_inside": _within(inside),
        "rcp_outside": _within(outside),
        "rcp_held": share(held, len(inside) + len(outside)) if rows else NONE,
        "rcp": table(head, map(_benchmark, rows)),
    }


def _benchmark(row: Row) -> list[object]:
    estimate, low, high = ("∞" if x is None else f"{x:,.0f}" for x in row["critical"])
    return [
        row["benchmark"],
        f"{len(row['sizes'])} ({row['sizes'][0]:,} to {row['sizes'][-1]:,})",
        row["runs"],
        f"{estimate} ({low} to {high})",
        row["sd"],
        NONE if row["misfit"] is None else row["misfit"],
        *(max(row[key], default=NONE) for key in ("inside", "outside")),
    ]


def _within(factors: Sequence[float]) -> str:
    return share(sum(f <= FACTOR for f in factors), len(factors)) if factors else NONE


def _throughput(times: Sequence[Row], rows: Sequence[Row]) -> dict[str, object]:
    proportional = [row for row in rows if row["what"] == "proportional"]
    return {
        "step_times": table(
            ["steps", "correlation", "median held"],
            ([row["steps"], row["rho"], share(row["held"], row["studies"])] for row in times),
        ),
        "never_full": share(_sum(proportional, "stops"), _sum(proportional, "studies")),
        "throughput": table(
            ["truth", "noise", "studies", "said to stop", "right", "kink said", "line held"],
            (
                [
                    *(row[key] for key in ("what", "noise", "studies", "stops", "right", "kink")),
                    row["held"] if row["what"] == "a line" else NONE,
                ]
                for row in rows
            ),
        ),
    }


def _rest(leaks: Sequence[Row], sources: Sequence[Row], goals: Sequence[Row]) -> dict[str, object]:
    none = [row for row in leaks if not row["leak"]]
    head = ["values", "correlation", "leak", "series", "p ≤ 0.01", "p ≤ 0.05", "slope held"]
    keys = ("n", "rho", "leak", "studies", "found", "at_5", "held")
    return {
        "no_leak": share(_sum(none, "found"), _sum(none, "studies")),
        "leaks": table(head, ([row[key] for key in keys] for row in leaks)),
        "variances": table(
            ["runs", "variance", "variance held", "seeds held"],
            (
                [row["runs"], row["variance"]]
                + [share(row[key], row["studies"]) for key in ("held", "seeds")]
                for row in sources
            ),
        ),
        "goals": table(
            ["noise", "window", "step held", "median distance"],
            (
                [
                    row["noise"],
                    row["window"],
                    share(row["held"], row["studies"]),
                    f"{row['off']:.1%}",
                ]
                for row in goals
            ),
        ),
    }


def _stability(rows: Sequence[Row]) -> dict[str, object]:
    healthy = [row for row in rows if row["what"] == "healthy"]
    kinds = list(dict.fromkeys(row["what"] for row in rows))
    noises = sorted({(row["sd"], row["rho"]) for row in rows})
    head = ["curve", "noise", "correlation", "curves", "unstable", "right kind", "`loss_spikes`"]
    return {
        "stable_alarms": share(_sum(healthy, "unstable"), _sum(healthy, "studies")),
        "spike_alarms": share(_sum(healthy, "spikes"), _sum(healthy, "studies")),
        "stabilities": table(
            head,
            (
                [what, sd, rho, *(_sum(own, k) for k in ("studies", "unstable", "right", "spikes"))]
                for what in kinds
                for sd, rho in noises
                if (own := [r for r in rows if (r["what"], r["sd"], r["rho"]) == (what, sd, rho)])
            ),
        ),
    }


def _promises(rows: Sequence[Row]) -> dict[str, object]:
    equal = [row for row in rows if row["what"] == "equal rates"]
    head = ["rates", "studies", "p ≤ 0.05", "p ≤ 0.2"]
    return {
        "promise_alarms": share(_sum(equal, "problem"), _sum(equal, "studies")),
        "promise_watches": share(_sum(equal, "watch"), _sum(equal, "studies")),
        "promises": table(
            head, ([row[k] for k in ("what", "studies", "problem", "watch")] for row in rows)
        ),
    }


def _adoptions(rows: Sequence[Row]) -> dict[str, object]:
    null = [row for row in rows if not row["gain"] and row["alike"]]
    worst = max(null, key=lambda row: row["adopted"])
    head = ["results", "comparisons", "adopted", "seeds of each arm", "interval holds the gain"]
    return {
        "adoption_level": f"{rows[0]['level']:.2%}",
        "adoption_worst": f"{share(worst['adopted'], worst['studies'])}: {worst['what']}",
        "adoptions": table(
            head,
            (
                [
                    row["what"],
                    row["studies"],
                    share(row["adopted"], row["studies"]),
                    row["seeds"],
                    f"{row['held'] / row['studies']:.1%}",
                ]
                for row in rows
            ),
        ),
    }


def _sum(rows: Iterable[Row], key: str) -> int:
    return sum(row[key] for row in rows)
