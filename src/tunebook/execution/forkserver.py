"""The fork server: imports the training program once, then forks a keeper for each attempt.

It has one thread and touches no accelerator, so that forking is safe. Where importing the program
starts threads or an accelerator, it says so, and a server without the program takes its place:
then each worker is a Python of its own.

The first message it gets is {"program": ..., "warm": ...}; each one after that is the folder of an
attempt to start. It answers {"obstacle": ...} or {"error": ...} once, and then with the folder of
each attempt whose keeper has ended.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tunebook.core.protocols import TrainFunction
from tunebook.execution import family, keeper, programs, worker
from tunebook.execution.channel import Channel
from tunebook.execution.spec import Spec

START_OF_WORKER = (
    "import sys; sys.path[:] = {path!r}; from tunebook.execution.worker import main; main()"
)


def main() -> None:
    """The server's life: load the program, say whether it can be forked, serve."""
    channel = Channel(socket.socket(fileno=int(sys.argv.pop())))
    family.do_and_leave(lambda: _live(channel))


def _live(channel: Channel) -> None:
    first = channel.receive_one()
    if first is None:
        return
    family.adopt_orphans()
    try:
        function = programs.from_json(first["program"]).load() if first["warm"] else None
    except BaseException as error:
        channel.send({"error": str(error)})
        return
    obstacle = _obstacle() if first["warm"] else None
    channel.send({"obstacle": obstacle})
    if obstacle is None:
        _prepare_to_fork()
        _Server(channel, _how_to_work(function, first["program"])).serve()


class _Server:
    """Forks keepers on request and tells of their ends."""

    def __init__(self, channel: Channel, work: Callable[[Spec], None]) -> None:
        self._channel = channel
        self._work = work
        self._folders: dict[int, str] = {}
        # Processes that importing the program has started; they belong to no attempt.
        self._program_s = family.children()
        self._wakeup, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer)

    def serve(self) -> None:
        """Until the coordinator is gone, and with it the last keeper: their orphans are ours."""
        listening = True
        while listening or self._folders:
            watched = [self._wakeup, *([self._channel.fileno()] if listening else [])]
            ready, _, _ = select.select(watched, [], [])
            if self._wakeup in ready:
                os.read(self._wakeup, 4096)
            self._reap()
            if self._channel.fileno() in ready:
                folders = self._channel.receive()
                listening = folders is not None
                for folder in folders or ():
                    self._start(folder)

    def _start(self, folder: str) -> None:
        try:
            pid = family.fork(partial(self._keep, folder))
        except OSError:
            # No memory or no process to be had: the attempt has ended before it began.
            self._channel.send(folder)
        else:
            self._folders[pid] = folder

    def _reap(self) -> None:
        for pid, status in family.reap().items():
            if pid in self._folders:
                folder = self._folders.pop(pid)
                if status != 0:
                    # Killed: its worker dies with it, but what the worker had started is now ours.
                    family.kill_descendants(spare={*self._folders, *self._program_s})
                self._channel.send(folder)

    def _keep(self, folder: str) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._channel.close()
        os.setsid()
        spec = Spec.read(Path(folder))
        keeper.keep(spec, lambda: self._work(spec))


def _prepare_to_fork() -> None:
    """What every worker would do again: the import that seeding asks for, and copies of pages."""
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random")
    # A collection writes to every object it looks at, and so copies the page it lies on.
    gc.collect()
    gc.freeze()


def _how_to_work(function: TrainFunction | None, program: str) -> Callable[[Spec], None]:
    if function is not None:
        warm = function
        return lambda spec: worker.work(warm, spec)
    return lambda spec: _start_python(spec, program)


def _start_python(spec: Spec, program: str) -> None:
    """Become a fresh Python that loads the program itself; the program comes through memory."""
    descriptor = os.memfd_create("program", flags=0)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(program.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    start = START_OF_WORKER.format(path=programs.import_path())
    command = [sys.executable, "-u", "-c", start, str(spec.folder), str(descriptor)]
    os.execv(sys.executable, command)


def _obstacle() -> str | None:
    """Why this process must not be forked, now that the program is imported."""
    tasks = Path("/proc/self/task")
    threads = len(list(tasks.iterdir())) - 1 if tasks.exists() else 0
    if threads:
        return f"importing it started {threads} thread{'s' if threads > 1 else ''}"
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "importing it initialised CUDA"
    return None
