"""Attempts in parallel processes: each in a group of its own, which ends with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tunebook.core.errors import ProgramError
from tunebook.core.events import Decision, Event, Finished, Noted, Tick, Wait
from tunebook.core.protocols import Decide, Program
from tunebook.core.representation import counted
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution.beginning import has_begun
from tunebook.execution.devices import Devices
from tunebook.execution.following import Follower
from tunebook.execution.guarding import Guard
from tunebook.execution.server import Abandoned
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest, Terms
from tunebook.execution.stalling import Stalls
from tunebook.execution.starting import Starter
from tunebook.files import space

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
        devices: Devices | None = None,
        stall_timeout: float | None = None,
    ) -> None:
        """Where `devices` are given, an accelerator that somebody else uses is left alone.

        An attempt that is silent for `stall_timeout` seconds is ended; None only warns.
        """
        self._terms = terms
        self._slots = tuple(slots)
        self._added = added
        self._notice = notice
        self._grace = grace
        self._devices = devices
        self._stall_timeout = stall_timeout

    def run(
        self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
    ) -> Iterator[Event]:
        def goes_on() -> bool:
            return decide(Tick(0)) is Decision.GO_ON

        starter = Starter(program, self._notice, goes_on)
        guard = Guard(self._devices, self._notice)
        stalls = Stalls(self._stall_timeout)
        crew = _Crew(self._terms, self._slots, starter, guard, stalls, self._notice)
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
                    yield from crew.turn_away_held("interrupted before it began")
                yield tick
        finally:
            starter.close()


class _Crew:
    """The attempts that are running, and the slots they are in."""

    def __init__(
        self,
        terms: Terms,
        slots: Sequence[Slot],
        starter: Starter,
        guard: Guard,
        stalls: Stalls,
        notice: Callable[[str], None],
    ) -> None:
        self._terms = terms
        self._free = list(slots)
        self._starter = starter
        self._guard = guard
        self._stalls = stalls
        self._notice = notice
        self._told_of_room = False
        # An attempt for which no slot may be used yet, or no room is on the disk.
        self._held: Attempt | None = None
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
            proposed = self._held or next(proposals, None)
            if proposed is None:
                return True
            if isinstance(proposed, Wait):
                return False
            spec = Spec(proposed, self._terms)
            # One that has begun is adopted: its keeper lives, or its spool has the last word.
            begun = has_begun(spec)
            placed = self._adopted(spec) if begun else self._written(spec)
            if placed is None:
                self._held = proposed
                return False
            self._held = None
            self._free.remove(placed.slot)
            self._followers[proposed.folder] = Follower(placed)
            if not begun:
                self._guard.used(placed.slot, f"trial {proposed.trial.number}")
                self._starter.start(proposed.folder)
        return False

    def turn_away(self, reason: str) -> Finished:
        """Give up the attempt that was to be started when the server could not be."""
        _, follower = self._followers.popitem()
        self._free.append(follower.spec.slot)
        return Finished(follower.spec.attempt, Outcome(OutcomeKind.PREEMPTED, reason), 0.0)

    def turn_away_held(self, reason: str) -> Iterator[Finished]:
        """Give up the attempt that waits for a slot, if one does."""
        if self._held is not None:
            yield Finished(self._held, Outcome(OutcomeKind.PREEMPTED, reason), 0.0)
            self._held = None

    def news(self) -> Iterator[Event]:
        """Wait a little, then tell what has happened to whom."""
        for folder in self._ended():
            if folder in self._followers:
                yield from self._see_off(folder)
        passed = time.monotonic() - self._read
        if passed < READ_SECONDS:
            return
        self._read = time.monotonic()
        if passed > 2 * READ_SECONDS:
            # This process was suspended, and perhaps everything else with it.
            passed = READ_SECONDS
        for folder, follower in list(self._followers.items()):
            yield from follower.news()
            yield from self._check_life(follower.spec, passed)
            # Covers keepers that were killed, or that an earlier coordinator began.
            if has_begun(follower.spec) or not follower.spec.folder.exists():
                yield from self._see_off(folder)

    def ask(self, request: StopRequest, folder: str) -> bool:
        """Ask an attempt to leave; False if its disk has no room for the request."""
        try:
            request.write(Path(folder))
        except OSError as refusal:
            # An attempt whose folder was removed will not be asked, and is given up soon.
            return not space.is_full(refusal)
        return True

    def ask_to_leave(self, grace: float) -> None:
        request = StopRequest("preempt", "interrupted", grace)
        deaf = [folder for folder in self._followers if not self.ask(request, folder)]
        if deaf:
            # They could not write down how they end, either.
            self._notice(
                f"{counted(len(deaf), 'trial')} cannot be asked to leave, for want of room on "
                "the disk: what goes on by itself is taken up by the next run"
            )
        for folder in deaf:
            del self._followers[folder]

    def _written(self, spec: Spec) -> Spec | None:
        """An attempt in a slot, with its file for whoever begins it.

        None while somebody is in the way of every free slot, or the disk has no room for the file.
        """
        slot = self._guard.first_free(self._free)
        if slot is None:
            return None
        spec = replace(spec, slot=slot)
        try:
            spec.write()
        except OSError as refusal:
            if not space.is_full(refusal):
                raise
            if not self._told_of_room:
                self._told_of_room = True
                self._notice(
                    f"Paused: no room to begin trial {spec.attempt.trial.number} in {spec.folder}: "
                    f"{space.in_words(spec.folder)}. Trials that run go on, and so does the study "
                    "once there is room"
                )
            return None
        self._told_of_room = False
        return spec

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

    def _check_life(self, spec: Spec, passed: float) -> Iterator[Noted]:
        """Warn of an attempt that hangs, or end it."""
        found = self._stalls.look(spec, passed)
        if isinstance(found, str):
            yield Noted(spec.attempt, found)
        elif found is not None and StopRequest.read(spec.folder) is None:
            self.ask(found, spec.attempt.folder)

    def _see_off(self, folder: str) -> Iterator[Event]:
        follower = self._followers[folder]
        yield from follower.news()
        yield from follower.give_up_if_dead()
        if follower.finished:
            del self._followers[folder]
            self._stalls.forget(follower.spec)
            self._free.append(follower.spec.slot)
