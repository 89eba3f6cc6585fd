"""The sampler that a study asks for."""

from __future__ import annotations

from tunebook.core.protocols import Sampler
from tunebook.core.study import Study
from tunebook.sampling.grid import GridSampler
from tunebook.sampling.halton import halton_unit
from tunebook.sampling.listed import ListSampler
from tunebook.sampling.sequence import SequenceSampler, random_unit


def sampler_for(study: Study) -> Sampler:
    """The sampler of the study's method."""
    match study.sampling.method:
        case "halton":
            return SequenceSampler(halton_unit)
        case "sobol":
            # It imports scipy, which nothing else here needs.
            from tunebook.sampling.sobol import sobol_unit

            return SequenceSampler(sobol_unit)
        case "random":
            return SequenceSampler(random_unit)
        case "grid":
            return GridSampler()
        case "list":
            return ListSampler()
