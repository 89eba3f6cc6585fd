"""How configurations are chosen: quasi-random points, a grid or a list.

A proposal is a function of (study, setting, index): it does not matter which worker asks for it,
in which order, or what crashed before.
"""

from __future__ import annotations

from tunebook.sampling.methods import sampler_for as sampler_for
