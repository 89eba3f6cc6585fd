"""The space of a study: named parameters, each with the role that follows from the goal."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from tunebook.core.domains import Choice, Domain, Float, Int, Value, check_value, same_value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.expressions import evaluate, names_in

Config: TypeAlias = Mapping[str, Value]
Point: TypeAlias = Mapping[str, float]

MOST_PARAMETERS = 1000
# Nobody compares so many, and each is kept in memory.
MOST_SETTINGS = 10_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,99}\Z")


class Role(StrEnum):
    """What a parameter is for in this study; the next study may give it another role."""

    SCIENTIFIC = "scientific"
    NUISANCE = "nuisance"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Fixed:
    """One value for the whole study: a caveat on its conclusions."""

    value: Value

    def __post_init__(self) -> None:
        check_value(self.value)

    def __str__(self) -> str:
        return f"fixed at {self.value!r}"


@dataclass(frozen=True, slots=True)
class Derived:
    """A value computed from other parameters, such as `1 - one_minus_momentum`."""

    expression: str

    def __post_init__(self) -> None:
        names_in(self.expression)

    def __str__(self) -> str:
        return f"derived as {self.expression}"


@dataclass(frozen=True, slots=True)
class When:
    """A condition: the named parameter exists and has one of these values."""

    parameter: str
    values: tuple[Value, ...]

    def holds(self, config: Config) -> bool:
        return self.parameter in config and any(
            same_value(config[self.parameter], value) for value in self.values
        )

    def __str__(self) -> str:
        return f"{self.parameter} is {' or '.join(map(repr, self.values))}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name, a role, and where its value comes from.

    A continuous scientific parameter is sampled with the nuisances; analysis puts it in `buckets`.
    """

    name: str
    role: Role
    source: Domain | Fixed | Derived
    when: tuple[When, ...] = ()
    buckets: int | None = None

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise StudyError(
                f"{self.name!r} cannot name a parameter; "
                "use letters, digits, '_', '.' and '-', beginning with a letter"
            )
        has_value = isinstance(self.source, Fixed | Derived)
        if has_value != (self.role is Role.FIXED):
            raise StudyError(f"{self.name}: a {self.role} parameter cannot be {self.source}")
        if self.buckets is not None:
            if self.role is not Role.SCIENTIFIC or isinstance(self.source, Choice):
                raise StudyError(
                    f"{self.name}: buckets belong to scientific ranges, not to {self.source}"
                )
            if self.buckets < 2:
                raise StudyError(f"{self.name}: buckets must be at least 2, got {self.buckets}")

    @property
    def makes_settings(self) -> bool:
        return self.role is Role.SCIENTIFIC and isinstance(self.source, Choice)

    @property
    def is_sampled(self) -> bool:
        return not self.makes_settings and self.role is not Role.FIXED

    @property
    def is_discrete(self) -> bool:
        return isinstance(self.source, Choice | Fixed)

    def exists(self, config: Config) -> bool:
        return all(condition.holds(config) for condition in self.when)

    def __str__(self) -> str:
        condition = f", when {' and '.join(map(str, self.when))}" if self.when else ""
        return f"{self.role}, {self.source}{condition}"


@dataclass(frozen=True, slots=True)
class Setting:
    """Values of the discrete scientific parameters: one arm of the study."""

    values: tuple[tuple[str, Value], ...] = ()

    @property
    def config(self) -> dict[str, Value]:
        return dict(self.values)

    @property
    def key(self) -> str:
        """A text that is the same for equal settings, whatever wrote them: 2 and 2.0 are equal."""
        plain = {name: _whole(value) for name, value in self.values}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    def __str__(self) -> str:
        return ", ".join(f"{name}={_whole(value)}" for name, value in self.values) or "all"


