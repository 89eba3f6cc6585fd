"""The probe of warm-up, followed on programs of which it is known what a warm-up cures."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from commandline import call, end, interrupt, start, wait_until
from simulated_probes import Made, Training, answered
from simulated_remedies import BROKEN, KNOBS, Program, subject
from tunebook.app import workflow
from tunebook.core.domains import Choice, Value
from tunebook.core.edits import SetBudget, SetParameter
from tunebook.core.errors import StudyError
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config, Fixed, Parameter, Role, Space
from tunebook.core.study import Budget, Study
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.answers import Answer
from tunebook.procedures.remedies.comparing import LEVEL
from tunebook.procedures.remedies.warmup import probe
from tunebook.storage.sqlite import BOOK, open_store
from tunebook.studyfile import read

STEPS = 200


def run(
    program: Training,
    start: Mapping[str, Value] | None = None,
    *,
    knobs: Knobs = KNOBS,
    steps: int = STEPS,
    space: Space | None = None,
    options: Mapping[str, Value] | None = None,
) -> tuple[Answer, list[Study]]:
    about = subject(start, knobs=knobs, steps=steps, probe="warmup", space=space)
    return answered(probe(about, options or {}), program)


def stages(studies: list[Study]) -> list[str]:
    return [study.name.partition("warmup.")[2] for study in studies]


def cured_from(length: int, limit: float = 5.0) -> Program:
    return Program(warm=lambda steps: limit if steps >= length else 0.0)


def test_the_shortest_warm_up_that_cures_is_found() -> None:
    answer, studies = run(cured_from(15))
    assert stages(studies) == [
        *("sweep", "warmup-10u-2", "warmup-10u-20", "tune-10u", "tune-10u-2"),
        *("compare-before", "compare-after-10u", "compare-after-10u-without"),
    ]
    cure, gain, edge = answer.findings
    assert cure.verdict is gain.verdict is Verdict.WATCH
    assert "After a warm-up of 20 steps it is stable at 0.95. 2 steps are too few." in cure.sentence
    assert cure.numbers == {"warmup": 20.0, "unstable": 0.095, "peak": 0.95}
    assert edge.numbers == {"best": 0.03, "unstable": 0.095}
    assert gain.numbers["rate"] == 0.95
    assert gain.numbers["gain"] == pytest.approx(0.075, abs=0.01)
    assert [figure.key for figure in answer.figures] == [f.question.key for f in answer.findings]
    assert answer.retune == ("lr",)


def test_trials_warm_up_and_train_on_and_the_run_grows_by_the_warm_up() -> None:
    """This program's warm-up is part of its steps."""
    _, studies = run(cured_from(15))
    steps = {name: study.budget for name, study in zip(stages(studies), studies, strict=True)}
    assert steps["sweep"] == Budget(200)
    assert steps["warmup-10u-2"] == Budget(102)
    assert steps["warmup-10u-20"] == Budget(120)
    assert steps["tune-10u"] == steps["compare-after-10u"] == Budget(220)
    # More steps would be better by themselves.
    assert steps["compare-before"] == Budget(220)


def test_a_long_warm_up_asks_for_a_longer_run() -> None:
    answer, _ = run(cured_from(15))
    warmup, rate, budget = answer.edits
    assert warmup == SetParameter(
        "warmup",
        Fixed(20),
        "the shortest warm-up with which a learning rate of 0.95 is stable",
    )
    assert rate == SetParameter("lr", Fixed(0.95), "with the warm-up, a rate of 0.95 is best")
    # 20 steps are 5% of 400, in front of which they come.
    assert budget == SetBudget(
        Budget(420),
        "20 steps of warm-up are over 5% of 200, and 5% of 400",
    )


def test_a_short_one_comes_on_top() -> None:
    answer, _ = run(cured_from(2))
    assert answer.edits[-1] == SetBudget(Budget(202), "the warm-up comes on top of the steps")
    assert "No shorter one was tried." in answer.findings[0].sentence


def test_steps_that_are_a_parameter_are_set() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return cured_from(15)(config, seed, int(config["total"] or 0))

    answer, studies = run(train, {"total": STEPS}, knobs=replace(KNOBS, steps="total"))
    assert answer.edits[-1] == SetParameter(
        "total",
        Fixed(420),
        "20 steps of warm-up are over 5% of 200, and 5% of 400",
    )
    short = studies[1]
    assert short.space["total"].source == Fixed(102)


