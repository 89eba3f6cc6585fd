"""What a warm-up cures and brings, in words and changes of the study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulated_probes import results_of
from simulated_remedies import BROKEN, KNOBS, Program, subject
from tunebook.core.edits import Edit, SetBudget, SetParameter
from tunebook.core.findings import Verdict
from tunebook.core.objective import Metric
from tunebook.core.space import Derived, Fixed, Parameter, Role
from tunebook.core.study import Budget
from tunebook.procedures.remedies.comparing import Comparison, Outcomes
from tunebook.procedures.remedies.edge import Edge, edge_of
from tunebook.procedures.remedies.edge_words import NO_HARM
from tunebook.procedures.remedies.warmup_tried import Cure, Tried
from tunebook.procedures.remedies.warmup_words import cured, not_cured
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import judged, mean_loss, readings_of

BETTER, SAME = Outcomes((0.1, 0.11, 0.12)), Outcomes((0.3, 0.31, 0.33))
ENDED_LOW = replace(SAME, end="low")


def edge(about: Subject) -> Edge:
    study = about.stage("sweep", {"lr": [0.01, 0.03, 0.1]}, goal="?", steps=120, replicates=2)
    made = judged(results_of(study, Program()), "lr", mean_loss(Metric("valid/error")))
    return edge_of(about, made, 120)


def attempt(about: Subject, length: int, trouble: str | None) -> Tried:
    study = about.stage("w", {"warmup": [length]}, {"lr": 1.0}, goal="?", steps=60, replicates=3)
    return Tried(length, readings_of(results_of(study, Program(limit=5.0))), trouble)


def cure(about: Subject, length: int, after: Outcomes = BETTER, own: int = 0) -> Cure:
    found = Comparison(Metric("error"), Outcomes((0.3, 0.31, 0.32)), after)
    attempts = (attempt(about, 2, "it diverged"), attempt(about, length, ""))
    return Cure(0.1, 1.0, attempts, length, 0.5, 0.03, found, 400 - own, own)


def test_what_pays_is_proposed() -> None:
    about = subject()
    answer = cured(about, edge(about), cure(about, 10))
    first, gain, _ = answer.findings
    assert first.advice == (
        "Set warmup to 10, in front of the schedule, and tune the learning rate again around 0.5."
    )
    assert "After a warm-up of 10 steps it is stable at 1. 2 steps are too few." in first.sentence
    assert first.trials == (1, 2, 3, 1, 2, 3)
    assert gain.sentence.startswith("A learning rate of 0.5 with the warm-up against 0.03 with non")
    assert answer.edits == (
        SetParameter(
            "warmup", Fixed(10), "the shortest warm-up with which a learning rate of 1 is stable"
        ),
        SetParameter("lr", Fixed(0.5), "with the warm-up, a rate of 0.5 is best"),
        SetBudget(Budget(410), "the warm-up comes on top of the steps"),
    )


@pytest.mark.parametrize(("after", "verdict"), [(SAME, "good"), (ENDED_LOW, "unknown")])
def test_what_does_not_is_not(after: Outcomes, verdict: str) -> None:
    about = subject()
    answer = cured(about, edge(about), cure(about, 10, after))
    assert [finding.verdict.value for finding in answer.findings[:2]] == [verdict] * 2
    assert (answer.edits, answer.retune) == ((), ())


def test_trials_of_a_comparison_that_broke_are_to_be_looked_at() -> None:
    about = subject()
    study = about.listed("compare-after-10u", [{}] * 3, goal="?", steps=60)
    broken = readings_of(results_of(study, lambda *_: BROKEN))
    answer = cured(about, edge(about), cure(about, 10, Outcomes((), 0, broken, broken=3)))
    assert answer.findings[0].advice == (
        f"Look at one of them, tunebook show {study.name} 1; then probe again with --retry-failed."
    )


def budget_edits(about: Subject, length: int, own: int = 0) -> list[Edit]:
    answer = cured(about, edge(about), cure(about, length, own=own))
    return [edit for edit in answer.edits if getattr(edit, "name", "") not in ("warmup", "lr")]


def test_the_run_grows_by_the_warm_up_or_more() -> None:
    task = replace(subject().asked, about=replace(subject().study, program=None, task="moons"))
    # The reference loop puts a warm-up in front of its steps by itself.
    assert budget_edits(Subject(task), 20) == []
    because = "40 steps of warm-up are over 5% of 400, and 5% of 800"
    assert budget_edits(Subject(task), 40) == [SetBudget(Budget(800), because)]
    assert budget_edits(subject(), 40) == [SetBudget(Budget(840), because)]
    # As long as the one that it replaces, or shorter.
    assert budget_edits(subject({"warmup": 10}), 10, own=10) == []
    assert budget_edits(subject({"warmup": 20}), 10, own=20) == []


def test_a_warm_up_that_asks_for_more_steps_says_how_many() -> None:
    about = subject()
    advice = cured(about, edge(about), cure(about, 40)).findings[0].advice
    assert advice.endswith("A warm-up of over 5% of the steps asks for more of them: 840.")


def test_a_rate_that_is_computed_is_left_to_the_reader() -> None:
    """The gain is that of the warm-up at its own rate: without that it is no proposal."""
    about = subject()
    space = about.study.space.edit({"lr": Parameter("lr", Role.FIXED, Derived("0.03 * 1"))})
    computed = Subject(replace(about.asked, about=replace(about.study, space=space)))
    answer = cured(computed, edge(about), cure(about, 10))
    assert answer.edits == ()
    assert answer.findings[0].advice.endswith(
        "lr is computed, as 0.03 * 1: see to it that it is 0.5."
    )


def test_results_that_do_not_depend_on_the_seed_decide_nothing() -> None:
    about = subject()
    before, after = Outcomes((0.3,) * 5), Outcomes((0.1,) * 5)
    made = replace(cure(about, 10), found=Comparison(Metric("error"), before, after))
    answer = cured(about, edge(about), made)
    assert answer.findings[1].verdict is Verdict.UNKNOWN and answer.edits == ()
    assert "error 0.1 against 0.3, the same for every seed" in answer.findings[1].sentence
    assert answer.findings[0].advice.startswith("Let the program use its seed")
    # Nothing is gained where both are equal, and that is known.
    equal = replace(made, found=Comparison(Metric("error"), before, before))
    assert cured(about, edge(about), equal).findings[1].verdict is Verdict.GOOD


def test_steps_by_a_parameter() -> None:
    about = subject({"total": 400}, knobs=replace(KNOBS, steps="total"))
    (edit,) = budget_edits(about, 10)
    assert edit == SetParameter("total", Fixed(410), "the warm-up comes on top of the steps")


def test_the_rate_that_was_found_stable_is_said() -> None:
    about = subject()
    higher = replace(cure(about, 10), rate=2.0, highest=2.0)
    answer = cured(about, edge(about), higher)
    assert "it is stable at 1 and at 2." in answer.findings[0].sentence
    assert "with which a learning rate of 2 is stable" in answer.edits[0].because
    unstable = replace(higher, trouble="train/loss rises by 50% from step 90 on")
    answer = cured(about, edge(about), unstable)
    assert answer.edits == ()
    assert (
        "Trained to the end at 2, it is unstable all the same (train" in answer.findings[0].sentence
    )
    assert answer.findings[0].advice.startswith("Clip gradients as well: tunebook probe clipping ")


def test_a_rate_at_an_end_of_what_was_tuned() -> None:
    about = subject()
    made = cure(about, 10)
    found = replace(made.found, before=replace(made.found.before, end="low"))
    answer = cured(about, edge(about), replace(made, found=found))
    assert [finding.verdict for finding in answer.findings[:2]] == [Verdict.UNKNOWN] * 2
    assert "against 0.03 (the lowest that was tried) with none" in answer.findings[1].sentence
    assert answer.findings[0].advice.endswith("STUDY.yaml --set lr=0.03 --again")
    assert answer.edits == ()


def test_where_no_length_cures_and_nothing_is_promised() -> None:
    about = subject()
    attempts = (attempt(about, 2, "it rises"), attempt(about, 40, "it rises"))
    finding, _ = not_cured(about, edge(about), 1.0, attempts).findings
    assert finding.verdict is Verdict.GOOD and finding.advice == ""
    assert finding.sentence.endswith(NO_HARM)


def test_where_no_length_cures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Edge, "is_promising", True)
    about = subject()
    attempts = (attempt(about, 2, "it diverged at step 3"), attempt(about, 40, "it rises"))
    finding, edge_said = not_cured(about, edge(about), 1.0, attempts).findings
    assert finding.verdict is Verdict.WATCH
    assert finding.sentence == (
        "Training is unstable from a learning rate of 0.1 on, and no warm-up of up to 40 steps "
        "makes that rate stable, nor 3 or 10 times that rate (at 1, it rises)."
    )
    assert finding.advice.startswith("Clip gradients, which may cure what a warm-up cannot: tunebo")
    assert edge_said.question.key == "probe-edge"


def test_where_nobody_knows() -> None:
    about = subject()
    attempts = (attempt(about, 2, None), attempt(about, 40, None))
    finding, _ = not_cured(about, edge(about), 1.0, attempts).findings
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.advice.endswith("probe again with --retry-failed.")
