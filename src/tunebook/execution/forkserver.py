"""The fork server: imports the training program once, then forks a keeper for each attempt.

It has one thread and touches no accelerator, so that forking is safe. Where importing the program
starts threads or an accelerator, it says so, and a server without the program takes its place:
then each worker is a Python of its own.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tunebook.core.errors import ProgramError
from tunebook.core.protocols import TrainFunction
from tunebook.execution import family, keeper, programs, worker
from tunebook.execution.run import SpoolRun
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec

START_OF_WORKER = (
    "import sys; sys.path[:] = {path!r}; from tunebook.execution.worker import main; main()"
)


def main() -> None:
    """The server's life: load the program, say whether it can be forked, serve."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    lines = channel.makefile("r", encoding="utf-8")
    first = json.loads(lines.readline())
    family.adopt_orphans()
    try:
        function = programs.from_json(first["program"]).load() if first["warm"] else None
    except BaseException as error:
        _say(channel, error=_explain(error), detail=traceback.format_exc())
        return
    obstacle = _obstacle() if first["warm"] else None
    _say(channel, ready=True, obstacle=obstacle)
    if obstacle is None:
        _serve(channel, _how_to_work(function, first["program"]))


def _serve(channel: socket.socket, work: Callable[[Spec, Slot], None]) -> None:
    """Fork keepers on request and tell of their ends, until the coordinator is gone."""
    keepers: dict[int, str] = {}
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer)
    buffer = b""
    while True:
        ready, _, _ = select.select([channel.fileno(), reader], [], [])
        if reader in ready:
            os.read(reader, 4096)
        for pid, status in family.reap().items():
            if pid in keepers:
                folder = keepers.pop(pid)
                if status != 0:
                    # Killed: its worker dies with it, but what the worker had started is now ours.
                    family.kill_descendants(spare=frozenset(keepers))
                _say(channel, ended=folder)
        if channel.fileno() in ready:
            received = channel.recv(65536)
            if not received:
                return
            *complete, buffer = (buffer + received).split(b"\n")
            for line in complete:
                request = json.loads(line)
                pid = _fork_keeper(channel, request, work)
                keepers[pid] = request["folder"]


def _fork_keeper(
    channel: socket.socket, request: dict[str, Any], work: Callable[[Spec, Slot], None]
) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
        os.setsid()
        slot = Slot(**{**request["slot"], "gpus": tuple(request["slot"]["gpus"])})
        spec = Spec.read(Path(request["folder"]))
        keeper.keep(spec, slot, lambda: work(spec, slot))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _how_to_work(function: TrainFunction | None, program: str) -> Callable[[Spec, Slot], None]:
    if function is not None:
        warm = function
        return lambda spec, _: worker.train(warm, SpoolRun(spec))
    return lambda spec, _: _start_python(spec, program)


def _start_python(spec: Spec, program: str) -> None:
    """Become a fresh Python that loads the program itself; the program comes through memory."""
    descriptor = os.memfd_create("program", flags=0)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(program.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    start = START_OF_WORKER.format(path=sys.path)
    os.execv(sys.executable, [sys.executable, "-c", start, str(spec.folder), str(descriptor)])


def _obstacle() -> str | None:
    """Why this process must not be forked, now that the program is imported."""
    tasks = Path("/proc/self/task")
    threads = len(list(tasks.iterdir())) if tasks.exists() else 1
    if threads > 1:
        return f"importing it started {threads - 1} threads"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "importing it initialised CUDA"
    return None


def _explain(error: BaseException) -> str:
    """One line on an exception of the user's module, with its place."""
    if isinstance(error, ProgramError):
        return str(error)
    own = Path(__file__).parent
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent != own and not frame.filename.startswith("<frozen")
    ]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def _say(channel: socket.socket, **message: Any) -> None:
    try:
        channel.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        # The coordinator is gone. Keepers need neither it nor this server.
        os._exit(0)


def request_line(folder: str, slot: Slot) -> bytes:
    """What a coordinator sends for each attempt."""
    return json.dumps({"folder": folder, "slot": asdict(slot)}).encode() + b"\n"
