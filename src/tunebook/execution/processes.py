"""Attempts in parallel processes: each in a group of its own, which ends with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tunebook.core.errors import ProgramError
from tunebook.core.events import Decision, Event, Finished, Tick, Wait
from tunebook.core.protocols import Decide, Program
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution.following import Follower
from tunebook.execution.keeper import has_begun
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

        house = _House(program, self._terms, self._slots, self._notice, goes_on)
        leaving = Decision.GO_ON
        exhausted = False
        try:
            while True:
                if leaving is Decision.GO_ON and not exhausted:
                    house.add(self._added())
                    try:
                        exhausted = house.fill(proposals)
                    except Abandoned:
                        yield house.turn_away("interrupted before it began")
                    except ProgramError:
                        yield house.turn_away("the program could not be loaded")
                        raise
                if not house.running and (exhausted or leaving is not Decision.GO_ON):
                    return
                for event in house.news():
                    if decide(event) is Decision.STOP and not isinstance(event, Finished):
                        request = StopRequest("stop", "stopped by a rule", self._grace)
                        request.write(Path(event.attempt.folder))  # type: ignore[union-attr]
                    yield event
                tick = Tick(house.running)
                wished = decide(tick)
                if wished in (Decision.DRAIN, Decision.ABORT) and wished is not leaving:
                    leaving = wished
                    house.ask_to_leave(self._grace if wished is Decision.DRAIN else 0.0)
                yield tick
        finally:
            house.close()


class _House:
    """The attempts that are running, the slots they are in, and the server that starts them."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        slots: Sequence[Slot],
        notice: Callable[[str], None],
        goes_on: Callable[[], bool],
    ) -> None:
        self._program = program
        self._terms = terms
        self._notice = notice
        self._goes_on = goes_on
        self._free = list(slots)
        self._guests: dict[str, tuple[Follower, Slot]] = {}
        self._warm = True
        self._server: ForkServer | None = None
        self._read = time.monotonic()

    @property
    def running(self) -> int:
        return len(self._guests)

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
            slot = self._free.pop(0)
            follower = Follower(Spec(proposed, self._terms))
            self._guests[proposed.folder] = (follower, slot)
            # One that has begun is adopted: its keeper lives, or its spool has the last word.
            if not has_begun(follower.spec):
                follower.spec.write()
                self._start(proposed.folder, slot)
        return False

    def turn_away(self, reason: str) -> Event:
        """Give up the attempt that was to be started when the server could not be."""
        _, (follower, slot) = self._guests.popitem()
        self._free.append(slot)
        return Finished(follower.spec.attempt, Outcome(OutcomeKind.PREEMPTED, reason), 0.0)

    def news(self) -> Iterator[Event]:
        """Wait a little, then tell what has happened to whom."""
        for folder in self._wait():
            if folder in self._guests:
                yield from self._see_off(folder)
        if time.monotonic() - self._read < READ_SECONDS:
            return
        self._read = time.monotonic()
        for folder, (follower, _) in list(self._guests.items()):
            yield from follower.news()
            # Covers keepers that were killed, or that an earlier coordinator began.
            if follower.finished or has_begun(follower.spec):
                yield from self._see_off(folder)

    def ask_to_leave(self, grace: float) -> None:
        for follower, _ in self._guests.values():
            StopRequest("preempt", "interrupted", grace).write(follower.spec.folder)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def _see_off(self, folder: str) -> Iterator[Event]:
        follower, slot = self._guests[folder]
        yield from follower.news()
        yield from follower.give_up_if_dead()
        if follower.finished:
            del self._guests[folder]
            self._free.append(slot)

    def _start(self, folder: str, slot: Slot) -> None:
        while True:
            if self._server is None:
                self._server = self._new_server()
            if self._server.start(folder, slot):
                return
            self._restart()

    def _wait(self) -> list[str]:
        if self._server is None:
            time.sleep(WAIT_SECONDS)
            return []
        alive, ended = self._server.wait(WAIT_SECONDS)
        if not alive:
            self._restart()
            # Those it was asked to start may never have begun: none of them is lost.
            ended += [folder for folder, (f, _) in self._guests.items() if not has_begun(f.spec)]
        return ended

    def _restart(self) -> None:
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