def test_a_healthy_program_is_left_alone() -> None:
    answer, studies = run(Program(limit=1e6, optimum=0.03))
    assert stages(studies) == ["sweep", "warmup-20"]
    assert {finding.verdict for finding in answer.findings} == {Verdict.GOOD}
    assert answer.findings[0].sentence == (
        "Training is stable up to 0.95, and is best at 0.03: there is nothing for a warm-up to "
        "cure. At 0.095, where results are worse, a warm-up of 20 steps comes to valid/error "
        "0.1239 on average; without it, the best rate has valid/error 0.09846."
    )
    assert (answer.edits, answer.retune) == ((), ())


def harmed(above: float, length: int) -> Program:
    """Rates above one are worse, and no loss shows why, but after a warm-up of some length."""

    def lost(rate: float, warmup: float, _: float) -> float:
        return 0.15 * max(math.log10(rate / above), 0.0) if warmup < length else 0.0

    return Program(limit=1e6, optimum=0.3, unseen=lost)


def test_harm_that_no_loss_shows_is_found_by_trying() -> None:
    answer, studies = run(harmed(0.03, 15))
    assert stages(studies) == [
        *("sweep", "warmup-20", "warmup-2", "tune-worse", "tune-worse-2"),
        *("compare-before", "compare-after-worse", "compare-after-worse-without"),
    ]
    cure, gain, _ = answer.findings
    assert cure.verdict is gain.verdict is Verdict.WATCH
    assert cure.sentence == (
        "Without a warm-up, results are worse from a learning rate of 0.095 on (valid/error "
        "0.1988), though no loss rises. After a warm-up of 20 steps, that rate comes to "
        "valid/error 0.1238. 2 steps are too few."
    )
    assert cure.numbers == {"warmup": 20.0, "worse": 0.095, "peak": 0.095}
    assert gain.numbers["rate"] == 0.3
    warmup, rate, _ = answer.edits
    assert warmup == SetParameter(
        "warmup", Fixed(20), "with it, a learning rate of 0.3 is better than any without"
    )
    assert rate == SetParameter("lr", Fixed(0.3), "with the warm-up, a rate of 0.3 is best")
    assert [figure.key for figure in answer.figures] == [f.question.key for f in answer.findings]
    assert "and at the first worse one, 0.095, without" in answer.figures[0].sentence


def test_the_shortest_that_is_as_good_as_the_longest_is_taken() -> None:
    answer, studies = run(harmed(0.03, 1))
    assert stages(studies)[1:3] == ["warmup-20", "warmup-2"]
    assert answer.findings[0].numbers["warmup"] == 2.0
    assert "too few" not in answer.findings[0].sentence


@pytest.mark.long
def test_luck_is_seldom_taken_for_a_cure() -> None:
    """Of programs that no warm-up changes, whose rates differ by less than noise."""
    proposed = 0
    for seed in range(100):
        about = subject({"lr": 0.03}, steps=STEPS, probe="warmup", seed=seed)
        program = Program(limit=1e6, optimum=0.03, noise=0.03)
        proposed += bool(answered(probe(about, {}), program)[0].edits)
    # 2.5 of 100 are to be expected; more than 7 would come by luck in 1 of 270.
    assert proposed <= 7


def test_so_is_one_that_is_unstable_far_above_its_best_rate() -> None:
    answer, studies = run(Program(limit=0.5, optimum=0.03))
    assert stages(studies) == ["sweep", "warmup-20"]
    assert answer.findings[0].verdict is Verdict.GOOD
    assert "unstable only from a learning rate of 0.95 on" in answer.findings[0].sentence
    assert answer.edits == ()


def test_where_ten_times_the_rate_cannot_be_cured_three_times_may() -> None:
    answer, studies = run(Program(optimum=0.3, warm=lambda steps: 0.5 if steps >= 15 else 0.0))
    assert "warmup-3u-20" in stages(studies)
    cured = "After a warm-up of 20 steps it is stable at 0.29 and at 0.3. 2 steps are too few."
    assert cured in answer.findings[0].sentence
    assert answer.findings[0].verdict is Verdict.WATCH
    assert answer.edits


