"""The configurations that the user wrote down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.protocols import Proposal
from tunebook.core.results import Results
from tunebook.core.space import Config, Setting, conditions
from tunebook.core.study import Study
from tunebook.core.trials import Listed


@dataclass(frozen=True, slots=True)
class ListSampler:
    """Every setting gets every configuration of the list, in its order.

    A configuration names the values of searched parameters; a setting leaves out those that only
    other settings search. One that also names values of discrete scientific parameters is meant
    for the settings with these values alone. The number of trials is the length of the list.
    """

    def count(self, study: Study, setting: Setting) -> int:
        return len(_configs(study, setting))

    def propose(
        self, study: Study, setting: Setting, index: int, seen: Callable[[], Results]
    ) -> Proposal:
        listed = _configs(study, setting)
        if not 0 <= index < len(listed):
            raise StudyError(
                f"{len(listed)} configurations are listed for the setting {setting}, "
                f"so there is none with the index {index}"
            )
        searched = {parameter.name for parameter in study.space.searched(setting)}
        given = {name: value for name, value in listed[index].items() if name in searched}
        config = study.inherit(study.space.complete(setting, given))
        return Proposal(setting, config, study.trial_seed(index), Listed(index))


def _configs(study: Study, setting: Setting) -> list[Config]:
    """The listed configurations that are meant for a setting."""
    listed = [dict(config) for config in study.sampling.configs]
    for config in listed:
        _check(study, config)
    return [config for config in listed if _is_meant_for(study, config, setting)]


def _is_meant_for(study: Study, config: Config, setting: Setting) -> bool:
    arms = {p.name for p in study.space if p.makes_settings}
    chosen = {name: value for name, value in config.items() if name in arms}
    return all(when.holds(setting.config) for when in conditions(chosen))


def _check(study: Study, config: dict[str, Value]) -> None:
    known = [p.name for p in study.space if p.is_sampled or p.makes_settings]
    for name in config:
        if name not in known:
            raise StudyError(
                f"the listed configuration {config} names {name!r}, which is not searched"
                f"{did_you_mean(name, known)}"
            )
    if not any(_is_meant_for(study, config, setting) for setting in study.space.settings()):
        raise StudyError(
            f"the listed configuration {config} belongs to no setting; the settings are "
            + "; ".join(str(setting) for setting in study.space.settings())
        )
