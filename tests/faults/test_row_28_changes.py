"""Row 28: a changed space is refused with both ways on; changed code is recorded and told."""

from __future__ import annotations

from faults.bench import Bench

PROGRAM = """
    def train(run):
        run.log({"error": run["x"]}, step=0)
    """


def begun(bench: Bench) -> None:
    """A study that has been run."""
    bench.write_study()
    bench.write_program(PROGRAM)
    assert bench.run_study().code == 0
    assert bench.results().counts() == {"complete": 4}


def test_row_28_a_changed_space_is_refused_with_the_difference_and_the_two_ways(
    bench: Bench,
) -> None:
    begun(bench)
    before = bench.results()
    bench.write_study(nuisance={"x": {"linear": [0, 2]}, "y": {"log": [0.1, 1]}})
    refused = bench.run_study()
    assert refused.code == 1
    assert "Traceback" not in refused.err
    for part in ("~ x:", "+ y:", "--new-study depth-2", "tunebook show depth --file"):
        assert part in refused.err
    after = bench.results()
    assert after.study.space == before.study.space
    assert after.counts() == before.counts()


def test_row_28_the_first_way_a_new_study(bench: Bench) -> None:
    begun(bench)
    bench.write_study(nuisance={"x": {"linear": [0, 2]}})
    assert bench.run_study("--new-study", "depth-2").code == 0
    results = bench.results("depth-2")
    assert results.counts() == {"complete": 4}
    assert results.study.parent == "depth"
    assert bench.results().counts() == {"complete": 4}


def test_row_28_the_second_way_the_old_file(bench: Bench) -> None:
    begun(bench)
    (bench.folder / "study.yaml").write_text(bench.run("show", "depth", "--file").out)
    assert bench.run_study("--trials", "3").code == 0
    assert bench.results().counts() == {"complete": 6}


def test_row_28_more_trials_go_on_and_fewer_change_nothing(bench: Bench) -> None:
    begun(bench)
    bench.write_study(trials=3)
    assert bench.run_study().code == 0
    results = bench.results()
    assert results.counts() == {"complete": 6}
    bench.write_study(trials=1)
    assert bench.run_study().code == 0
    again = bench.results()
    assert [r.attempts for r in again] == [r.attempts for r in results]


def test_row_28_changed_code_is_told_and_recorded(bench: Bench) -> None:
    begun(bench)
    bench.write_program(PROGRAM + "\n    # changed\n")
    done = bench.run_study("--trials", "3")
    assert done.code == 0
    assert "The code has changed since trial 4 (" in done.err
    codes = [record.trial.code for record in bench.results()]
    assert len(set(codes[:4])) == len(set(codes[4:])) == 1
    assert codes[0].source != codes[4].source
    assert "The code has changed" not in bench.run_study("--trials", "3").err
