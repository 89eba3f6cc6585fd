"""Which attempt comes next: those left behind, then those to be tried again, then new points."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tunebook.core.events import Wait
from tunebook.core.protocols import Proposal, Sampler, Store
from tunebook.core.results import Results
from tunebook.core.space import Setting
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code
from tunebook.running.ledger import Ledger


def proposals(
    study: Study,
    sampler: Sampler,
    store: Store,
    ledger: Ledger,
    code: Code,
    paused: Callable[[], bool],
    room: Callable[[], bool] = lambda: True,
) -> Iterator[Attempt | Wait]:
    """Attempts, each claimed in the store when it is asked for; `Wait` while more may come up."""
    yield from ledger.unfinished()
    fresh = _fresh(study, sampler, ledger, store)
    while not paused():
        proposal = next(_again(ledger), None) or next(fresh, None)
        if proposal is not None:
            # A study with nothing left to do needs no room to end.
            while not room():
                yield Wait()
                if paused():
                    return
            attempt = store.claim(study.name, proposal, code)
            ledger.claimed(attempt)
            yield attempt
        elif ledger.running:
            yield Wait()
        else:
            return


def order(study: Study, sampler: Sampler) -> Iterator[tuple[Setting, int]]:
    """Settings in turn, so that all of them have as many trials whenever one looks."""
    settings = study.space.settings()
    counts = [sampler.count(study, setting) for setting in settings]
    for index in range(max(counts, default=0)):
        for setting, count in zip(settings, counts, strict=True):
            if index < count:
                yield setting, index


def _again(ledger: Ledger) -> Iterator[Proposal]:
    for trial in ledger.to_try_again():
        yield Proposal(trial.setting, trial.config, trial.seed, trial.origin)


def _fresh(study: Study, sampler: Sampler, ledger: Ledger, store: Store) -> Iterator[Proposal]:
    def seen() -> Results:
        return store.results(study.name, metrics=[study.objective.metric.name])

    for setting, index in order(study, sampler):
        if not ledger.knows((setting.key, index)):
            yield sampler.propose(study, setting, index, seen)
