"""Row 25: whatever a program logs or returns, it is told what became of it."""

from __future__ import annotations

import json

from faults.bench import Bench

PROGRAM = """
    def train(run):
        run.log({"other": 1.0}, step=0)
        match run["value"]:
            case "nan": run.log({"error": float("nan")}, step=0)
            case "inf": run.log({"error": float("inf")}, step=0)
            case "-inf": run.log({"error": float("-inf")}, step=0)
            case "huge": run.log({"error": 1e400}, step=0)
            case "subnormal": run.log({"error": 5e-324}, step=0)
            case "returned": return 0.25
            case "returned nan": return float("nan")
            case "none": run.log({"error": None}, step=0)
            case "text": run.log({"error": "0.5"}, step=0)
            case "complex": run.log({"error": 1j}, step=0)
            case "infeasible": run.infeasible("it cannot fit")
    """
EXPECTED = {
    "nan": ("infeasible", "error became nan at step 0"),
    "none": ("failed", "the metric 'error' must be a number, got None (NoneType)"),
    "inf": ("infeasible", "error became inf at step 0"),
    "text": ("failed", "the metric 'error' must be a number, got '0.5' (str)"),
    "-inf": ("infeasible", "error became -inf at step 0"),
    "complex": ("failed", "the metric 'error' must be a number, got 1j (complex)"),
    "huge": ("infeasible", "error became inf at step 0"),
    "missing": ("failed", "the objective's metric 'error' was never logged; it logged other"),
    "subnormal": ("complete", "finished"),
    "returned": ("complete", "finished"),
    "returned nan": ("infeasible", "error became nan at step 0"),
    "infeasible": ("infeasible", "it cannot fit"),
}


def test_row_25_every_value_has_its_outcome(bench: Bench) -> None:
    bench.write_study(scientific={"value": list(EXPECTED)}, nuisance={}, trials=1)
    bench.write_program(PROGRAM)
    assert bench.run_study("--workers", "2").code == 0
    results = bench.results()
    found = {}
    for record in results:
        assert record.outcome is not None
        found[record.trial.config["value"]] = (str(record.outcome.kind), record.outcome.reason)
    assert found.keys() == EXPECTED.keys()
    for value, (kind, reason) in EXPECTED.items():
        assert found[value][0] == kind, value
        assert reason in found[value][1]
    ranked = [measure.value for _, measure in results.ranked()]
    assert ranked == [5e-324, 0.25]
    for command in (["show", "depth"], ["book"]):
        shown = bench.run(*command, "--json")
        assert shown.code == 0
        json.loads(shown.out, parse_constant=_no_constant)
    bench.is_quiet()


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
