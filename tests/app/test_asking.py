"""What a probe is asked: anew, as it was begun, or otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commandline import call
from probed import BOOK, SEEDS, STUDY, ask, ran, studies, write_probed
from tunebook.app import asking, display, workflow
from tunebook.app import start as beginnings
from tunebook.core.errors import StudyChanged, StudyError, UnknownName
from tunebook.core.study import Budget, Study


@pytest.fixture
def small(here: Path) -> Study:
    return beginnings.read_study(write_probed(here).relative_to(here))


def test_a_probe_begins_from_what_the_book_knows(small: Study) -> None:
    first = ask(small)
    assert first.source == "the values of small, with x in the middle of its range"
    assert dict(first.start) == {"init": None, "x": 0.5}
    assert (first.options, first.round, first.selected) == ((("seeds", 3),), 1, None)
    workflow.run(
        small,
        beginnings.program_of(small),
        BOOK,
        workflow.Options(inline=True),
        display.choose(True, machine=False),
    )
    best = workflow.results("small", BOOK).best()
    assert best is not None
    later = ask(small)
    assert dict(later.start) == best[0].trial.config
    assert later.selected == best[1].value
    assert later.source.startswith(f"trial {best[0].trial.number} of small, its best so far")


def test_what_was_begun_is_continued_as_it_was(small: Study) -> None:
    ran(first := ask(small, {"x": 0.25}))
    assert ask(small) == ask(small, {"x": 0.25}) == first
    # Options that nobody chose change nothing.
    assert asking.ask("variance", small, {}, {}, BOOK) == first


def test_options_have_their_defaults_and_are_checked(small: Study) -> None:
    assert asking.ask("variance", small, {}, {}, BOOK).options == (("seeds", 10),)
    with pytest.raises(StudyError, match="seeds of the probe variance is at least 2, got 1"):
        asking.ask("variance", small, {"seeds": 1}, {}, BOOK)


def test_what_only_the_answer_depends_on_may_be_asked_anew(small: Study) -> None:
    first = ran(ask(small))
    asked = asking.ask("variance", small, {**SEEDS, "difference": 1e-9}, {}, BOOK)
    assert dict(asked.options) == {"seeds": 3, "difference": 1e-9}
    before = studies()
    again = ran(asked)
    assert studies() == before
    told = [f for f in again.findings if f.question.key == "probe-seeds"]
    assert told and told[0] not in first.findings


def test_what_was_begun_otherwise_is_refused_with_the_difference(small: Study) -> None:
    ran(ask(small))
    with pytest.raises(StudyChanged) as caught:
        asking.ask("variance", small, {"seeds": 4}, {"x": 0.1}, BOOK)
    assert str(caught.value) == (
        "the probe variance of small has been begun otherwise:\n"
        "  ~ x: 0.5 -> 0.1\n"
        "  ~ seeds: 3 -> 4\n"
        "Either put that back, to continue it, or begin anew with --again"
    )
    longer = replace(small, budget=Budget(9), program="other.py:train")
    with pytest.raises(StudyChanged) as caught:
        ask(longer)
    assert caught.value.difference == (
        "~ budget: none -> 9 steps",
        "~ program: train.py:train -> other.py:train",
    )


def test_a_name_that_is_none_is_refused_before_all_else(small: Study) -> None:
    ran(ask(small))
    with pytest.raises(StudyError, match="no parameter is named 'xx'; did you mean 'x'"):
        ask(small, {"xx": 1})
    with pytest.raises(UnknownName, match="no probe is named 'varience'; did you mean 'variance'"):
        asking.ask("varience", small, {}, {}, BOOK)


def test_a_study_that_lacks_a_knob_is_refused(small: Study) -> None:
    with pytest.raises(StudyError, match=r"cannot work on small:\n  it needs learning_rate, "):
        asking.ask("stability", small, {}, {}, BOOK)


def test_the_memory_that_is_free_is_kept_as_the_limit(
    small: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "free_bytes", lambda: 1000)
    sized = replace(small, budget=Budget(9), knobs=replace(small.knobs, batch_size="x"))
    asked = asking.ask("batch-size", sized, {}, {}, BOOK)
    assert asked.options == (("memory", 800),)
    assert asking.ask("batch-size", sized, {"memory": "1KB"}, {}, BOOK).options == (
        ("memory", 1024),
    )
    # What the study says holds by itself.
    limited = replace(sized, resources=replace(sized.resources, memory=2**30))
    assert asking.ask("batch-size", limited, {}, {}, BOOK).options == ()


@pytest.mark.parametrize("rate", [-1, 0, -0.5])
def test_a_rate_that_cannot_be_swept_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], rate: float
) -> None:
    path = write_probed(here)
    path.write_text(f"{STUDY}max_steps: 50\n".replace("knobs: {", "knobs: {learning_rate: x, "))
    done = call(capsys, "probe", "stability", "small.yaml", "--set", f"x={rate}")
    assert done.code == 1
    assert done.err.strip() == (
        f"Error: the procedure varies x by factors around its value, which is {rate}; give it one "
        "above 0, in the study or by --set"
    )
    assert studies() == {}
