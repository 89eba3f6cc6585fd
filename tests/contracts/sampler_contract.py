"""What every sampler keeps to, whatever its method.

Each check takes a study and its sampler; a test runs every check of `CHECKS` over its samplers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from tunebook.core.protocols import Proposal, Sampler
from tunebook.core.space import Setting
from tunebook.core.study import MOST_TRIALS, Study

Check = Callable[[Study, Sampler], None]
SOME = 12


def no_results() -> NoReturn:
    """What an unguided sampler must never ask for: reading a store takes time."""
    raise AssertionError("a sampler that is not guided has asked for results")


def proposals(study: Study, sampler: Sampler, setting: Setting) -> list[Proposal]:
    """The first proposals of a setting."""
    count = min(sampler.count(study, setting), SOME)
    return [sampler.propose(study, setting, index, no_results) for index in range(count)]


def every_setting_has_trials(study: Study, sampler: Sampler) -> None:
    for setting in study.space.settings():
        assert 1 <= sampler.count(study, setting) <= MOST_TRIALS


def configurations_belong_to_the_setting(study: Study, sampler: Sampler) -> None:
    for setting in study.space.settings():
        searched = {parameter.name for parameter in study.space.searched(setting)}
        for proposal in proposals(study, sampler, setting):
            assert proposal.setting == setting
            given = {n: v for n, v in proposal.config.items() if n in searched}
            whole = study.inherit(study.space.complete(setting, given))
            assert proposal.config == whole
            assert list(proposal.config) == sorted(proposal.config)


def proposals_know_their_index(study: Study, sampler: Sampler) -> None:
    for setting in study.space.settings():
        for index, proposal in enumerate(proposals(study, sampler, setting)):
            assert proposal.origin.index == index
            assert proposal.seed == study.trial_seed(index)


def order_does_not_matter(study: Study, sampler: Sampler) -> None:
    for setting in reversed(study.space.settings()):
        forwards = proposals(study, sampler, setting)
        backwards = [
            sampler.propose(study, setting, index, no_results)
            for index in reversed(range(len(forwards)))
        ]
        assert backwards[::-1] == forwards


def more_trials_leave_the_first_ones_alone(study: Study, sampler: Sampler) -> None:
    larger = replace(study, trials=study.trials + 5)
    for setting in study.space.settings():
        before = proposals(study, sampler, setting)
        assert proposals(larger, sampler, setting)[: len(before)] == before


CHECKS: tuple[Check, ...] = (
    every_setting_has_trials,
    configurations_belong_to_the_setting,
    proposals_know_their_index,
    order_does_not_matter,
    more_trials_leave_the_first_ones_alone,
)