def test_where_nothing_cures_other_remedies_are_offered_in_order() -> None:
    answer, studies = run(Program(diverges=True))
    assert stages(studies)[-1] == "warmup-1u-20"
    finding = answer.findings[0]
    assert finding.verdict is Verdict.WATCH
    assert "no warm-up of up to 20 steps makes that rate stable, nor 3 or 10" in finding.sentence
    order = ["probe clipping", "another optimiser", "inside", "begin at zero", "a lower"]
    places = [finding.advice.index(text) for text in order]
    assert places == sorted(places)
    assert answer.edits == ()


@dataclass(frozen=True)
class Landscape:
    """A program that a warm-up cures, whose errors are a function of the rate alone."""

    far: bool

    def __call__(self, config: Config, seed: int, steps: int) -> Made:
        made = Program(warm=lambda steps: 1e6, noise=0.0)(config, seed, steps)
        rate = float(config["lr"] or 0)
        if isinstance(made, Mapping) and (rate <= 0.06 or config["warmup"]):
            better = self.far and rate > 3
            error = 0.1 if better else 0.2 + 0.02 * abs(math.log10(rate / 0.03))
            return {**made, "valid/error": [error + 1e-4 * (seed % 7)]}
        return made


def test_a_hundred_times_the_rate_is_tried_where_ten_times_brings_nothing() -> None:
    answer, studies = run(Landscape(far=True))
    assert [name for name in stages(studies) if "100u" in name] == [
        *("warmup-100u-2", "tune-100u", "tune-100u-2", "compare-after-100u"),
        "compare-after-100u-without",
    ]
    assert stages(studies).count("compare-before") == 1
    assert answer.findings[0].numbers["peak"] == 9.5
    assert answer.findings[1].verdict is Verdict.WATCH
    assert answer.edits


def test_a_cure_that_brings_nothing_is_not_proposed() -> None:
    answer, studies = run(Landscape(far=False))
    assert "compare-after-100u" in stages(studies)
    assert [finding.verdict for finding in answer.findings] == [Verdict.GOOD] * 3
    assert answer.findings[0].advice == "Training with it is no better: keep what you have."
    assert answer.findings[0].numbers["peak"] == 0.95
    assert (answer.edits, answer.retune) == ((), ())


def test_a_warm_up_of_the_study_s_own_is_what_is_compared_with() -> None:
    """It cures as well as the one that is found, which is then not proposed."""
    answer, studies = run(cured_from(15), {"warmup": 30}, steps=230)
    named = dict(zip(stages(studies), studies, strict=True))
    assert named["sweep"].space["warmup"].source == Fixed(0)
    assert named["sweep"].budget == Budget(200)
    assert named["tune-before"].space["warmup"].source == Fixed(30)
    assert named["compare-before"].budget == Budget(230)
    gain = answer.findings[1]
    assert "with the study's own of 30 steps" in gain.sentence
    assert gain.verdict is Verdict.GOOD
    assert answer.edits == ()


def test_both_are_tuned_at_full_length_where_the_sweep_is_shorter() -> None:
    _, studies = run(cured_from(15), steps=300, options={"steps": 120})
    named = dict(zip(stages(studies), studies, strict=True))
    assert named["sweep"].budget == Budget(120)
    assert named["tune-before"].budget == named["tune-10u"].budget == Budget(330)
    assert named["compare-before"].budget == named["compare-after-10u"].budget == Budget(330)


def more_steps_help(config: Config, seed: int, steps: int) -> Made:
    """A program that a warm-up cures, and whose errors fall with the steps alone above a rate."""
    made = cured_from(15)(config, seed, steps)
    rate = float(config["lr"] or 0)
    if isinstance(made, Mapping) and (rate <= 0.06 or int(config["warmup"] or 0) >= 15):
        noise = 1e-4 * np.random.default_rng([seed, round(1e6 * rate)]).normal()
        error = 20.0 / steps + 0.05 * max(math.log10(0.03 / rate), 0.0)
        return {**made, "valid/error": [error + noise]}
    return made


def test_more_steps_are_no_merit_of_the_warm_up() -> None:
    """Every rate from 0.03 on is as good as another; a tenth more steps are nine percent better."""
    for seed in range(3):
        about = subject(steps=STEPS, probe="warmup", seed=seed)
        answer, studies = answered(probe(about, {}), more_steps_help)
        assert "compare-after-10u" in stages(studies)
        assert answer.edits == ()


