"""Every method gives a sampler that keeps the contract."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.sampler_contract import CHECKS, Check
from searchable import spaces, study_in
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.space import Space
from tunebook.core.study import Sampling, SamplingMethod, Study
from tunebook.core.trials import FromSequence, Listed
from tunebook.sampling import sampler_for

SPACE = Space.of(
    scientific={"optimiser": ["adam", "sgd"]},
    nuisance={
        "lr": Float(1e-4, 1e-1, log=True),
        "layers": Int(1, 3),
        "schedule": ["constant", "cosine"],
        "end": Float(0.0, 0.5),
        "beta1": Float(0.8, 1.0),
        "momentum": Choice((0.0, 0.9)),
    },
    fixed={"batch_size": 128},
    when={
        "end": {"schedule": "cosine"},
        "beta1": {"optimiser": "adam"},
        "momentum": {"optimiser": "sgd"},
    },
)
CONFIGS = (
    (("lr", 0.01), ("layers", 2), ("schedule", "constant"), ("beta1", 0.9), ("momentum", 0.9)),
    (
        *(("lr", 0.001), ("layers", 1), ("schedule", "cosine"), ("end", 0.1)),
        *(("beta1", 0.95), ("momentum", 0.0)),
    ),
)
SAMPLINGS = {
    "halton": Sampling("halton"),
    "sobol": Sampling("sobol"),
    "random": Sampling("random"),
    "grid": Sampling("grid", points=3),
    "list": Sampling("list", configs=CONFIGS),
}


def study_by(method: str) -> Study:
    return study_in(SPACE, sampling=SAMPLINGS[method], trials=12, baseline=(("width", 64),))


@pytest.mark.parametrize("method", SAMPLINGS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract(method: str, check: Check) -> None:
    study = study_by(method)
    check(study, sampler_for(study))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@given(data=st.data())
def test_the_contract_in_any_space(check: Check, data: st.DataObject) -> None:
    method: SamplingMethod = data.draw(st.sampled_from(["halton", "sobol", "random", "grid"]))
    sampling = Sampling(method, points=data.draw(st.integers(2, 3)))
    study = study_in(data.draw(spaces()), sampling=sampling, trials=3)
    check(study, sampler_for(study))


@pytest.mark.parametrize(
    ("method", "counts", "kind"),
    [
        ("halton", [12, 12], FromSequence),
        ("sobol", [12, 12], FromSequence),
        ("random", [12, 12], FromSequence),
        ("grid", [108, 72], FromSequence),
        ("list", [2, 2], Listed),
    ],
)
def test_counts_and_origins(method: str, counts: list[int], kind: type) -> None:
    study = study_by(method)
    sampler = sampler_for(study)
    assert [sampler.count(study, setting) for setting in SPACE.settings()] == counts
    first = sampler.propose(study, SPACE.settings()[0], 0, lambda: pytest.fail("unguided"))
    assert first.origin == kind(0)
    assert first.config["width"] == 64


@pytest.mark.parametrize(("method", "loaded"), [("halton", False), ("sobol", True)])
def test_scipy_is_loaded_for_sobol_alone(method: str, loaded: bool) -> None:
    code = f"""
import sys
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Sampling, Study
from tunebook.sampling import sampler_for

sampler_for(Study("a", Space(), Objective(Metric("loss")), sampling=Sampling("{method}")))
print("scipy" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == str(loaded)
