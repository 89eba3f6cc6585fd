"""Row 24: a program's exception is kept with its traceback, and one that always breaks pauses."""

from __future__ import annotations

from faults.bench import Bench

# No trial has a result.
NO_RESULT = 5

BROKEN = """
    def train(run):
        depth = run["arm"]
        raise ValueError(f"no depth {depth}")
    """
MENDED = """
    def train(run):
        run.log({"error": run["x"]}, step=0)
    """
SOMETIMES = """
    def train(run):
        if run["x"] > 0.5:
            raise RuntimeError("CUDA error: device-side assert triggered")
        run.log({"error": run["x"]}, step=0)
    """


def test_row_24_five_quick_failures_pause_and_mended_code_goes_on(bench: Bench) -> None:
    bench.write_study(trials=10)
    bench.write_program(BROKEN)
    paused = bench.run_study("--workers", "1")
    assert paused.code == 3
    sentence, ways = paused.err.splitlines()[-2:]
    assert sentence.startswith("Paused: 5 attempts in a row broke within 60 s,")
    assert sentence.endswith(" ValueError: no depth a (train.py:4).")
    assert ways == (
        "Mend the program and run again: failed trials are tried again when the code has changed, "
        "or with --retry-failed."
    )
    assert "Traceback" not in paused.err
    results = bench.results()
    assert results.counts() == {"failed": 5}
    outcome = results[1].outcome
    assert outcome is not None
    assert 'train.py", line 4, in train' in outcome.detail
    assert outcome.detail.endswith("ValueError: no depth a\n")
    bench.write_program(MENDED)
    assert bench.run_study("--workers", "2").code == 0
    results = bench.results()
    assert results.counts() == {"complete": 20}
    assert [len(record.attempts) for record in results] == [2] * 5 + [1] * 15
    bench.is_quiet()


def test_row_24_without_a_change_failures_stay(bench: Bench) -> None:
    bench.write_study(trials=1)
    bench.write_program(BROKEN)
    assert bench.run_study().code == NO_RESULT
    assert bench.results().counts() == {"failed": 2}
    assert bench.run_study().code == NO_RESULT
    assert [len(record.attempts) for record in bench.results()] == [1, 1]
    assert bench.run_study("--retry-failed").code == NO_RESULT
    assert [len(record.attempts) for record in bench.results()] == [2, 2]


def test_row_24_the_study_goes_on_around_failures(bench: Bench) -> None:
    bench.write_study(trials=8)
    bench.write_program(SOMETIMES)
    assert bench.run_study("--workers", "2").code == 0
    results = bench.results()
    for record in results:
        broken = float(record.trial.config["x"]) > 0.5
        assert record.status == ("failed" if broken else "complete")
    assert set(results.counts()) == {"failed", "complete"}


def test_row_24_a_program_that_cannot_be_imported_is_a_mistake(bench: Bench) -> None:
    bench.write_study(trials=1)
    bench.write_program("\n    import no_such_module\n" + MENDED)
    done = bench.run_study()
    assert done.code == 1
    assert "ModuleNotFoundError: No module named 'no_such_module' (train.py:2)" in done.err
    assert "Traceback" not in done.err
    bench.write_program(MENDED)
    assert bench.run_study().code == 0
    assert bench.results().counts() == {"complete": 2}


def test_row_24_a_program_that_is_missing_is_a_mistake(bench: Bench) -> None:
    bench.write_study(trials=1)
    done = bench.run_study()
    assert done.code == 1
    assert "there is no file 'train.py'" in done.err
    assert "Traceback" not in done.err
