"""Attempts in parallel processes: each in a group of its own, which ends with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tunebook.core.errors import ProgramError
from tunebook.core.events import Decision, Event, Finished, Tick, Wait
from tunebook.core.protocols import Decide, Program
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution.beginning import has_begun
from tunebook.execution.following import Follower
from tunebook.execution.server import Abandoned, ForkServer
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest, Terms

READ_SECONDS = 1.0
WAIT_SECONDS = 0.2
DEFAULT_GRACE = 30.0


class Processes:
    """An executor that runs each attempt in processes of its own, from a warm fork server."""

    def __init__(
        self,
        terms: Terms,
        slots: Sequence[Slot],
        *,
        added: Callable[[], Sequence[Slot]] = tuple,
        notice: Callable[[str], None] = lambda _: None,
        grace: float = DEFAULT_GRACE,
    ) -> None:
        self._terms = terms
        self._slots = tuple(slots)
        self._added = added
        self._notice = notice
        self._grace = grace

    def run(
        self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
    ) -> Iterator[Event]:
        def goes_on() -> bool:
            return decide(Tick(0)) is Decision.GO_ON

        starter = _Starter(program, self._notice, goes_on)
        crew = _Crew(self._terms, self._slots, starter)
        leaving = Decision.GO_ON
        exhausted = False
        try:
            while True:
                if leaving is Decision.GO_ON and not exhausted:
                    crew.add(self._added())
                    try:
                        exhausted = crew.fill(proposals)
                    except Abandoned:
                        yield crew.turn_away("interrupted before it began")
                    except ProgramError:
                        yield crew.turn_away("the program could not be loaded")
                        raise
                if not crew.running and (exhausted or leaving is not Decision.GO_ON):
                    return
                for event in crew.news():
                    if decide(event) is Decision.STOP and not isinstance(event, Finished | Tick):
                        request = StopRequest("stop", "stopped by a rule", self._grace)
                        crew.ask(request, event.attempt.folder)
                    yield event
                tick = Tick(crew.running)
                wished = decide(tick)
                if wished in (Decision.DRAIN, Decision.ABORT) and wished is not leaving:
                    leaving = wished
                    crew.ask_to_leave(self._grace if wished is Decision.DRAIN else 0.0)
                yield tick
        finally:
            starter.close()


class _Crew:
    """The attempts that are running, and the slots they are in."""

    def __init__(self, terms: Terms, slots: Sequence[Slot], starter: _Starter) -> None:
        self._terms = terms
        self._free = list(slots)
        self._starter = starter
        self._followers: dict[str, Follower] = {}
        self._read = time.monotonic()

    @property
    def running(self) -> int:
        return len(self._followers)

    def add(self, slots: Sequence[Slot]) -> None:
        """Make room for more attempts."""
        self._free.extend(slots)

    def fill(self, proposals: Iterator[Attempt | Wait]) -> bool:
        """Take attempts while there is room; True once there are no more."""
        while self._free:
            proposed = next(proposals, None)
            if proposed is None:
                return True
            if isinstance(proposed, Wait):
                return False
            spec = Spec(proposed, self._terms)
            # One that has begun is adopted: its keeper lives, or its spool has the last word.
            spec = self._adopted(spec) if has_begun(spec) else replace(spec, slot=self._free[0])
            self._free.remove(spec.slot)
            self._followers[proposed.folder] = Follower(spec)
            if not has_begun(spec):
                spec.write()
                self._starter.start(proposed.folder)
        return False

    def turn_away(self, reason: str) -> Finished:
        """Give up the attempt that was to be started when the server could not be."""
        _, follower = self._followers.popitem()
        self._free.append(follower.spec.slot)
        return Finished(follower.spec.attempt, Outcome(OutcomeKind.PREEMPTED, reason), 0.0)

    def news(self) -> Iterator[Event]:
        """Wait a little, then tell what has happened to whom."""
        for folder in self._ended():
            if folder in self._followers:
                yield from self._see_off(folder)
        if time.monotonic() - self._read < READ_SECONDS:
            return
        self._read = time.monotonic()
        for folder, follower in list(self._followers.items()):
            yield from follower.news()
            # Covers keepers that were killed, or that an earlier coordinator began.
            if has_begun(follower.spec) or not follower.spec.folder.exists():
                yield from self._see_off(folder)

    def ask(self, request: StopRequest, folder: str) -> None:
        # An attempt whose folder was removed will not be asked, and is given up soon.
        with suppress(FileNotFoundError):
            request.write(Path(folder))

    def ask_to_leave(self, grace: float) -> None:
        for folder in self._followers:
            self.ask(StopRequest("preempt", "interrupted", grace), folder)

    def _adopted(self, spec: Spec) -> Spec:
        """An attempt that has begun, in the slot that it has: nobody else gets its accelerators."""
        try:
            gpus = Spec.read(spec.folder).slot.gpus
        except (OSError, ValueError):
            # Lost with the machine's power, as was whatever held the slot.
            gpus = ()
        same = [slot for slot in self._free if slot.gpus == gpus]
        return replace(spec, slot=(same or self._free)[0])

    def _ended(self) -> list[str]:
        """The folders of attempts that have ended, or are not going to begin."""
        ended = self._starter.wait(WAIT_SECONDS)
        if ended is not None:
            return ended
        # Those it was asked to start may never have begun: none of them is lost.
        return [path for path, follower in self._followers.items() if not has_begun(follower.spec)]

    def _see_off(self, folder: str) -> Iterator[Event]:
        follower = self._followers[folder]
        yield from follower.news()
        yield from follower.give_up_if_dead()
        if follower.finished:
            del self._followers[folder]
            self._free.append(follower.spec.slot)


class _Starter:
    """Starts attempts through a fork server; where one has died, through a new one."""

    def __init__(
        self, program: Program, notice: Callable[[str], None], goes_on: Callable[[], bool]
    ) -> None:
        self._program = program
        self._notice = notice
        self._goes_on = goes_on
        self._warm = True
        self._server: ForkServer | None = None

    def start(self, folder: str) -> None:
        asked = [folder]
        while asked:
            if self._server is None:
                self._server = self._new_server()
            if self._server.start(asked[-1]):
                asked.pop()
            else:
                # A dead server may have died before it began what else it was asked to start. To
                # ask for an attempt that has begun does nothing.
                asked = [*self._server.running]
                self.close()

    def wait(self, seconds: float) -> list[str] | None:
        """The folders of attempts that have ended by now; None if no server lives to begin any."""
        if self._server is None:
            time.sleep(seconds)
            return None
        ended = self._server.wait(seconds)
        if ended is None:
            self.close()
        return ended

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _new_server(self) -> ForkServer:
        server = ForkServer(self._program, warm=self._warm, goes_on=self._goes_on)
        if server.obstacle is None:
            return server
        server.close()
        self._warm = False
        self._notice(
            f"Each trial starts a Python of its own, which takes longer: {self._program.reference} "
            f"cannot be forked, since {server.obstacle}."
        )
        return ForkServer(self._program, warm=False, goes_on=self._goes_on)
