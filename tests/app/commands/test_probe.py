"""`tunebook probe` as it is called."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from commandline import call
from probed import write_probed
from tunebook.app import asking
from tunebook.core.domains import Float, Value
from tunebook.core.edits import SetParameter
from tunebook.procedures import catalogue
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.subjects import Subject
from tunebook.studyfile import read

PROBE = ("probe", "variance", "small.yaml", "--seeds", 3)


@pytest.fixture
def small(here: Path) -> Path:
    return write_probed(here)


def proposing(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Runs one trial and proposes to look further."""
    yield subject.stage("one", {"x": [0.0]}, goal="Why?")
    edge = SetParameter("x", Float(0, 2), "The best was at the edge.")
    return Answer((), edits=(edge,), retune=("x",))


@pytest.fixture
def proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = replace(catalogue.PROBES["variance"], begin=proposing)
    monkeypatch.setattr(catalogue, "PROBES", {"variance": probe})


def test_a_probe_says_where_it_starts_and_what_it_found(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, *PROBE, "--set", "x=0.25", "--html", "page.html")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "Starts from the values of small, and x=0.25 as given."
    assert lines[1] == "small.variance"
    assert lines[5].rstrip() == "trials   9 trials in 3 stages: 9 complete"
    assert lines[2].startswith("How much do results vary with the seed")
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("Wrote page.html")
    assert "Over 3 seeds" in Path("page.html").read_text()
    assert "[3/3] trial" in done.err


