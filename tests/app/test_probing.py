"""Probes: run, continued, and read from the book."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commandline import Done, call, end, interrupt, start, wait_until
from probed import BOOK, STUDY, ask, ran, studies, write_probed
from simulated_probes import results_of
from tunebook.app import display, probing, reporting, workflow
from tunebook.app import start as beginnings
from tunebook.core.domains import Float
from tunebook.core.edits import SetBudget, SetParameter
from tunebook.core.errors import StudyChanged, StudyError, StudyOwned, UnknownName
from tunebook.core.evidence import Standing
from tunebook.core.findings import Verdict
from tunebook.core.space import Fixed, Space
from tunebook.core.study import Budget, Study
from tunebook.procedures.answers import Answer
from tunebook.running import ownership
from tunebook.studyfile import parse


@pytest.fixture
def small(here: Path) -> Study:
    return beginnings.read_study(write_probed(here).relative_to(here))


STAGES = {"small.variance.all": 3, "small.variance.seed-init": 3, "small.variance.same": 3}


def test_a_probe_begun_anew_has_studies_and_seeds_of_its_own(small: Study) -> None:
    ran(ask(small))
    again = ask(small, again=True)
    assert again.round == 2
    made = ran(again)
    assert made.ending.done
    assert studies() == {**STAGES, **{name.replace("ance.", "ance-2."): 3 for name in STAGES}}
    one, two = (workflow.results(f"small.{name}.all", BOOK) for name in ("variance", "variance-2"))
    assert not {r.trial.seed for r in one} & {r.trial.seed for r in two}
    # And is now the one that is continued.
    assert ask(small) == again


# Running.


def test_a_probe_ends_in_an_answer_a_report_and_its_studies(small: Study) -> None:
    made = ran(ask(small))
    assert made.ending.done
    assert made.answer is not None
    assert made.report is not None
    assert made.report.study.goal.startswith("How much do results vary with the seed")
    assert made.findings == made.answer.findings
    assert made.proposal is None
    assert studies() == STAGES
    assert "Over 3 seeds" in str(made)
    assert "Over 3 seeds" in made._repr_html_()
    memory = workflow.results("small.variance.all", BOOK)[1].curves["memory/bytes"]
    assert memory.values[0] > 2**20


def test_running_it_again_runs_nothing_and_says_the_same(small: Study) -> None:
    first = ran(ask(small))
    code = (small.file and Path("train.py").read_text()) or ""
    Path("train.py").write_text(code.replace("def train(run):", "def train(run):\n    1 / 0"))
    second = ran(ask(small))
    assert second.findings == first.findings
    assert studies() == STAGES


def test_a_stage_that_earlier_results_have_changed_is_told(
    small: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials that failed, tried again with other code, may lead a probe elsewhere."""
    asked = ask(small)
    ran(asked)
    real = workflow.run

    def run(study: Study, *others: Any) -> Any:
        other = Space.of(fixed={"init": 1, "x": 0.75})
        return real(replace(study, space=other) if study.name.endswith("same") else study, *others)

    monkeypatch.setattr(workflow, "run", run)
    with pytest.raises(StudyChanged) as caught:
        ran(asked)
    first, *lines = str(caught.value).splitlines()
    assert first == (
        "small.variance.same was begun otherwise, for an earlier stage has other results now:"
    )
    assert lines[-1] == "Begin anew with --again"
    assert len(lines) > 1


def test_a_probe_that_another_process_runs_is_not_begun(small: Study) -> None:
    asked = ask(small)
    first = next(probing.named("variance").begin(probing.Subject(asked), dict(asked.options)))
    said = (
        r"^the probe variance of small is being run by .*process.*; wait for it, or stop it "
        r"there with Ctrl-C$"
    )
    BOOK.mkdir()
    with ownership.owned(BOOK, first.name), pytest.raises(StudyOwned, match=said):
        ran(asked)


def test_a_report_on_any_stage_is_that_of_the_probe(small: Study) -> None:
    made = ran(ask(small))
    for name in STAGES:
        replayed = probing.replayed(workflow.results(name, BOOK), BOOK)
        assert replayed.study.name == name
        assert {f.sentence for f in replayed.findings} == {f.sentence for f in made.findings}
        assert [f.key for f in replayed.figures] == ["probe-variance", "probe-seeds"]