def test_rates_that_are_unstable_at_full_length_are_not_proposed() -> None:
    """Stable at its peak in a short look, training blows up later at rates above 0.2."""

    def train(config: Config, seed: int, steps: int) -> Made:
        made = cured_from(15)(config, seed, steps)
        late = steps > 150 and config["warmup"] and float(config["lr"] or 0) > 0.2
        if isinstance(made, Mapping) and late:
            loss = np.array(made["train/loss"].values)  # type: ignore[union-attr]
            loss[-40:] *= 10
            return {**made, "train/loss": loss}
        return made

    answer, _ = run(train)
    assert answer.findings[1].numbers["rate"] == 0.095
    assert answer.edits[1] == SetParameter(
        "lr", Fixed(0.095), "with the warm-up, a rate of 0.095 is best"
    )


@pytest.mark.parametrize(
    ("choices", "held"), [(("cosine", "constant"), "constant"), (("cosine", "linear"), "cosine")]
)
def test_after_a_warm_up_the_rate_is_constant_where_it_can_be(
    choices: tuple[str, ...], held: str
) -> None:
    schedule = Parameter("schedule", Role.NUISANCE, Choice(choices))
    space = Space((*Space.of(fixed={"lr": 0.03, "warmup": 0, "clip": None}), schedule))
    knobs = replace(KNOBS, schedule="schedule")
    answer, studies = run(Program(), {"schedule": "cosine"}, knobs=knobs, space=space)
    named = dict(zip(stages(studies), studies, strict=True))
    kept = "schedule stayed cosine, which may decay" in answer.findings[0].sentence
    assert kept is (held == "cosine")
    assert named["warmup-10u-2"].space["schedule"].source == Fixed(held)
    assert named["sweep"].space["schedule"].source == Fixed("cosine")


def test_what_broke_is_unknown_and_not_stable() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return BROKEN if config["warmup"] else Program()(config, seed, steps)

    answer, _ = run(train)
    assert answer.findings[0].verdict is Verdict.UNKNOWN
    assert "no trial with a warm-up shows how it goes" in answer.findings[0].sentence
    assert "--retry-failed" in answer.findings[0].advice


def test_a_comparison_that_broke_is_unknown() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        whole = config["warmup"] and steps > 150
        return BROKEN if whole else cured_from(15)(config, seed, steps)

    answer, _ = run(train)
    assert [f.verdict for f in answer.findings[:2]] == [Verdict.UNKNOWN] * 2
    assert "5 of 10 trials broke, and the rest is no answer" in answer.findings[1].sentence
    assert answer.edits == ()


def test_a_remedy_that_breaks_some_seeds_is_not_proposed() -> None:
    """What is left of the seeds would be a selection."""

    def train(config: Config, seed: int, steps: int) -> Made:
        whole = config["warmup"] and steps > 150 and seed % 3 == 0
        return BROKEN if whole else cured_from(15)(config, seed, steps)

    answer, _ = run(train)
    assert [f.verdict for f in answer.findings[:2]] == [Verdict.UNKNOWN] * 2
    assert "trials broke, and the rest is no answer" in answer.findings[1].sentence
    assert answer.edits == ()


def test_an_error_in_which_unstable_trainings_end_is_their_instability() -> None:
    """In the sweep it shows that it depends on the rate; a single rate cannot show that."""
    error = Outcome(OutcomeKind.FAILED, "FloatingPointError: the loss is nan")

    def train(config: Config, seed: int, steps: int) -> Made:
        made = Program(diverges=True)(config, seed, steps)
        return error if isinstance(made, Outcome) else made

    answer, studies = run(train)
    assert "warmup-1u-20" in stages(studies)
    finding = answer.findings[0]
    assert finding.verdict is not Verdict.UNKNOWN
    assert "(at 0.95, FloatingPointError: the loss is nan)" in finding.sentence


def test_the_longest_warm_up_of_a_worse_rate_is_a_tenth_of_the_whole_run() -> None:
    _, studies = run(harmed(0.03, 300), steps=5000, options={"steps": 500})
    steps = {name: study.budget for name, study in zip(stages(studies), studies, strict=True)}
    assert steps["sweep"] == Budget(500)
    assert steps["warmup-500"] == Budget(1000)
    assert studies[0].seed == studies[1].seed