def test_quiet_is_quiet_and_what_is_done_is_not_done_again(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        done = call(capsys, *PROBE, "-q")
        assert (done.code, done.out, done.err) == (0, "", "")
    # An option that was not given is the one that it was begun with.
    assert call(capsys, "probe", "variance", "small.yaml", "-q").code == 0
    other = call(capsys, "probe", "variance", "small.yaml", "--seeds", 4)
    assert other.code == 1
    assert "  ~ seeds: 3 -> 4\n" in other.err
    assert call(capsys, "probe", "variance", "small.yaml", "--seeds", 4, "--again", "-q").code == 0


def test_mistakes(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code, text in (
        (("--set", "xx=1"), 1, "no parameter is named 'xx'; did you mean 'x'?"),
        (("--set", "x"), 2, "--set takes NAME=VALUE, got 'x'"),
        (("--set", "x=far"), 1, "x is a number, 0 to 1; got 'far'"),
        (("--sedes", "3"), 2, "No such option: --sedes"),
    ):
        done = call(capsys, *PROBE, *arguments)
        assert done.code == code
        assert text in done.err
    missing = call(capsys, "probe", "variance", "none.yaml")
    assert missing.code == 1
    assert "none.yaml" in missing.err
    assert call(capsys, "probe", "varience", "small.yaml").code == 2


def test_values_are_read_as_a_study_file_reads_them(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--set", "x=1e-1", "--set", "init=null")
    assert call(capsys, *PROBE, *given, "-q").code == 0
    (asked, *_) = {study.asked for study in asking.studies(Path(".tunebook")) if study.asked}
    assert asked is not None
    assert dict(asked.start) == {"x": 0.1, "init": None}


def test_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, *PROBE, "--json")
    data = json.loads(done.out)
    assert (data["probe"], data["proposal"], data["retune"]) == ("variance", None, [])
    assert data["start"] == "the values of small, with x in the middle of its range"
    assert data["findings"][0]["question"].startswith("probe-")
    assert {picture["key"] for picture in data["pictures"]} == {"probe-variance", "probe-seeds"}


def test_json_of_a_probe_that_breaks(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_probed(here, train="def train(run):\n    1 / 0\n")
    done = call(capsys, "probe", "variance", "small.yaml", "--seeds", 6, "--json")
    assert done.code == 3
    data = json.loads(done.out)
    assert (data["probe"], data["ended"]) == ("variance", "paused")
    assert "ZeroDivisionError" in data["reason"]


def test_a_probe_of_which_no_trial_has_a_result_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_probed(here, train="def train(run):\n    1 / 0\n")
    done = call(capsys, "probe", "variance", "small.yaml", "--seeds", 3)
    assert done.code == 5
    assert done.err.endswith(
        "No trial of the probe has a result: the program fails in all of them.\n"
    )


@pytest.mark.usefixtures("proposes")
def test_a_proposal_is_written_and_shown(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = small.read_text()
    done = call(capsys, "probe", "variance", "small.yaml")
    assert done.code == 0
    assert (
        "Proposed changes of the study\n"
        "  @@ -5,3 +5,4 @@\n"
        "   nuisance:\n"
        "  -  x: {linear: [0, 1]}  # what is tuned\n"
        "  +  # The best was at the edge.\n"
        "  +  x: {linear: [0, 2]}  # what is tuned\n"
        "   fixed:\n"
        "To be tuned again after that: x\n"
    ) in done.out
    assert done.out.endswith(
        "\nWrote small.variance.yaml, the study with what is proposed. To run it: "
        "tunebook run small.variance.yaml\n"
    )
    # The report from the book has them, too.
    assert "  +  x: {linear: [0, 2]}" in call(capsys, "report", "small.variance").out
    assert small.read_text() == before
    assert read(Path("small.variance.yaml")).space["x"].source == Float(0, 2)
    data = json.loads(call(capsys, "probe", "variance", "small.yaml", "-o", "b.yaml", "--json").out)
    assert (data["proposal"], data["retune"]) == ("b.yaml", ["x"])
    assert Path("b.yaml").read_text() == Path("small.variance.yaml").read_text()


@pytest.mark.usefixtures("proposes")
def test_a_probe_continued_from_another_folder_changes_the_file_it_is_given(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = call(capsys, "probe", "variance", "small.yaml")
    kept = Path("small.variance.yaml").read_text()
    assert "# what is tuned" in kept
    below = small.parent / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    # Where the probe was begun, this path named the study.
    Path("small.yaml").write_text("# Another.\n" + small.read_text())
    book = ("--dir", "../.tunebook")
    again = call(capsys, "probe", "variance", "../small.yaml", *book, "-o", "out.yaml")
    assert again.code == 0, again.err
    assert Path("out.yaml").read_text() == kept
    shown = [
        done.out.partition("Proposed changes of the study\n")[2].partition("More:")[0]
        for done in (first, again)
    ]
    assert shown[0] and shown[0] == shown[1]
    Path("small.yaml").unlink()
    without = call(capsys, "probe", "variance", "../small.yaml", *book, "-o", "out.yaml")
    assert without.code == 0, without.err
    assert Path("out.yaml").read_text() == kept


def test_the_book_and_the_report_know_the_probe(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, *PROBE, "-q").code == 0
    book = call(capsys, "book").out
    assert book.count("reproduce") == 1
    assert "tunebook probe variance small.yaml --seeds 3" in book
    assert "Over 3 seeds" in call(capsys, "report").out
    assert "Over 3 seeds" in call(capsys, "report", "small.variance.all").out


def test_every_probe_takes_the_options_that_all_have() -> None:
    from tunebook.app.commands.probe import Common, probe

    shared = set(inspect.signature(Common).parameters)
    for command in probe.registered_commands:
        assert command.callback is not None
        assert shared <= set(inspect.signature(command.callback).parameters), command.name


@pytest.mark.usefixtures("small", "proposes")
def test_what_somebody_has_written_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("small.yaml").read_text()
    refused = call(capsys, *PROBE, "--output", "./small.yaml")
    assert refused.code == 1
    assert "small.yaml is the study itself; name another file with --output" in refused.err
    assert Path("small.yaml").read_text() == before
    assert call(capsys, *PROBE).code == 0
    first = Path("small.variance.yaml")
    kept = first.read_text() + "# mine\n"
    first.write_text(kept)
    assert "small.variance-2.yaml" in call(capsys, *PROBE).out
    assert first.read_text() == kept