def test_a_report_on_a_probe_is_on_its_last_stage(small: Study) -> None:
    ran(ask(small))
    ran(ask(small, again=True))
    for name in ("small.variance", "small.variance-2"):
        assert reporting.on_book(name, BOOK).study.name == f"{name}.same"
    for name in ("small.varianc", "small", "variance"):
        with pytest.raises(UnknownName, match=f"the book has no study '{name}'"):
            reporting.on_book(name, BOOK)


def test_a_report_on_a_probe_that_has_not_ended_says_how_to_continue(small: Study) -> None:
    asked = ask(small)
    probe = probing.named("variance").begin(probing.Subject(asked), dict(asked.options))
    screen = display.choose(True, machine=False)
    program, options = beginnings.program_of(small), workflow.Options(inline=True)
    _, results = workflow.run(next(probe), program, BOOK, options, screen)
    report = probing.replayed(results, BOOK)
    (finding,) = report.findings
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence == (
        "The probe has not come to its end: small.variance.seed-init has not begun."
    )
    assert finding.advice == "Continue it: tunebook probe variance small.yaml"


def test_code_that_changed_during_a_probe_is_told(small: Study, here: Path) -> None:
    asked = ask(small)
    probe = probing.named("variance").begin(probing.Subject(asked), dict(asked.options))
    screen, options = display.choose(True, machine=False), workflow.Options(inline=True)
    workflow.run(next(probe), beginnings.program_of(small), BOOK, options, screen)
    code = here / "train.py"
    code.write_text(code.read_text() + "# Another.\n")
    made = ran(asked)
    assert made.report is not None
    (told,) = [f for f in made.report.findings if f.question.key == "code"]
    assert told.verdict is Verdict.WATCH
    assert told.sentence.startswith("The code changed during the probe: 6 trials ran ")
    assert told.advice.endswith("begin anew with --again.")
    replayed = probing.replayed(workflow.results("small.variance.same", BOOK), BOOK)
    assert told in replayed.findings


def test_changes_are_shown_with_a_line_around_them() -> None:
    assert probing.changes("a\nb\nc\nd", "a\nb\nC\nd") == (
        "@@ -2,3 +2,3 @@",
        " b",
        "-c",
        "+C",
        " d",
    )
    # Without a file, the whole is new.
    assert probing.changes(None, "a\nb") == ("a", "b")
    assert probing.changes("a", None) == ()


def test_a_report_counts_as_infeasible_what_the_probe_does(small: Study) -> None:
    """Where a probe goes results are bad, and one that is far from the others is a result."""
    stage = probing.Subject(ask(small)).listed("all", [{}] * 12, goal="?")
    values = iter([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.02, 0.98, 1.0, 1.1, 90.0, 100.0])
    results = results_of(stage, lambda *_: {"valid/error": [next(values)]})
    report = probing.report(results, Answer(()), [results])
    assert {row.standing for row in report.rows} == {Standing.MEASURED}
    assert "infeasible" not in str(report)


def test_a_study_of_its_own_has_no_probe_to_replay(small: Study) -> None:
    with pytest.raises(StudyError, match="small is not a stage of a probe"):
        probing.replayed(workflow.Results(small), BOOK)


# Proposals.

EDGE = SetParameter("x", Float(0, 2), "The best was at the edge.")


def test_a_proposal_is_the_study_s_own_file_with_its_changes(small: Study) -> None:
    text = probing.proposal(small, Answer((), edits=(EDGE,)), BOOK, STUDY)
    assert text == STUDY.replace(
        "  x: {linear: [0, 1]}  # what is tuned\n",
        "  # The best was at the edge.\n  x: {linear: [0, 2]}  # what is tuned\n",
    )
    assert probing.proposal(small, Answer(()), BOOK, STUDY) is None


