"""What the coordinator knows of a study's trials: the store's facts, kept up to date by events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tunebook.core.curves import Block
from tunebook.core.events import Event, Finished, Logged, Resumed
from tunebook.core.results import Results
from tunebook.core.trials import Attempt, Code, Ended, RetryPolicy, Trial

Key = tuple[str, int]


@dataclass
class _Entry:
    trial: Trial
    ended: list[Ended] = field(default_factory=list)
    running: Attempt | None = None
    last_step: int = -1


class Ledger:
    """The trials of one study: which run, which ended how, which are to be tried again."""

    def __init__(self, results: Results, policy: RetryPolicy, code: Code) -> None:
        self._code = code
        # Failures of this run are not tried again within it: nothing has changed since.
        self._within = replace(policy, failed=False)
        self._entries: dict[Key, _Entry] = {}
        self._running: set[Key] = set()
        self._again: deque[Key] = deque()
        for record in results:
            entry = _Entry(record.trial)
            self._entries[_key(record.trial)] = entry
            for attempt in record.attempts:
                if attempt.outcome is None:
                    entry.running = Attempt(
                        record.trial, attempt.number, attempt.token, attempt.folder
                    )
                    self._running.add(_key(record.trial))
                else:
                    entry.ended.append(attempt.ended)
            # A new run is a new chance for what the old code could not do.
            if entry.running is None and policy.wants_another(entry.ended, code, anew=True):
                self._again.append(_key(record.trial))

    def knows(self, key: Key) -> bool:
        return key in self._entries

    def unfinished(self) -> list[Attempt]:
        """Attempts that an earlier coordinator left behind, alive or dead."""
        left = (self._entries[key].running for key in self._running)
        return sorted((a for a in left if a is not None), key=lambda a: a.trial.number)

    @property
    def running(self) -> int:
        return len(self._running)

    def to_try_again(self) -> Iterator[Trial]:
        """Trials that are due for another attempt, in the order in which they came up."""
        while self._again:
            yield self._entries[self._again.popleft()].trial

    def claimed(self, attempt: Attempt) -> None:
        key = _key(attempt.trial)
        entry = self._entries.setdefault(key, _Entry(attempt.trial))
        entry.running = attempt
        self._running.add(key)
        entry.last_step = -1

    def note(self, event: Event) -> None:
        """Take in what the store has accepted."""
        if isinstance(event, Logged):
            entry = self._entries[_key(event.attempt.trial)]
            entry.last_step = max(entry.last_step, _last_step(event.blocks))
        elif isinstance(event, Resumed):
            self._entries[_key(event.attempt.trial)].last_step = event.step
        elif isinstance(event, Finished):
            key = _key(event.attempt.trial)
            entry = self._entries[key]
            entry.running = None
            self._running.discard(key)
            # An attempt that was left behind ran the code of its own time.
            code = event.attempt.trial.code
            entry.ended.append(Ended(event.outcome, entry.last_step, code))
            if self._within.wants_another(entry.ended, self._code):
                self._again.append(key)


def _key(trial: Trial) -> Key:
    return trial.setting.key, trial.index


def _last_step(blocks: tuple[Block, ...]) -> int:
    return max((int(block.steps[-1]) for block in blocks if len(block)), default=-1)
