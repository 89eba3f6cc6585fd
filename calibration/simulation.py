"""Studies drawn at random: healthy ones, and ones with a planted fault.

A simulated study has a smooth surface over its unit cube with the optimum inside, noise between
equal trials, and curves that fall to a plateau with correlated noise. Each field of `Plan` plants
one fault; its default is health. Tests and calibration draw from here, with seeds of their own:
development uses seeds below `FIRST_CALIBRATION_SEED`, calibration those from it on.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tunebook.core.curves import Curve
from tunebook.core.domains import Domain, Float, Value
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
from tunebook.core.study import Budget, Study
from tunebook.core.trials import Cause, FromSequence, Origin, Outcome, OutcomeKind, Replicate, Trial
from tunebook.sampling import sampler_for

FIRST_CALIBRATION_SEED = 1_000_000
NAMES = ("learning_rate", "weight_decay", "dropout", "momentum", "smoothing", "depth_scale")
CHANCE = 0.9


@dataclass(frozen=True)
class Plan:
    """What to draw. Lengths along parameters are in the unit cube, losses in the metric's units."""

    seed: int = 0
    trials: int = 32
    dimensions: int = 4
    settings: int = 1
    evaluations: int = 40
    steps: int = 4000
    # The surface: its best value, how far it rises, what equal trials differ by.
    floor: float = 0.10
    height: float = 0.20
    noise: float = 0.004
    # The curve: step-to-step noise, its correlation, and the share of the run until the plateau.
    jitter: float = 0.002
    rho: float = 0.3
    plateau: float = 0.5
    # Faults. `optimum` plants coordinates of the optimum by parameter.
    optimum: dict[str, float] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    flat: bool = False
    advantage: float = 0.0  # by which the last setting is better
    cliff: float | None = None  # learning rates above this coordinate diverge
    failures: float = 0.0  # share of trials that fail whatever their parameters
    overfit: float = 0.0  # rise of the validation error from its minimum to the end
    train_rise: float = 0.0  # rise of the training loss over the last half
    spikes: int = 0  # sudden jumps of the training loss in every trial
    period: int = 0  # evaluations in a period of the validation metric
    swing: float = 0.01  # and its amplitude
    clipping: float | None = None  # the threshold of gradient norms, which are about 1
    warmup: int | None = None  # steps of warmup
    replicates: int = 0  # further seeds of the first configuration of every setting
    valid_examples: int = 10_000


def study_of(plan: Plan) -> Study:
    """The study that a plan is about."""
    nuisance: dict[str, Domain] = {
        name: Float(1e-4, 1e-1, log=True) if name.endswith(("rate", "decay")) else Float(0, 0.5)
        for name in NAMES[: plan.dimensions]
    }
    scientific = {"variant": list(range(plan.settings))} if plan.settings > 1 else {}
    fixed: dict[str, Value] = {"batch_size": 128}
    if plan.clipping is not None:
        fixed["clip_norm"] = plan.clipping
    if plan.warmup is not None:
        fixed["warmup"] = plan.warmup
    space = Space.of(scientific=scientific, nuisance=nuisance, fixed=fixed)
    return Study(
        f"simulated-{plan.seed}",
        space,
        Objective(Metric("valid/error")),
        goal="Which variant has the lowest error?" if scientific else "A good configuration.",
        trials=plan.trials,
        seed=plan.seed,
        budget=Budget(plan.steps),
        knobs=Knobs(
            learning_rate="learning_rate",
            batch_size="batch_size",
            train_loss="train/loss",
            grad_norm="grad_norm",
            clipping=None if plan.clipping is None else "clip_norm",
            warmup_steps=None if plan.warmup is None else "warmup",
            valid_examples=plan.valid_examples,
            chance=CHANCE,
        ),
    )


