"""The probe of stability: what is planted is found, and its healthy twin is left alone."""

from __future__ import annotations

import importlib
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commandline import call
from simulated_probes import Made, Training, answered, subject_of
from tunebook.core.curves import Curve
from tunebook.core.domains import Float, Value
from tunebook.core.edits import SetParameter
from tunebook.core.findings import Finding, Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config, Fixed, Space
from tunebook.core.study import Study
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.answers import Answer
from tunebook.procedures.needs import remedy
from tunebook.procedures.stability.probe import NEEDS, probe

KNOBS = Knobs(
    learning_rate="lr", eval_interval="every", train_loss="train/loss", grad_norm="grad_norm"
)
START: dict[str, Value] = {"lr": 0.01, "every": 50}


def asked(
    train: Training,
    knobs: Knobs = KNOBS,
    space: Space | None = None,
    seed: int = 0,
    steps: int = 120,
    start: dict[str, Value] | None = None,
) -> tuple[Answer, list[Study]]:
    fixed = {k: v for k, v in START.items() if k != "every" or knobs.eval_interval} | (start or {})
    subject = subject_of(fixed, knobs, probe="stability", steps=steps, space=space, seed=seed)
    return answered(probe(subject, {"seeds": 2}), train)


def simulated(
    best: float = 0.01,
    early_from: float = math.inf,
    sudden_from: float = math.inf,
    worse_above: float = 0.0,
    flat: bool = False,
    logged: str = "train/loss",
) -> Training:
    """A training whose loss falls the faster, the higher the rate, up to the best one.

    From some rate on its loss rises early, or late; above the best it ends higher by
    `worse_above` for each factor of ten.
    """

    def train(config: Config, seed: int, steps: int) -> Made:
        rate = float(config["lr"] or 0)
        rng = np.random.default_rng([seed, int(1e7 * rate)])
        far = math.log10(rate / best)
        level = 0.2 + (0.0 if flat else 0.15 * max(-far, 0)) + worse_above * max(far, 0)
        share = np.arange(1, steps + 1) / steps
        loss = (level + 2.1 * np.exp(-9 * share)) * np.exp(0.04 * rng.normal(size=steps))
        if rate >= early_from:
            loss[3:9] += 4.0
            loss[9:] += 0.3
        if rate >= sudden_from:
            loss[int(0.6 * steps) :] += 1.5
        made: dict[str, Curve | np.ndarray] = {
            logged: Curve.of(range(1, steps + 1), loss),
            "grad_norm": 1 + 0.1 * loss,
        }
        final = level + (0.3 if rate >= min(early_from, sudden_from) else 0) + 0.004 * rng.normal()
        if logged != "valid/error":
            made["valid/error"] = Curve.of([steps // 2, steps], [0.8, final])
        return made

    return train


def main(answer: Answer) -> Finding:
    return next(f for f in answer.findings if f.question.key == "probe-stability")


def test_a_rate_at_the_edge_of_early_instability() -> None:
    answer, studies = asked(simulated(best=0.05, early_from=0.03))
    found = main(answer)
    assert found.verdict is Verdict.PROBLEM
    assert found.sentence.startswith(
        "The best lr is 0.022. At twice that, 2 of 2 trainings are unstable early: train/loss rises"
    )
    assert found.sentence.endswith("instability keeps the rate below its best.")
    told = [
        found.advice.index(w) for w in ("warmup", "clip", "optimiser", "inside", "zero", "lower")
    ]
    assert told == sorted(told) and "tunebook probe warmup STUDY.yaml" in found.advice
    assert answer.edits == ()
    assert [study.name for study in studies][-1] == "small.stability.short"
    assert studies[-1].space["every"].source.value == 1  # type: ignore[union-attr]


def test_a_rate_at_the_edge_of_sudden_instability() -> None:
    found = main(asked(simulated(best=0.05, sudden_from=0.03))[0])
    assert found.verdict is Verdict.PROBLEM and "unstable all of a sudden" in found.sentence
    assert found.advice.index("Clip") < found.advice.index("warm the rate up")


def test_a_wide_basin_is_stable() -> None:
    found = main(asked(simulated(flat=True))[0])
    assert found.verdict is Verdict.GOOD
    assert "training is stable" in found.sentence and "Nor are 5 and 10 times" in found.sentence


def test_healthy_twins_are_left_alone() -> None:
    """Over seeds: an interior best rate, with and without an edge far above it."""
    verdicts = []
    for seed in range(6):
        for train in (simulated(worse_above=0.1), simulated(early_from=0.2, worse_above=0.05)):
            verdicts.append(main(asked(train, seed=seed)[0]).verdict)
    assert verdicts == [Verdict.GOOD] * 12


def test_trainings_that_broke_are_told() -> None:
    luck = iter([False] * 14 + [True] + [False] * 99)

    def train(config: Config, seed: int, steps: int) -> Made:
        crashed = Outcome(OutcomeKind.CRASHED, "the machine went away")
        return crashed if next(luck) else simulated(worse_above=0.1)(config, seed, steps)

    found = main(asked(train)[0])
    assert found.sentence.endswith("1 of the 4 trainings that this rests on broke.")


def test_worse_without_rising_is_limited_elsewhere() -> None:
    found = main(asked(simulated(worse_above=0.4, early_from=0.09))[0])
    assert found.verdict is Verdict.GOOD
    assert "limited elsewhere" in found.sentence
    assert "10 times that rate is unstable, which is no harm" in found.sentence
    # Without a knob there is no warm-up to ask about.
    assert found.advice == ""


@pytest.mark.parametrize(("warmup", "sends"), [(0, True), (20, False)])
def test_what_no_loss_shows_is_left_to_the_probe_of_warm_up(warmup: int, sends: bool) -> None:
    knobs = replace(KNOBS, warmup_steps="warmup")
    found = main(asked(simulated(worse_above=0.4), knobs, start={"warmup": warmup})[0])
    assert "limited elsewhere, not by an instability that shows" in found.sentence
    assert found.advice.endswith("a warm-up cures: tunebook probe warmup STUDY.yaml") == sends
    stable = main(asked(simulated(flat=True), knobs, start={"warmup": warmup})[0])
    assert "warm-up" not in stable.advice


def test_of_rates_that_are_as_good_the_middle_is_to_be_taken() -> None:
    found = main(asked(simulated(flat=True))[0])
    assert found.advice == (
        "Results from 0.0022 to 0.022 are as good, within noise: of these, take the middle, 0.0046."
    )
    assert found.numbers["middle"] == 0.0046
    alone = main(asked(simulated(worse_above=0.4))[0])
    assert alone.numbers["middle"] == alone.numbers["best"] == 0.01
    assert alone.advice == ""


def test_an_edge_that_results_do_not_improve_towards() -> None:
    """Instability is a problem only where it forces a smaller rate than would be best."""
    edge = [main(asked(simulated(flat=True, early_from=0.03), seed=s)[0]) for s in range(40)]
    verdicts = [found.verdict for found in edge]
    assert verdicts.count(Verdict.PROBLEM) <= 1 and verdicts.count(Verdict.WATCH) <= 5
    near = [f for f in edge if "At twice that" in f.sentence and f.verdict is Verdict.GOOD]
    assert near and all(f.sentence.endswith("a higher rate would hardly help.") for f in near)


def bowl(edge: float = math.inf, harm: float = 1.0) -> Training:
    """A best rate of 0.022 inside a bowl, and a blow-up above an edge that adds `harm`."""

    def train(config: Config, seed: int, steps: int) -> Made:
        rate = float(config["lr"] or 0)
        rng = np.random.default_rng([seed, int(1e7 * rate)])
        level = 0.2 + 0.1 * math.log10(rate / 0.022) ** 2
        loss = (level + 2.0 * np.exp(-9 * np.arange(steps) / steps)) * np.exp(
            0.1 * rng.normal(size=steps)
        )
        if rate > edge:
            loss[steps // 2 :] *= 3.0
        final = level + 0.002 * rng.normal() + (harm if rate > edge else 0.0)
        return {
            "train/loss": Curve.of(range(1, steps + 1), loss),
            "valid/error": Curve.of([steps // 2, steps], [0.8, final]),
        }

    return train


@pytest.mark.parametrize("harm", [0.0, 1.0])
def test_a_bowl_whose_bottom_is_below_an_edge_is_not_held_back(harm: float) -> None:
    """Results fall towards the best rate in any bowl: that alone promises nothing beyond it."""
    found = [main(asked(bowl(0.03, harm), seed=seed)[0]) for seed in range(10)]
    assert all("At twice that" in one.sentence for one in found)
    assert [one.verdict for one in found] == [Verdict.GOOD] * 10


def test_an_instability_that_does_no_harm() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = simulated(best=1e9, flat=True)(config, seed, steps)
        assert isinstance(made, dict)
        curve = made["train/loss"]
        assert isinstance(curve, Curve)
        values = curve.values.copy()
        if float(config["lr"] or 0) > 0.001:
            values[3:9] += 4.0
        return made | {"train/loss": Curve.of(curve.steps, values)}

    found = [main(asked(train, seed=seed)[0]) for seed in range(6)]
    seen = [one for one in found if "At twice that" in one.sentence]
    assert seen and all(one.verdict is Verdict.GOOD for one in seen)
    assert all(one.sentence.endswith("no worse: it does no harm.") for one in seen)


def regression(config: Config, seed: int, steps: int) -> Made | Outcome:
    """Linear regression by SGD with batches of 16: healthy, and as noisy as such losses are."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(0).normal(size=20)
    x, w = rng.normal(size=(400, 20)), np.zeros(20)
    y = x @ truth + 0.5 * rng.normal(size=400)
    losses = []
    for _ in range(steps):
        chosen = rng.integers(0, 400, 16)
        error = x[chosen] @ w - y[chosen]
        losses.append(float(np.mean(error**2)))
        w = w - float(config["lr"] or 0) * x[chosen].T @ error / 16
        if np.abs(w).max() > 1e6:
            return Outcome(OutcomeKind.INFEASIBLE, "diverged")
    final = float(np.mean((w - truth) ** 2)) + 0.25
    return {
        "train/loss": Curve.of(range(1, steps + 1), losses),
        "valid/error": Curve.of([steps // 2, steps], [final, final]),
    }


def test_noisy_losses_of_a_healthy_program_are_left_alone() -> None:
    found = [
        main(asked(regression, seed=seed, steps=400, start={"lr": 0.03})[0]) for seed in range(20)
    ]
    assert [one.verdict for one in found].count(Verdict.PROBLEM) <= 1


def test_a_best_rate_at_the_boundary_is_refused() -> None:
    answer, studies = asked(simulated(best=100))
    found = main(answer)
    assert found.verdict is Verdict.UNKNOWN and "is the highest of those tried" in found.sentence
    assert "--set lr=10 --again" in found.advice
    assert len(studies) == 3 and answer.figures


def test_every_step_shows_what_sparse_evaluation_misses() -> None:
    """A spike within the first steps, over before the first evaluation of a usual trial."""

    def train(config: Config, seed: int, steps: int) -> Made:
        dense = simulated(best=0.05, logged="valid/error")(config, seed, steps)
        assert not isinstance(dense, Outcome)
        curve = dense["valid/error"]
        assert isinstance(curve, Curve)
        values = curve.values.copy()
        if float(config["lr"] or 0) > 0.06:
            values[3:12] += 3.0
            values[-5:] += 0.1
        every = int(config["every"] or 1)
        kept = slice(every - 1, None, every)
        return {"valid/error": Curve.of(curve.steps[kept], values[kept])}

    knobs = Knobs(learning_rate="lr", eval_interval="every")
    answer, _ = asked(train, knobs)
    assert "unstable early: valid/error rises" in main(answer).sentence
    # Without the knob, only what is evaluated anyway is seen: not enough.
    sparse = Knobs(learning_rate="lr")
    unseen, _ = asked(
        lambda config, seed, steps: train({**config, "every": 50}, seed, steps), sparse
    )
    assert main(unseen).verdict is Verdict.UNKNOWN
    assert "eval_interval: eval_every" in main(unseen).advice


@pytest.mark.parametrize("choices", [["cosine", "constant"], ["cosine", "linear"]])
def test_short_trainings_have_a_constant_rate_where_they_can(choices: list[Value]) -> None:
    space = Space.of(scientific={"plan": choices}, fixed=START)
    knobs = replace(KNOBS, schedule="plan")
    answer, studies = asked(simulated(), knobs, space, start={"plan": "cosine"})
    held = studies[-1].space["plan"].source
    assert held == Fixed("constant" if "constant" in choices else "cosine")
    assert ("plan stayed cosine" in main(answer).sentence) is (held == Fixed("cosine"))
    assert studies[0].space["plan"].source == Fixed("cosine")


def test_a_missing_gradient_norm_is_unknown_with_its_line() -> None:
    knobs = Knobs(learning_rate="lr", eval_interval="every", train_loss="train/loss")
    answer, _ = asked(simulated(), knobs)
    (lacking,) = [f for f in answer.findings if f.question.key == "probe-stability-gradients"]
    assert lacking.verdict is Verdict.UNKNOWN
    assert remedy("grad_norm", None) in lacking.advice and "run.log" in lacking.advice
    both, _ = asked(simulated())
    assert [f.question.key for f in both.findings] == ["probe-stability"]


def test_a_range_with_the_best_rate_at_its_end_is_widened() -> None:
    space = Space.of(nuisance={"lr": Float(1e-4, 0.012, log=True)}, fixed={"every": 50})
    answer, _ = asked(simulated(worse_above=0.3), space=space)
    (edit,) = answer.edits
    assert isinstance(edit, SetParameter) and edit.source == Float(1e-4, 0.1, log=True)
    assert "high end" in edit.because
    assert main(answer).advice == f"Search lr from 0.0001 to 0.1 (log). {edit.because}"


def test_nothing_that_works_and_nothing_that_ended() -> None:
    failed = Outcome(OutcomeKind.CRASHED, "the machine went away")
    broken = main(asked(lambda config, seed, steps: failed)[0])
    assert broken.verdict is Verdict.UNKNOWN and "No trial ended" in broken.sentence
    diverged = Outcome(OutcomeKind.INFEASIBLE, "NaN")
    none = main(asked(lambda config, seed, steps: diverged)[0])
    assert none.sentence == "No lr from 0.001 to 0.1 works."


def test_the_picture_has_the_sweep_and_every_step() -> None:
    answer, _ = asked(simulated(best=0.05, early_from=0.03))
    (figure,) = answer.figures
    assert figure.key == "probe-stability"
    assert [panel.title for panel in figure.panels] == [
        "Results of short trainings",
        "train/loss at every step",
        "valid/error at every step",
        "grad_norm at every step",
    ]


def test_it_needs_a_learning_rate_and_steps() -> None:
    assert [need.knob for need in NEEDS if need.required] == ["learning_rate", "max_steps"]


# A quadratic bowl: the higher the rate, the faster the shallow side falls, until the steep side
# throws it out. The best rate is at the edge of stability by construction.
BOWL = """\
import importlib
import json
import math

def train(run):
    rate, steep, shallow = run["lr"], 1.0, 1.0
    for step in range(1, int(run.budget.amount) + 1):
        steep *= 1 - rate * {curvature}
        shallow *= 1 - min(rate, {useful}) * 0.01
        loss = steep**2 + shallow**2
        norm = math.hypot({curvature} * steep, 0.01 * shallow)
        if step % run["every"] == 0 or step == 1:
            run.log({{"loss": loss, "grad_norm": norm}}, step=step)
"""
BOWL_STUDY = """\
study: bowl
program: bowl.py:train
objective: {metric: loss, better: lower}
max_steps: 60
nuisance: {lr: {log: [0.1, 10]}}
fixed: {every: 5}
knobs: {learning_rate: lr, eval_interval: every, train_loss: loss, grad_norm: grad_norm}
"""


@pytest.mark.parametrize(("curvature", "verdict"), [(1.0, "problem"), (0.01, "unknown")])
def test_at_the_command_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    curvature: float,
    verdict: str,
) -> None:

    monkeypatch.chdir(tmp_path)
    Path("bowl.py").write_text(BOWL.format(curvature=curvature, useful=1e9))
    Path("bowl.yaml").write_text(BOWL_STUDY)
    done = call(capsys, "probe", "stability", "bowl.yaml", "--json")
    assert done.code == 0, done.err
    (found,) = [f for f in json.loads(done.out)["findings"] if f["question"] == "probe-stability"]
    assert found["verdict"] == verdict, found


@pytest.mark.long
@pytest.mark.parametrize(("place", "verdict"), [("outside", "problem"), ("inside", "good")])
def test_a_residual_network_and_its_healthy_twin(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
    verdict: str,
) -> None:
    """Normalisation outside the residual is unstable above the best rate, inside it is not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "planted"))
    residual = importlib.import_module("residual")
    Path("study.yaml").write_text(residual.study(place))
    done = call(capsys, "probe", "stability", "study.yaml", "--json")
    assert done.code == 0, done.err
    (found,) = [f for f in json.loads(done.out)["findings"] if f["question"] == "probe-stability"]
    assert found["verdict"] == verdict, found
