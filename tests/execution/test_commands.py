"""Commands as programs: what reaches the script, what is heard of it, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attempts import (
    TERMS,
    attempt_in,
    curve,
    is_alive,
    notes,
    outcome,
    run,
    spec_in,
    terms,
    train_here,
    wait_for,
)
from tunebook.core.commands import Command
from tunebook.core.errors import ProgramError
from tunebook.core.events import Decision, Event, Resumed, Started
from tunebook.core.study import Budget
from tunebook.core.trials import Cause
from tunebook.execution import commands, memory, programs
from tunebook.execution.commands import CommandProgram
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest, Terms

LOSS = "print('loss', 1.5)"
PATTERN = r"loss (?P<loss>\S+)"


def program(folder: Path, script: str, *arguments: str, **given: Any) -> CommandProgram:
    """A Python script as a command."""
    (folder / "script.py").write_text(textwrap.dedent(script))
    given.setdefault("patterns", (PATTERN,))
    return commands.of(Command((sys.executable, "script.py", *arguments), **given), folder)


def here(
    folder: Path,
    script: str,
    *arguments: str,
    config: dict[str, Any] | None = None,
    number: int = 1,
    given: Terms = TERMS,
    asked: Callable[[], StopRequest | None] | None = None,
    **fields: Any,
) -> list[Event]:
    """The events of one attempt at a script, run in this process."""
    attempt = attempt_in(folder, number=number, seed=11, config=config)
    function = program(folder, script, *arguments, **fields).load()
    return train_here(function, Spec(attempt, given), asked)


def ended(events: list[Event]) -> tuple[str, str]:
    found = outcome(events)
    return found.kind.value, found.reason


def test_places_parameters_and_environment_reach_the_script(tmp_path: Path) -> None:
    script = f"""
    import json, os, sys
    from pathlib import Path
    seen = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "session": os.getsid(0)}}
    seen["variables"] = {{n: os.environ[n] for n in ("TUNEBOOK_ATTEMPT", "MASTER_PORT", "PATH")}}
    seen["stdin"] = sys.stdin.read()
    Path("seen").write_text(json.dumps(seen))
    {LOSS}
    """
    places = ("{seed}", "{run_dir}", "{checkpoint_dir}", "{port}", "{max_steps}", "{lr}")
    events = here(tmp_path, script, *places, config={"lr": 1e-5}, given=terms(budget=Budget(20)))
    assert ended(events) == ("complete", "finished")
    seen = json.loads((tmp_path / "seen").read_text())
    seed, run_dir, checkpoint_dir, port, *rest = seen["arguments"]
    assert seed == "11"
    assert run_dir == str(tmp_path / "1" / "1" / "run")
    assert checkpoint_dir == str(tmp_path / "1" / "files" / "checkpoints")
    assert all(Path(place).is_dir() for place in (run_dir, checkpoint_dir))
    assert 1024 <= int(port) < 65536
    assert rest == ["20", "1e-05"]
    assert seen["folder"] == str(tmp_path)
    assert seen["variables"]["TUNEBOOK_ATTEMPT"] == str(tmp_path / "1" / "1")
    assert seen["variables"]["MASTER_PORT"] == port
    assert seen["stdin"] == ""


def test_parameters_in_a_file(tmp_path: Path) -> None:
    script = """
    import json, os, sys
    assert sys.argv[1] == os.environ["TUNEBOOK_PARAMS"]
    print("loss", json.load(open(sys.argv[1]))["lr"])
    """
    events = here(tmp_path, script, "{overrides}", config={"lr": 0.25}, overrides="json")
    assert curve(events) == [(0, 0.25)]


def test_parameters_in_the_environment(tmp_path: Path) -> None:
    script = "import os; print('loss', os.environ['LR'])"
    assert curve(here(tmp_path, script, config={"lr": 0.25}, overrides="environment")) == [
        (0, 0.25)
    ]


@pytest.mark.parametrize(
    ("script", "fields"),
    [
        ("print(json.dumps({'step': s, 'loss': s / 2}))", {"json_lines": ("stdout",)}),
        (
            "print('step', s, 'loss', s / 2)",
            {"patterns": (r"step (?P<step>\d+) loss (?P<loss>.*)",)},
        ),
        (
            "print(f'step {s} loss {s / 2}', end='\\r', file=sys.stderr)",
            {"patterns": (r"step (?P<step>\d+) loss (?P<loss>.*)",)},
        ),
        ("tunebook.log({'loss': s / 2}, step=s)", {}),
        ("run = run or tunebook.init(); run.log({'loss': s / 2}, step=s)", {}),
        (
            "open(sys.argv[1], 'a').write(json.dumps({'step': s, 'loss': s / 2}) + '\\n')",
            {"json_lines": ("{run_dir}/a/m.jsonl",)},
        ),
        (
            "open(os.environ['TUNEBOOK_METRICS'],'a').write(f'{{\"step\":{s},\"loss\":{s/2}}}\\n')",
            {},
        ),
        (
            "logs = logs or writer(); logs.add_scalar('loss', s / 2, s)",
            {"tensorboard": ("{run_dir}/tb",)},
        ),
    ],
)
def test_metrics_from_everywhere(tmp_path: Path, script: str, fields: dict[str, Any]) -> None:
    if "writer" in script:
        pytest.importorskip("tensorboardX")
    text = textwrap.dedent("""
    import json, os, sys
    import tunebook
    os.makedirs(os.path.dirname(sys.argv[1]))
    def writer():
        from tensorboardX import SummaryWriter
        return SummaryWriter(sys.argv[2])
    run = logs = None
    for s in range(3):
        LINE
    """).replace("LINE", script)
    fields = {"patterns": (), **fields}
    events = here(tmp_path, text, "{run_dir}/a/m.jsonl", "{run_dir}/tb", **fields)
    assert curve(events) == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert ended(events) == ("complete", "finished")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "import sys; print('too wide'); sys.exit(3)",
            ("infeasible", "the command said so by exit code 3, after it said 'too wide'"),
        ),
        (
            "raise SystemExit('no such data')",
            ("failed", "the command left with exit code 1, after it said 'no such data'"),
        ),
        ("import os; os._exit(74)", ("failed", "the command left with exit code 74")),
        (
            "import os; os.kill(os.getpid(), 11)",
            ("crashed", "the process died of a segmentation fault"),
        ),
        ("import os; os.kill(os.getpid(), 9)", ("crashed", "the process was killed by SIGKILL")),
        ("import os; os.kill(os.getpid(), 15)", ("preempted", "the system asked it to leave")),
        (
            "raise RuntimeError('CUDA out of memory.')",
            ("infeasible", "out of memory, after it said 'RuntimeError: CUDA out of memory.'"),
        ),
        ("raise MemoryError", ("infeasible", "out of memory, after it said 'MemoryError'")),
        (
            "import os; print('terminate called after: std::bad_alloc', flush=True); os.abort()",
            (
                "infeasible",
                "out of memory, after it said 'terminate called after: std::bad_alloc'",
            ),
        ),
        (
            "print('note: out of memory is possible'); raise SystemExit(1)",
            (
                "failed",
                "the command left with exit code 1, after it said "
                "'note: out of memory is possible'",
            ),
        ),
        ("print('loss nan')", ("infeasible", "loss became nan at step 0")),
        (
            "print('lose 1')",
            (
                "failed",
                "the objective's metric 'loss' was never seen; the command gave nothing: "
                "see 'metrics' in the study, and the trial's log",
            ),
        ),
        (
            "import tunebook; tunebook.init().infeasible('too wide')",
            ("infeasible", "too wide"),
        ),
    ],
)  # fmt: skip
def test_how_it_ends(tmp_path: Path, script: str, expected: tuple[str, str]) -> None:
    events = here(tmp_path, script, infeasible_exit_codes=(3,))
    assert ended(events) == expected


@pytest.mark.parametrize(
    ("number", "kind", "reason"),
    [
        (signal.SIGKILL, "crashed", "the process was killed by SIGKILL (exit code 137)"),
        (signal.SIGSEGV, "crashed", "the process died of a segmentation fault (exit code 139)"),
        (signal.SIGABRT, "crashed", "the process died of an abort (exit code 134)"),
        (signal.SIGTERM, "preempted", "the system asked it to leave (exit code 143)"),
        # A program may leave with such codes by itself.
        (signal.SIGHUP, "failed", "the command left with exit code 129, after it said 'loss 1'"),
    ],
)
def test_a_shell_does_not_hide_how_its_program_ended(
    tmp_path: Path, number: signal.Signals, kind: str, reason: str
) -> None:
    (tmp_path / "inner.sh").write_text(f"kill -{number.value} $$")
    (tmp_path / "outer.sh").write_text("echo loss 1; sh inner.sh 2>/dev/null; exit $?")
    command = commands.of(Command(("sh", "outer.sh"), patterns=(PATTERN,)), tmp_path)
    found = ended(train_here(command.load(), Spec(attempt_in(tmp_path), TERMS)))
    assert found == (kind, reason)


def test_a_code_that_means_infeasible_comes_before_the_signal(tmp_path: Path) -> None:
    events = here(tmp_path, "import sys; sys.exit(137)", infeasible_exit_codes=(137,))
    assert ended(events) == ("infeasible", "the command said so by exit code 137")


def test_the_last_lines_are_the_detail(tmp_path: Path) -> None:
    found = outcome(here(tmp_path, "print('a' * 10 + '\\n' + 'b' * 10); raise ValueError('c')"))
    assert found.detail.startswith("aaaaaaaaaa\nbbbbbbbbbb\nTraceback")
    assert found.detail.endswith("ValueError: c")
    log = (tmp_path / "1" / "1" / "log.txt").read_text()
    assert "aaaaaaaaaa\nbbbbbbbbbb\n" in log


def test_killed_by_the_system_for_want_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = iter([0, 1, 2, 3])
    monkeypatch.setattr(memory, "oom_kills", lambda: next(kills))
    found = outcome(here(tmp_path, "import sys; sys.exit(137)"))
    assert (found.kind.value, found.cause) == ("infeasible", Cause.OUT_OF_MEMORY)


def test_what_cannot_be_started(tmp_path: Path) -> None:
    function = CommandProgram(Command(("./nothing",)), str(tmp_path)).load()
    found = ended(train_here(function, spec_in(tmp_path)))
    assert found == ("failed", f"cannot start './nothing' in {tmp_path}: No such file or directory")


def test_what_cannot_be_passed(tmp_path: Path) -> None:
    found = ended(here(tmp_path, LOSS, "{x}", config={"x": "\0"}))
    assert found[0] == "failed"
    assert "cannot be passed to a program" in found[1]


def test_steps_that_go_back_are_noted(tmp_path: Path) -> None:
    script = "for s in (0, 1, 2, 1, 0, 3, 3): print('step', s, 'loss', s)"
    events = here(tmp_path, script, patterns=(r"step (?P<step>\d+) loss (?P<loss>\S+)",))
    assert curve(events) == [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]
    assert ended(events) == ("complete", "finished")
    assert notes(events) == [
        "'loss' came at step 1 after step 2; points that go back are left out",
        "'loss' was logged twice at step 3; the first value counts",
    ]


RESUMING = """
    import sys
    from pathlib import Path
    saved = Path(sys.argv[1], "step")
    begin = int(saved.read_text()) + 1 if saved.exists() else 0
    for step in range(begin, 6):
        print("step", step, "loss", step + begin / 10, flush=True)
        saved.write_text(str(step))
        if step == int(sys.argv[2]):
            import os
            os.kill(os.getpid(), 9)
    """


def test_a_script_goes_on_from_its_own_checkpoints(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"patterns": (r"step (?P<step>\d+) loss (?P<loss>\S+)",)}
    first = here(tmp_path, RESUMING, "{checkpoint_dir}", "2", **fields)
    assert ended(first)[0] == "crashed"
    second = here(tmp_path, RESUMING, "{checkpoint_dir}", "9", number=2, **fields)
    assert [(e.source, e.step) for e in second if isinstance(e, Resumed)] == [(1, 2)]
    assert curve(second) == [(3, 3.3), (4, 4.3), (5, 5.3)]
    # It has nothing left to do, and what it has done is still its result.
    third = here(tmp_path, RESUMING, "{checkpoint_dir}", "9", number=3, **fields)
    assert [(e.source, e.step) for e in third if isinstance(e, Resumed)] == [(2, 5)]
    assert ended(third) == ("complete", "finished")


def test_a_script_uses_the_checkpoints_of_its_run(tmp_path: Path) -> None:
    """What was logged before a checkpoint is in the book, even if the worker is killed."""
    script = """
    import os, signal
    import tunebook
    run = tunebook.init()
    folder = run.resume()
    begin = int((folder / "step").read_text()) + 1 if folder else 0
    for step in range(begin, 4):
        run.log({"loss": step + begin / 10}, step=step)
        with run.checkpoint(step) as folder:
            (folder / "step").write_text(str(step))
        if step == 1 and not begin:
            os.kill(os.getppid(), signal.SIGKILL)
    """
    command = program(tmp_path, script, patterns=())
    proposed = [attempt_in(tmp_path, number=number) for number in (1, 2)]
    events = run(Processes(TERMS, [Slot(0)]), command, proposed)
    first, second = ([e for e in events if e.attempt == attempt] for attempt in proposed)
    assert (ended(first)[0], curve(first)) == ("crashed", [(0, 0.0), (1, 1.0)])
    assert [(e.source, e.step) for e in second if isinstance(e, Resumed)] == [(1, 1)]
    assert (ended(second)[0], curve(second)) == ("complete", [(2, 2.2), (3, 3.2)])
    assert list((tmp_path / "1").rglob("heard-*")) == []


def test_one_that_begins_anew_resumes_nothing(tmp_path: Path) -> None:
    script = "import sys; open(sys.argv[1] + '/junk', 'w'); print('loss 1')"
    here(tmp_path, script, "{checkpoint_dir}")
    second = here(tmp_path, script, "{checkpoint_dir}", number=2)
    assert [event for event in second if isinstance(event, Resumed)] == []


OBEDIENT = """
    import signal, sys, time
    def leave(*_):
        print("loss", 2, flush=True)
        sys.exit(5)
    signal.signal(signal.SIGTERM, leave)
    print("loss", 1, flush=True)
    while True:
        time.sleep(0.01)
    """


def test_a_stop_request_is_passed_on(tmp_path: Path) -> None:
    log = tmp_path / "1" / "1" / "log.txt"

    def ask() -> StopRequest | None:
        begun = log.exists() and "loss 1\n" in log.read_text()
        return StopRequest("stop", "stopped by a rule", 0.0) if begun else None

    events = here(tmp_path, OBEDIENT, asked=ask)
    assert curve(events) == [(0, 1.0), (1, 2.0)]
    assert ended(events) == ("stopped", "stopped by a rule at step 1")


def test_a_budget_of_seconds_ends_it(tmp_path: Path) -> None:
    events = here(tmp_path, OBEDIENT, given=terms(budget=Budget(1, "seconds")))
    assert ended(events) == ("complete", "finished")
    assert curve(events) == [(0, 1.0), (1, 2.0)]


def test_one_that_does_not_leave_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_LEAVE_SECONDS", 0.2)
    script = """
    import signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("loss", 1, flush=True)
    time.sleep(600)
    """
    log = tmp_path / "1" / "1" / "log.txt"

    def ask() -> StopRequest | None:
        begun = log.exists() and "loss 1\n" in log.read_text()
        return StopRequest("preempt", "interrupted", 0.0) if begun else None

    assert ended(here(tmp_path, script, asked=ask)) == ("preempted", "interrupted at step 0")


def test_a_trial_that_diverges_ends_its_script(tmp_path: Path) -> None:
    script = """
    import os, time
    open("pid", "w").write(str(os.getpid()))
    print("loss nan", flush=True)
    time.sleep(600)
    """
    assert ended(here(tmp_path, script))[0] == "infeasible"
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_what_a_script_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    script = """
    import subprocess
    left = subprocess.Popen(["sleep", "600"])
    open("pid", "w").write(str(left.pid))
    print("loss 1")
    """
    assert ended(here(tmp_path, script)) == ("complete", "finished")
    wait_for(lambda: not is_alive(int((tmp_path / "pid").read_text())))


class TestInProcesses:
    """The whole family: fork server, keeper, worker and script."""

    def test_it_runs_and_dies_like_any_program(self, tmp_path: Path) -> None:
        script = f"import sys\n{LOSS}\nsys.exit(int(sys.argv[1]))"
        command = program(tmp_path, script, "{code}")
        proposed = [attempt_in(tmp_path, n, config={"code": n - 1}) for n in (1, 2)]
        events = run(Processes(TERMS, [Slot(0), Slot(1)]), command, proposed)
        assert curve(events) == [(0, 1.5)]
        kinds = {
            e.attempt.trial.number: e.outcome.kind.value for e in events if hasattr(e, "outcome")
        }
        assert kinds == {1: "complete", 2: "failed"}

    def test_a_deaf_script_is_ended_after_the_grace(self, tmp_path: Path) -> None:
        script = """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open("pid", "w").write(str(os.getpid()))
        time.sleep(600)
        """
        command = program(tmp_path, script)

        def decide(_: Event) -> Decision:
            return Decision.DRAIN if (tmp_path / "pid").exists() else Decision.GO_ON

        executor = Processes(TERMS, [Slot(0)], grace=0.3)
        found = outcome(run(executor, command, [attempt_in(tmp_path)], decide))
        assert (found.kind.value, found.reason) == ("preempted", "interrupted; ended after 0.3 s")
        assert not is_alive(int((tmp_path / "pid").read_text()))

    def test_a_script_does_not_outlive_its_worker(self, tmp_path: Path) -> None:
        script = """
        import os, time
        open("partial", "w").write(f"{os.getpid()} {os.getppid()}")
        os.rename("partial", "pids")
        time.sleep(600)
        """
        pids = tmp_path / "pids"
        killed: list[int] = []

        def decide(_: Event) -> Decision:
            if pids.exists() and not killed:
                killed.append(int(pids.read_text().split()[1]))
                os.kill(killed[0], signal.SIGKILL)
            return Decision.GO_ON

        command = program(tmp_path, script)
        found = outcome(run(Processes(TERMS, [Slot(0)]), command, [attempt_in(tmp_path)], decide))
        assert (found.kind.value, found.reason) == ("crashed", "the process was killed by SIGKILL")
        assert not is_alive(int(pids.read_text().split()[0]))

    def test_interrupts_are_not_ignored(self, tmp_path: Path) -> None:
        script = """
        import signal
        print("loss", int(signal.getsignal(signal.SIGINT) is signal.default_int_handler))
        """
        events = run(Processes(TERMS, [Slot(0)]), program(tmp_path, script), [attempt_in(tmp_path)])
        assert curve(events) == [(0, 1.0)]
        assert any(isinstance(event, Started) for event in events)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-program-here",), "there is no program 'no-such-program-here' on the PATH"),
        (("train.sh",), "there is no program 'train.sh' on the PATH; write './train.sh'"),
        (("./trian.sh",), "there is no file './trian.sh' in {}; did you mean 'train.sh'?"),
        (
            ("./train.sh",),
            "'./train.sh' is not executable; run chmod +x, or name what runs it: "
            "[bash, ./train.sh]",
        ),
    ],
)
def test_programs_that_are_not_there(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "train.sh").touch()
    with pytest.raises(ProgramError) as caught:
        commands.of(Command(arguments), tmp_path)
    assert str(caught.value) == message.format(tmp_path)


def test_its_code_is_the_command_and_the_script(tmp_path: Path) -> None:
    before = program(tmp_path, LOSS)
    assert before.path == tmp_path / "script.py"
    assert before.reference == f"{sys.executable} script.py"
    code = before.code
    assert program(tmp_path, LOSS, "--more").code != code
    assert program(tmp_path, "pass").code != code
    assert program(tmp_path, LOSS).code == code


def test_it_can_be_brought_into_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = program(tmp_path, LOSS, "{overrides}", infeasible_exit_codes=(3,))
    assert programs.from_json(programs.to_json(command)) == command
