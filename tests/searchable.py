"""Spaces that a sampler can search: every point of them decodes."""

from __future__ import annotations

from hypothesis import strategies as st

from tunebook.core.domains import Choice, Domain, Float, Int
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space, When
from tunebook.core.study import Study

units = st.floats(0.0, 1.0, exclude_max=True)
DOMAINS: tuple[Domain, ...] = (
    Float(0.0, 1.0),
    Float(1e-5, 1.0, log=True),
    Int(1, 4),
    Int(16, 512, log=True),
    Choice(("relu", "gelu")),
    Choice((0, None, True)),
)
ARMS = (Choice((2, 3)), Choice(("adam", "sgd", "lion")), Choice((False, True)))


@st.composite
def spaces(draw: st.DrawFn, most: int = 5) -> Space:
    """Up to two scientific choices and `most` searched parameters, many of them conditional."""
    known = [Parameter("depth", Role.FIXED, Fixed(3))]
    for number in range(draw(st.integers(0, 2))):
        when = draw(_conditions(known))
        known.append(Parameter(f"arm{number}", Role.SCIENTIFIC, draw(st.sampled_from(ARMS)), when))
    for number in range(draw(st.integers(0, most))):
        when = draw(_conditions(known))
        domain = draw(st.sampled_from(DOMAINS))
        known.append(Parameter(f"x{number}", Role.NUISANCE, domain, when))
    if draw(st.booleans()):
        known.append(Parameter("wide", Role.SCIENTIFIC, Float(1.0, 9.0), buckets=4))
        known.append(Parameter("half", Role.FIXED, Derived("wide / 2")))
    return Space(tuple(known))


@st.composite
def _conditions(draw: st.DrawFn, parameters: list[Parameter]) -> tuple[When, ...]:
    """At most one condition, which holds for some but not always for all values of a parameter."""
    usable = [p for p in parameters if p.is_discrete]
    if not draw(st.booleans()):
        return ()
    other = draw(st.sampled_from(usable))
    values = other.source.values if isinstance(other.source, Choice) else (3, 4)
    return (When(other.name, values[: draw(st.integers(1, len(values)))]),)


def study_in(space: Space, **details: object) -> Study:
    """A study of a space, in which nothing else is of interest."""
    return Study("points", space, Objective(Metric("error")), **details)  # type: ignore[arg-type]