def test_an_effect_of_seeds_alone_does_not_hide_a_cure() -> None:
    """Trainings that are tried have the seeds of those that they are beside."""
    found = 0
    for number in range(10):
        about = subject({"lr": 0.03}, steps=STEPS, probe="warmup", seed=number)
        program = harmed(0.03, 15)

        def train(config: Config, seed: int, steps: int, program: Program = program) -> Made:
            made = program(config, seed, steps)
            assert not isinstance(made, Outcome)
            luck = 0.05 * np.random.default_rng(seed).normal()
            return {**made, "valid/error": [made["valid/error"].values[0] + luck]}  # type: ignore[union-attr]

        _, studies = answered(probe(about, {}), train)
        found += "tune-worse" in stages(studies)
    assert found == 10


def test_the_same_results_give_the_same_studies() -> None:
    one, two = (run(cured_from(15)) for _ in range(2))
    assert one[1] == two[1]
    assert one[0].findings == two[0].findings
    assert one[0].edits == two[0].edits


def test_a_training_that_is_too_short_is_refused() -> None:
    with pytest.raises(StudyError, match="needs trainings of 40 steps at least, got 20"):
        run(Program(), steps=20)


def planted(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, **given: float) -> None:
    """`study.yaml`, a study of a planted program, in a folder of its own."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("TUNEBOOK_DIR")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "planted"))
    Path("study.yaml").write_text(importlib.import_module("settling").study(name, **given))


@pytest.mark.long
def test_a_program_that_a_warm_up_cures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, "settling")
    done = call(capsys, "probe", "warmup", "study.yaml", "--json", "--html", "page.html")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    found = {finding["question"]: finding for finding in said["findings"]}
    assert found["probe-warmup"]["verdict"] == "watch", found
    assert found["probe-warmup-gain"]["numbers"]["p"] < 0.001
    after = read(Path("study.warmup.yaml"))
    assert after.space["warmup"].source == Fixed(30)
    assert after.budget == Budget(630)
    assert said["retune"] == ["lr"]
    page = Path("page.html").read_text()
    assert "Training with and without" in page
    assert "Over fresh seeds" in page


@pytest.mark.long
def test_its_healthy_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, "settled", sharp=0)
    done = call(capsys, "probe", "warmup", "study.yaml", "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert {
        finding["verdict"] for finding in said["findings"] if "probe" in finding["question"]
    } == {"good"}
    assert said["proposal"] is None
    assert not Path("study.warmup.yaml").exists()


@pytest.mark.long
@pytest.mark.parametrize("place", ["outside", "inside"])
def test_a_residual_network_that_a_warm_up_cures_and_its_stable_twin(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
) -> None:
    """With the normalisation outside the residual it is unstable next to its best rate.

    Inside, nothing is unstable, and a warm-up is better all the same, by a third of the loss.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNEBOOK_DIR")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "planted"))
    Path("study.yaml").write_text(importlib.import_module("residual").deep_study(place))
    done = call(capsys, "probe", "warmup", "study.yaml", "--seeds", "16", "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    found = {finding["question"]: finding for finding in said["findings"]}
    assert found["probe-warmup"]["verdict"] == "watch", found
    kinds = found["probe-warmup"]["numbers"].keys() & {"unstable", "worse"}
    assert kinds == {"unstable" if place == "outside" else "worse"}, found
    assert found["probe-warmup-gain"]["numbers"]["p"] < LEVEL
    assert read(Path("study.warmup.yaml")).space["warmup_steps"].source == Fixed(20)


@pytest.mark.long
def test_interrupted_it_is_continued_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(tmp_path, monkeypatch, "settling", steps=100, pause=0.002)
    arguments = ("probe", "warmup", "study.yaml", "--seeds", 3, "--json")
    process = start(tmp_path, *arguments)
    book = tmp_path / ".tunebook"
    wait_until(lambda: "settling.warmup.warmup-10u-2" in begun(book), seconds=240)
    interrupt(process)
    left = end(process, timeout=120)
    assert left.code == 130, left.err
    before = workflow.results("settling.warmup.sweep", book)
    done = end(start(tmp_path, *arguments), timeout=300)
    assert done.code == 0, done.err
    # What was done is read, not done again.
    again = workflow.results("settling.warmup.sweep", book)
    assert [len(r.attempts) for r in again] == [len(r.attempts) for r in before]
    found = {finding["question"]: finding for finding in json.loads(done.out)["findings"]}
    assert found["probe-warmup"]["verdict"] == "watch", found


def begun(book: Path) -> set[str]:
    if not (book / BOOK).exists():
        return set()
    with open_store(book, readonly=True) as store:
        return {study.name for study in store.studies()}