def test_after_trials_it_is_a_following_study_with_a_name_of_its_own(small: Study) -> None:
    screen = display.choose(True, machine=False)
    for study in (small, small.child("small-2")):
        options = workflow.Options(inline=True)
        workflow.run(study, beginnings.program_of(small), BOOK, options, screen)
    text = probing.proposal(small, Answer((), edits=(EDGE,)), BOOK, STUDY)
    assert text is not None
    assert (parse(text).name, parse(text).parent) == ("small-3", "small")


def test_without_its_file_it_is_written_from_the_study(small: Study) -> None:
    edits = (EDGE, SetBudget(Budget(7), "Enough."), SetParameter("init", Fixed(3), "Why."))
    text = probing.proposal(small, Answer((), edits=edits), BOOK, None)
    assert text is not None
    assert parse(text).budget == Budget(7)
    assert parse(text).space["x"].source == Float(0, 2)


def test_the_file_that_is_edited_is_that_of_the_study(small: Study) -> None:
    assert probing._text_of(small, "small.yaml") == STUDY
    assert probing._text_of(small, "") is None
    assert probing._text_of(small, "none.yaml") is None
    for other in (
        STUDY.replace("study: small", "study: other"),
        STUDY.replace("[0, 1]", "[0, 3]"),
        "no study",
    ):
        Path("other.yaml").write_text(other)
        assert probing._text_of(small, "other.yaml") is None
    # What may differ between the file and the book.
    Path("other.yaml").write_text(STUDY.replace("trials: 3", "trials: 30"))
    assert probing._text_of(small, "other.yaml") is not None
    Path("other.yaml").write_bytes(b"study: \xff")
    assert probing._text_of(small, "other.yaml") is None


# Interrupted and killed.


def probe(here: Path) -> Done:
    return end(start(here, "probe", "variance", "small.yaml", "--seeds", 3, "--json"))


def begun(here: Path) -> bool:
    return bool(studies(here / BOOK)) if (here / BOOK / "book.db").exists() else False


def test_an_interrupted_probe_is_continued(here: Path) -> None:
    write_probed(here, pause=0.1)
    process = start(here, "probe", "variance", "small.yaml", "--seeds", 3)
    wait_until(lambda: any((here / BOOK).rglob("*.spool")) or begun(here))
    interrupt(process)
    left = end(process)
    assert left.code == 130
    assert left.err.splitlines()[-1] == "To continue: tunebook probe variance small.yaml"
    done = probe(here)
    assert done.code == 0
    assert studies(here / BOOK) == STAGES


def test_interrupted_between_two_stages_it_is_unfinished_too(
    small: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(workflow, "run", interrupted)
        left = ran(ask(small))
    assert left.ending.interrupted and left.report is None
    assert str(left) == "Interrupted. Probe again to continue."
    assert ran(ask(small)).ending.done


def test_a_killed_probe_is_continued(here: Path) -> None:
    write_probed(here, pause=0.1)
    process = start(here, "probe", "variance", "small.yaml", "--seeds", 3)
    wait_until(lambda: begun(here))
    os.killpg(process.pid, signal.SIGKILL)
    end(process)
    done = probe(here)
    assert done.code == 0
    assert studies(here / BOOK) == STAGES
    results = workflow.results("small.variance.all", here / BOOK)
    assert results.counts() == {"complete": 3}


def test_a_program_that_breaks_pauses_the_probe(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_probed(here, train="def train(run):\n    raise ValueError('no data')\n")
    done = call(capsys, "probe", "variance", "small.yaml", "--seeds", 12)
    assert done.code == 3
    assert "ValueError: no data" in done.err
    assert done.err.splitlines()[-2:] == [
        "Mend the program and probe again: failed trials are tried again when the code has "
        "changed, or with --retry-failed.",
        "To continue: tunebook probe variance small.yaml",
    ]
    # The report from the book says why, too.
    said = json.loads(call(capsys, "report", "small.variance", "--json").out)
    assert re.match(
        r"The probe has not come to its end: small\.variance\.all has not come to its end; \d "
        r"trials of it failed, the first with 'ValueError: no data",
        said["findings"][0]["sentence"],
    )
    write_probed(here)
    assert call(capsys, "probe", "variance", "small.yaml", "--seeds", 12).code == 0
