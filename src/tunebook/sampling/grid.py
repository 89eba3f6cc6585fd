"""Every combination of a few values of each parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tunebook.core.domains import Choice, Domain, Float, Int, Value
from tunebook.core.errors import StudyError
from tunebook.core.protocols import Proposal
from tunebook.core.results import Results
from tunebook.core.space import Config, Derived, Fixed, Parameter, Setting
from tunebook.core.study import MOST_TRIALS, Study
from tunebook.core.trials import FromSequence
from tunebook.sampling.dimensions import dimensions


@dataclass(frozen=True, slots=True)
class GridSampler:
    """The full factorial design of a setting, whatever number of trials the study names.

    Parameters that settings share vary fastest, so that trials of different settings are paired
    as far as their grids agree.
    """

    def count(self, study: Study, setting: Setting) -> int:
        size = sum(branch.size for branch in _branches(study, setting))
        if size > MOST_TRIALS:
            raise _too_large(study, setting, f"{size}")
        return size

    def propose(
        self, study: Study, setting: Setting, index: int, seen: Callable[[], Results]
    ) -> Proposal:
        config = study.inherit(study.space.complete(setting, _values_at(study, setting, index)))
        return Proposal(setting, config, study.trial_seed(index), FromSequence(index))


@dataclass(frozen=True, slots=True)
class _Branch:
    """What remains free once the parameters that decide about others are chosen."""

    chosen: Config
    free: tuple[tuple[str, tuple[Value, ...]], ...]

    @property
    def size(self) -> int:
        return math.prod(len(values) for _, values in self.free)


def _values_at(study: Study, setting: Setting, index: int) -> dict[str, Value]:
    place = index
    for branch in _branches(study, setting):
        if 0 <= place < branch.size:
            config = dict(branch.chosen)
            for name, values in branch.free:
                place, digit = divmod(place, len(values))
                config[name] = values[digit]
            return config
        place -= branch.size
    raise StudyError(
        f"the grid of the setting {setting} has {index - place} configurations, "
        f"so there is none with the index {index}"
    )


def _branches(study: Study, setting: Setting) -> Iterator[_Branch]:
    searched = {parameter.name for parameter in study.space.searched(setting)}
    parameters = [p for p in study.space.in_order if p.name in searched]
    switches = {when.parameter for p in parameters for when in p.when} & searched
    values = {
        p.name: _values(p.source, study.sampling.points)
        for p in parameters
        if not isinstance(p.source, Fixed | Derived)
    }

    def exists(parameter: Parameter, chosen: Config) -> bool:
        return all(when.holds(chosen) for when in parameter.when if when.parameter in searched)

    partial: list[dict[str, Value]] = [{}]
    for switch in (p for p in parameters if p.name in switches):
        within = [chosen for chosen in partial if exists(switch, chosen)]
        if len(within) * len(values[switch.name]) > MOST_TRIALS:
            raise _too_large(study, setting, f"more than {MOST_TRIALS}")
        partial = [chosen for chosen in partial if not exists(switch, chosen)] + [
            {**chosen, switch.name: value} for chosen in within for value in values[switch.name]
        ]
    place = dimensions(study.space)
    for chosen in partial:
        free = [p.name for p in parameters if p.name not in switches and exists(p, chosen)]
        free.sort(key=place.__getitem__)
        yield _Branch(chosen, tuple((name, values[name]) for name in free))


def _values(domain: Domain, points: int) -> tuple[Value, ...]:
    """The values of a choice; evenly spaced ones of a range, from end to end on its own scale."""
    if isinstance(domain, Choice):
        return domain.values
    units = [step / (points - 1) for step in range(points)]
    if isinstance(domain, Int):
        if domain.high - domain.low < points:
            return tuple(range(domain.low, domain.high + 1))
        real = Float(domain.low, domain.high, domain.log)
        return tuple(dict.fromkeys(round(real.from_unit(unit)) for unit in units))
    return tuple(dict.fromkeys(domain.from_unit(unit) for unit in units))


def _too_large(study: Study, setting: Setting, size: str) -> StudyError:
    return StudyError(
        f"the grid of the setting {setting} has {size} configurations, and a setting may have "
        f"{MOST_TRIALS} trials; take fewer points for each range (points: {study.sampling.points}) "
        "or sampling: halton"
    )
