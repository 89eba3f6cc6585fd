"""A run on the screen."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from coordination import COMPLETE, FAILED, points, small_study
from shown import check_screen, results, screen
from tunebook.app import display
from tunebook.app.display import Lines, LiveTable, Silent
from tunebook.app.progress import Progress
from tunebook.core.events import Event, Finished, Noted, Started, Tick
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, FromSequence, Outcome, OutcomeKind, Trial

STUDY = small_study()
FIRST, SECOND = STUDY.space.settings()


@pytest.fixture(autouse=True)
def _twelve_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Progress, "seconds", 12.0)


def progress_of(study: Study, found: Results | None = None) -> Progress:
    totals = dict.fromkeys(study.space.settings(), study.trials)
    return Progress(found or Results(study), totals, workers=2)


def attempt(trial: int) -> Attempt:
    setting = (FIRST, SECOND)[(trial - 1) % 2]
    return Attempt(Trial("small", trial, setting, {}, 0, FromSequence(trial)), 1, "token", "folder")


EVENTS: tuple[Event, ...] = (
    Started(attempt(1), "here", 1),
    points(attempt(1), 0, 4),
    Finished(attempt(1), COMPLETE, 75.0),
    Noted(attempt(2), "skipped a \x1b[2Jcheckpoint"),
    Finished(attempt(2), FAILED, 0.5),
    Finished(attempt(3), Outcome(OutcomeKind.PREEMPTED, "interrupted"), 1.0),
    Tick(0),
)


def shown_by(make: Callable[[Console], Lines | LiveTable], **options: object) -> str:
    written = io.StringIO()
    console = Console(file=written, width=80, height=24, **options)  # type: ignore[arg-type]
    screen = make(console)
    with screen.showing(progress_of(STUDY)) as show:
        for event in EVENTS:
            show(event)
        screen.notice("The code has changed.")
    return written.getvalue()


def test_a_line_for_each_trial_that_ends() -> None:
    assert shown_by(Lines).splitlines() == [
        "small: 0 of 6 trials done, 2 workers",
        "[1/6] trial 1 (arm=a) complete: 0.2 at step 4 [1 min 15 s]",
        "small/2 attempt 1: skipped a \\x1b[2Jcheckpoint",
        "[2/6] trial 2 (arm=b) failed: ValueError: no [0.5 s]",
        "[2/6] trial 3 (arm=a) preempted: interrupted [1.0 s]",
        "The code has changed.",
    ]


def test_the_live_table_tells_what_must_not_be_missed_and_is_gone_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(display, "REDRAW_SECONDS", -1.0)
    written = shown_by(LiveTable, force_terminal=True, color_system=None)
    assert "small/2 attempt 1: skipped a \\x1b[2Jcheckpoint" in written
    assert "trial 2 (arm=b) failed: ValueError: no [0.5 s]" in written
    assert "The code has changed." in written
    assert "trial 1 (arm=a) complete" not in written
    assert "0.2 (trial 1, step 4)" in written
    erase_line_and_go_up = "\x1b[1A\x1b[2K"
    assert written.endswith(erase_line_and_go_up * 6)


def test_nothing_is_shown_when_nothing_is_wished_for(capsys: pytest.CaptureFixture[str]) -> None:
    silent = Silent()
    with silent.showing(progress_of(STUDY)) as show:
        for event in EVENTS:
            show(event)
        silent.notice("The code has changed.")
    assert capsys.readouterr() == ("", "")


def test_the_table() -> None:
    progress = progress_of(STUDY)
    for event in EVENTS:
        progress.note(event)
    title, _, *rows = screen(display.table(progress, most=10))
    assert title.startswith("small  2 of 6 trials, 12 s, about 1 min 16 s left")
    assert rows == [
        "setting  done  running  outcomes                 best error",
        "arm=a    1/3   0        1 complete, 1 preempted  0.2 (trial 1, step 4)",
        "arm=b    1/3   0        1 failed                 -",
        "Ctrl-C stops; the same command continues",
    ]


def test_of_many_settings_the_best_are_shown() -> None:
    progress = progress_of(STUDY)
    progress.note(points(attempt(2), 0, 4))
    progress.note(Finished(attempt(2), COMPLETE, 1.0))
    lines = screen(display.table(progress, most=1))
    assert [line.split()[0] for line in lines[3:]] == ["arm=b", "and", "Ctrl-C"]
    assert "and 1 more setting" in lines


def test_it_says_what_it_waits_for() -> None:
    progress = progress_of(small_study(program="train.py:train"))
    assert display.state(progress) == "0 of 6 trials, 12 s, loading train.py:train"
    progress.note(Started(attempt(1), "here", 1))
    assert display.state(progress) == "0 of 6 trials, 12 s"


@given(results(), st.integers(1, 20))
def test_any_run_fits(found: Results, most: int) -> None:
    progress = progress_of(found.study, found)
    check_screen(screen(display.table(progress, most)))


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("quiet", "machine", "terminal", "kind"),
    [
        (True, False, "xterm", Silent),
        (False, False, "xterm", LiveTable),
        (False, True, "xterm", Lines),
        (False, False, "dumb", Lines),
        (False, False, None, Lines),
    ],
)
def test_the_display_for_a_screen(
    monkeypatch: pytest.MonkeyPatch, quiet: bool, machine: bool, terminal: str | None, kind: type
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", terminal or "xterm")
    monkeypatch.setattr(sys, "stderr", _Terminal() if terminal else io.StringIO())
    assert type(display.choose(quiet, machine)) is kind