@dataclass(frozen=True)
class Space:
    """Named parameters: settings are the arms, a point of the unit cube is a configuration of one.

    >>> space = Space.of(
    ...     scientific={"blocks": [2, 3]},
    ...     nuisance={"learning_rate": Float(1e-4, 1e-2, log=True)},
    ...     fixed={"batch_size": 128},
    ... )
    >>> [str(setting) for setting in space.settings()]
    ['blocks=2', 'blocks=3']
    >>> space.decode(space.settings()[0], {"learning_rate": 0.5})
    {'batch_size': 128, 'blocks': 2, 'learning_rate': 0.001}
    """

    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        # By role, as in a study file: the same study is equal however its parameters were listed.
        object.__setattr__(self, "parameters", tuple(sorted(self.parameters, key=_place)))
        _check(self)

    @staticmethod
    def of(
        scientific: Mapping[str, Domain | Sequence[Value] | Parameter] | None = None,
        nuisance: Mapping[str, Domain | Sequence[Value] | Parameter] | None = None,
        fixed: Mapping[str, Value] | None = None,
        derive: Mapping[str, str] | None = None,
        when: Mapping[str, Mapping[str, Value | Sequence[Value]]] | None = None,
    ) -> Space:
        """The shape of the study file: parameters by role, a list of values meaning a choice."""
        parameters = [
            _parameter(name, role, source)
            for role, group in ((Role.SCIENTIFIC, scientific), (Role.NUISANCE, nuisance))
            for name, source in (group or {}).items()
        ]
        parameters += [Parameter(n, Role.FIXED, Fixed(v)) for n, v in (fixed or {}).items()]
        parameters += [Parameter(n, Role.FIXED, Derived(e)) for n, e in (derive or {}).items()]
        names = [parameter.name for parameter in parameters]
        for name in when or {}:
            if name not in names:
                raise StudyError(f"when: no parameter is named {name!r}{did_you_mean(name, names)}")
        return Space(
            tuple(
                replace(p, when=conditions(when[p.name])) if when and p.name in when else p
                for p in parameters
            )
        )

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __contains__(self, name: object) -> bool:
        return any(parameter.name == name for parameter in self.parameters)

    def __getitem__(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise StudyError(f"no parameter is named {name!r}{did_you_mean(name, self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def by_role(self, role: Role) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.role is role)

    def settings(self) -> tuple[Setting, ...]:
        """The arms: every combination of the discrete scientific parameters that can exist."""
        arms = [p for p in self.parameters if p.makes_settings]
        found: dict[str, Setting] = {}
        for values in itertools.product(*(_choices(p) for p in arms)):
            wished = {p.name: value for p, value in zip(arms, values, strict=True)}
            setting = self._existing(wished)
            found.setdefault(setting.key, setting)
        return tuple(found.values())

    def searched(self, setting: Setting) -> tuple[Parameter, ...]:
        """The sampled parameters that exist, or may exist, in a setting."""
        return tuple(p for p in self.parameters if p.is_sampled and self._may_exist(p, setting))

    def decode(self, setting: Setting, point: Point) -> dict[str, Value]:
        """The configuration at a point of the unit cube; what does not exist there is left out."""
        return self._fill(setting, lambda name, domain: domain.from_unit(point[name]))

    def complete(self, setting: Setting, given: Config) -> dict[str, Value]:
        """A configuration from the sampled values; fixed and derived ones are added."""
        searched = [parameter.name for parameter in self.searched(setting)]
        for name in given:
            if name not in searched:
                raise StudyError(
                    f"{name!r} is not searched in the setting {setting}"
                    f"{did_you_mean(name, searched)}"
                )

        def take(name: str, domain: Domain) -> Value:
            if name not in given:
                raise StudyError(f"a configuration for the setting {setting} lacks {name!r}")
            if not domain.contains(given[name]):
                raise StudyError(f"{name}: {given[name]!r} does not lie in {domain}")
            return given[name]

        return self._fill(setting, take)

    def encode(self, config: Config) -> dict[str, float]:
        """The point of the unit cube at which a configuration lies."""
        return {
            p.name: p.source.to_unit(config[p.name])
            for p in self.parameters
            if p.is_sampled and p.name in config and not isinstance(p.source, Fixed | Derived)
        }

    def edit(self, changes: Mapping[str, Parameter | None]) -> Space:
        """A space with parameters replaced, added (a new name) or removed (None)."""
        for name, parameter in changes.items():
            if parameter is None and name not in self:
                raise StudyError(f"cannot remove {name!r}: no parameter has this name")
            if parameter is not None and parameter.name != name:
                raise StudyError(f"{name!r} cannot be replaced by {parameter.name!r}: names differ")
        kept = [changes.get(p.name, p) for p in self.parameters]
        added = [p for name, p in changes.items() if name not in self]
        return Space(tuple(p for p in [*kept, *added] if p is not None))

    def difference(self, other: Space) -> tuple[str, ...]:
        """A line for each parameter that another space adds, removes or changes."""
        lines = []
        for name in dict.fromkeys((*self.names, *other.names)):
            before = str(self[name]) if name in self else None
            after = str(other[name]) if name in other else None
            if before is None:
                lines.append(f"+ {name}: {after}")
            elif after is None:
                lines.append(f"- {name}: {before}")
            elif self[name] != other[name]:
                lines.append(f"~ {name}: {before} -> {after}")
        return tuple(lines)

    def _fill(self, setting: Setting, sample: Callable[[str, Domain], Value]) -> dict[str, Value]:
        chosen = setting.config
        config: dict[str, Value] = {}
        for parameter in self.in_order:
            name, source = parameter.name, parameter.source
            if not parameter.exists(config):
                continue
            if isinstance(source, Fixed):
                config[name] = source.value
            elif isinstance(source, Derived):
                # Derived from a parameter that does not exist here: it does not exist either.
                if names_in(source.expression) <= config.keys():
                    config[name] = evaluate(source.expression, config)
            else:
                config[name] = chosen[name] if parameter.makes_settings else sample(name, source)
        return {name: config[name] for name in sorted(config)}

    @functools.cached_property
    def in_order(self) -> tuple[Parameter, ...]:
        """Parameters after everything they depend on; otherwise as written."""
        needs = {p.name: _dependencies(p) for p in self.parameters}
        done: dict[str, Parameter] = {}
        waiting = list(self.parameters)
        while waiting:
            ready = [p for p in waiting if needs[p.name] <= done.keys()]
            if not ready:
                names = ", ".join(sorted(p.name for p in waiting))
                raise StudyError(
                    f"these parameters depend on one another in a circle: {names}", waiting[0].name
                )
            done |= {p.name: p for p in ready}
            waiting = [p for p in waiting if p.name not in done]
        return tuple(done.values())

    def _existing(self, wished: Config) -> Setting:
        values: dict[str, Value] = {}
        for parameter in self.in_order:
            if isinstance(parameter.source, Fixed) and parameter.exists(values):
                values[parameter.name] = parameter.source.value
            elif parameter.name in wished and parameter.exists(values):
                values[parameter.name] = wished[parameter.name]
        return Setting(tuple((n, values[n]) for n in self.names if n in wished and n in values))

    def _may_exist(self, parameter: Parameter, setting: Setting) -> bool:
        known = setting.config
        for condition in parameter.when:
            other = self[condition.parameter]
            if not self._may_exist(other, setting):
                return False
            if other.makes_settings and not condition.holds(known):
                return False
            if isinstance(other.source, Fixed) and not condition.holds(
                {other.name: other.source.value}
            ):
                return False
        return True


def conditions(when: Mapping[str, Value | Sequence[Value]]) -> tuple[When, ...]:
    """`{"blocks": 3}` or `{"blocks": [3, 4]}` as conditions."""
    return tuple(
        When(
            name,
            (values,)
            if isinstance(values, str) or not isinstance(values, Sequence)
            else tuple(values),
        )
        for name, values in when.items()
    )


def _parameter(name: str, role: Role, source: Domain | Sequence[Value] | Parameter) -> Parameter:
    if isinstance(source, Parameter):
        return replace(source, name=name, role=role)
    if isinstance(source, Float | Int | Choice):
        return Parameter(name, role, source)
    if isinstance(source, str) or not isinstance(source, Sequence):
        raise StudyError(f"{name}: expected a range or a list of values, got {source!r}")
    return Parameter(name, role, Choice(tuple(source)))


def _whole(value: Value) -> Value:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _place(parameter: Parameter) -> tuple[int, bool]:
    return tuple(Role).index(parameter.role), isinstance(parameter.source, Derived)


def _choices(parameter: Parameter) -> tuple[Value, ...]:
    return parameter.source.values if isinstance(parameter.source, Choice) else ()


def _dependencies(parameter: Parameter) -> set[str]:
    needed = {condition.parameter for condition in parameter.when}
    if isinstance(parameter.source, Derived):
        needed |= names_in(parameter.source.expression)
    return needed


def _check(space: Space) -> None:
    names = space.names
    if len(names) > MOST_PARAMETERS:
        raise StudyError(f"a space may have {MOST_PARAMETERS} parameters, got {len(names)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise StudyError(
            f"a parameter may be named once, got {', '.join(twice)} more than once", twice[0]
        )
    for parameter in space.parameters:
        for name in sorted(_dependencies(parameter)):
            if name not in names:
                raise StudyError(
                    f"{parameter.name} depends on {name!r}, which is no parameter"
                    f"{did_you_mean(name, names)}",
                    parameter.name,
                )
        for condition in parameter.when:
            _check_condition(parameter, condition, space[condition.parameter])
        if isinstance(parameter.source, Derived) and not _dependencies(parameter):
            _check_constant(parameter.name, parameter.source.expression)
    _ = space.in_order  # it raises for a circle
    _check_settings(space)


def _check_settings(space: Space) -> None:
    count = 1
    for parameter in space.parameters:
        if parameter.makes_settings:
            count *= len(_choices(parameter))
        if count > MOST_SETTINGS:
            raise StudyError(
                f"the values of the scientific parameters up to {parameter.name} make {count} "
                f"settings, and a study may compare {MOST_SETTINGS}; ask about fewer parameters, "
                "or sample some as nuisance",
                parameter.name,
            )


def _check_constant(name: str, expression: str) -> None:
    try:
        evaluate(expression, {})
    except StudyError as error:
        raise StudyError(str(error), name) from None


def _check_condition(parameter: Parameter, condition: When, other: Parameter) -> None:
    if not other.is_discrete:
        raise StudyError(
            f"{parameter.name} exists when {condition.parameter} has certain values, "
            f"so {condition.parameter} must be a choice or fixed; it is {other.source}",
            parameter.name,
        )
    if parameter.makes_settings and other.is_sampled:
        raise StudyError(
            f"{parameter.name} makes settings: it cannot depend on {other.name}, which is sampled",
            parameter.name,
        )
    if isinstance(other.source, Choice):
        for value in condition.values:
            if not other.source.contains(value):
                raise StudyError(
                    f"{parameter.name} exists when {other.name} is {value!r}, "
                    f"but {other.name} is {other.source}",
                    parameter.name,
                )