def draw(plan: Plan) -> Results:
    """A study of this plan, run to its end."""
    study = study_of(plan)
    rng = np.random.default_rng([plan.seed, 17])
    names = NAMES[: plan.dimensions]
    centre = np.array([plan.optimum.get(name, rng.uniform(0.35, 0.65)) for name in names])
    weights = np.array([plan.weights.get(name, rng.gamma(1.0)) for name in names])
    weights = weights / max(float(weights.sum()), 1e-12)
    sampler = sampler_for(study)
    records: list[TrialRecord] = []
    settings = study.space.settings()
    for index, (place, setting) in itertools.product(
        range(plan.trials + plan.replicates), enumerate(settings)
    ):
        number = len(records) + 1
        origin: Origin = FromSequence(index)
        if index >= plan.trials:
            origin = Replicate(index, place + 1)
        point = index if index < plan.trials else 0
        config = sampler.propose(study, setting, point, lambda: Results(study)).config
        at = np.array([study.space.encode(config)[name] for name in names])
        trial = Trial(study.name, number, setting, config, number, origin)
        records.append(_record(plan, trial, _level(plan, setting, at, centre, weights), at, rng))
    return Results(study, tuple(records))


def _level(
    plan: Plan,
    setting: Setting,
    at: NDArray[np.float64],
    centre: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """The true loss at a point: a bowl that flattens far from its optimum."""
    distance = 0.0 if plan.flat else float(np.sum(weights * ((at - centre) / 0.5) ** 2))
    better = plan.advantage if setting.config.get("variant") == plan.settings - 1 else 0.0
    return plan.floor - better + plan.height * (1 - float(np.exp(-distance)))


def _record(
    plan: Plan, trial: Trial, level: float, at: NDArray[np.float64], rng: np.random.Generator
) -> TrialRecord:
    steps = np.linspace(plan.steps / plan.evaluations, plan.steps, plan.evaluations).astype(int)
    if rng.uniform() < plan.failures:
        error = Outcome(OutcomeKind.FAILED, "ValueError: a planted failure")
        return TrialRecord(trial, (AttemptRecord(1, "token", "", outcome=error, seconds=1.0),))
    curves = _curves(plan, steps, max(level + plan.noise * rng.normal(), 1e-3), rng)
    outcome = Outcome(OutcomeKind.COMPLETE, "finished")
    if plan.cliff is not None and at[0] > plan.cliff:
        outcome = Outcome(OutcomeKind.INFEASIBLE, "valid/error is NaN", Cause.DIVERGED)
        early = int(steps[max(len(steps) // 8, 1)])
        curves = {name: curve.until(early) for name, curve in curves.items()}
    attempt = AttemptRecord(1, "token", "", outcome=outcome, seconds=10.0, last_step=int(steps[-1]))
    return TrialRecord(trial, (attempt,), curves)


def _curves(
    plan: Plan, steps: NDArray[np.int_], level: float, rng: np.random.Generator
) -> dict[str, Curve]:
    """Validation error, training loss and gradient norm of a trial that ends near a level."""
    share = steps / plan.steps
    # Five time constants until the plateau: what is left there is below the noise.
    falling = np.exp(-5 * share / plan.plateau)
    valid = level + (CHANCE - level) * falling + plan.jitter * _ar1(len(steps), plan.rho, rng)
    past = np.clip((share - plan.plateau) / max(1 - plan.plateau, 1e-9), 0, None)
    valid = valid + plan.overfit * past
    if plan.period:
        valid = valid + plan.swing * np.sin(2 * np.pi * np.arange(len(steps)) / plan.period)
    late = np.clip(share - 0.5, 0, None) * 2
    loss = 0.5 * level + 2 * falling + plan.train_rise * late
    loss = loss * np.exp(0.03 * _ar1(len(steps), plan.rho, rng))
    norms = np.exp(0.2 * rng.normal(size=len(steps)))
    for at in rng.choice(np.arange(2, len(steps)), size=plan.spikes, replace=False):
        loss[at] *= 6
        norms[at] *= 30
    return {
        "valid/error": Curve.of(steps, valid),
        "train/loss": Curve.of(steps, loss),
        "grad_norm": Curve.of(steps, norms),
    }


def _ar1(n: int, rho: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Correlated noise of variance one."""
    noise = rng.normal(size=n)
    for i in range(1, n):
        noise[i] = rho * noise[i - 1] + np.sqrt(1 - rho**2) * noise[i]
    return noise
