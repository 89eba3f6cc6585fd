"""Which dimension of a sequence each parameter takes.

A parameter has one dimension in all settings, so that settings share the points of what they share.
Two parameters that never exist together may take the same dimension: the early dimensions of a
quasi-random sequence are its best, and no setting pays for what exists only in another.
"""

from __future__ import annotations

import itertools

from tunebook.core.space import Space


def dimensions(space: Space) -> dict[str, int]:
    """The dimension of each sampled parameter, counted from 0.

    Unconditional parameters come first, in their order. Each conditional one takes the first
    dimension that is free in all its settings; those of more settings choose before those of
    fewer, so that a parameter of one setting never moves the points of another.

    >>> from tunebook.core.domains import Float
    >>> unit = Float(0.0, 1.0)
    >>> space = Space.of(
    ...     scientific={"optimizer": ["adam", "nesterov"]},
    ...     nuisance={"adam.beta1": unit, "nesterov.momentum": unit, "dropout": unit},
    ...     when={
    ...         "adam.beta1": {"optimizer": "adam"},
    ...         "nesterov.momentum": {"optimizer": "nesterov"},
    ...     },
    ... )
    >>> dimensions(space)
    {'dropout': 0, 'adam.beta1': 1, 'nesterov.momentum': 1}
    """
    sampled = [parameter for parameter in space if parameter.is_sampled]
    found = {p.name: place for place, p in enumerate(p for p in sampled if not p.when)}
    conditional = [parameter.name for parameter in sampled if parameter.when]
    if not conditional:
        return found
    first = len(found)
    settings = [{p.name for p in space.searched(setting)} for setting in space.settings()]
    # `in_settings[name]` holds the dimensions taken so far in each setting of the parameter.
    taken: list[set[int]] = [set() for _ in settings]
    in_settings = {
        name: [dims for dims, names in zip(taken, settings, strict=True) if name in names]
        for name in conditional
    }
    for name in sorted(conditional, key=lambda name: -len(in_settings[name])):
        used = set().union(*in_settings[name])
        found[name] = next(place for place in itertools.count(first) if place not in used)
        for dims in in_settings[name]:
            dims.add(found[name])
    return found
