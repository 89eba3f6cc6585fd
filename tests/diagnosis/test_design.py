"""Facts of the study: code, question, searched budgets and caveats."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hostile_evidence import Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.domains import Domain, Float, Int
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.trials import Code
from tunebook.diagnosis.design import caveats, code, one_question, tuned_budget
from tunebook.diagnosis.gathering import gather

ONE, OTHER = Code("a" * 40), Code("b" * 40)


def study(space: Space, **about: object) -> Evidence:
    return evidence_of(space, [], **about)  # type: ignore[arg-type]


def asked(goal: str, **scientific: list[int]) -> Evidence:
    return study(Space.of(scientific=scientific), goal=goal)


def ran_with(*codes: tuple[Code, ...]) -> Evidence:
    """A trial for each tuple, with an attempt for each code in it."""
    results = draw(Plan(trials=len(codes), dimensions=1, evaluations=8))
    trials = []
    for record, ran in zip(results, codes, strict=True):
        attempts = tuple(replace(record.attempts[0], code=one) for one in ran)
        trials.append(replace(record, attempts=attempts))
    return gather(Results(results.study, tuple(trials)))


def test_one_code_is_good() -> None:
    said = code(ran_with((ONE,), (ONE,), (ONE, ONE)))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == "All trials ran the same code (aaaaaaaaaa)."


def test_a_change_of_code_is_told_with_the_trials() -> None:
    said = code(ran_with((ONE,), (ONE,), (OTHER,)))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "The code changed during the study: 2 trials ran aaaaaaaaaa and 1 trial ran bbbbbbbbbb."
    )
    assert said.advice == (
        "Look at what changed; if it can touch results, run trial 3 again with the same code as "
        "the others."
    )
    assert said.trials == (3,)


def test_a_trial_that_went_on_with_other_code_is_named() -> None:
    said = code(ran_with((ONE,), (ONE, OTHER)))
    assert "Trial 2 changed code half-way." in said.sentence


def test_unrecorded_code_is_unknown() -> None:
    said = code(gather(draw(Plan(trials=3, evaluations=8))))
    assert said.verdict is Verdict.UNKNOWN
    assert "repository" in said.advice


def test_code_of_a_trial_counts_where_attempts_say_nothing() -> None:
    results = draw(Plan(trials=2, evaluations=8))
    records = tuple(replace(r, trial=replace(r.trial, code=ONE)) for r in results)
    assert code(gather(Results(results.study, records))).verdict is Verdict.GOOD


def test_a_study_without_a_question_is_exploitation() -> None:
    said = one_question(study(Space.of(nuisance={"rate": Float(0, 1)})))
    assert said.verdict is Verdict.GOOD
    assert "exploitation" in said.sentence


def test_one_scientific_parameter_is_one_question() -> None:
    said = one_question(asked("Does depth help?", depth=[1, 2]))
    assert (said.verdict, said.sentence) == (Verdict.GOOD, "The study asks about depth alone.")


def test_a_question_without_a_goal_is_unknown() -> None:
    said = one_question(asked("", depth=[1, 2]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Write the study's goal as one narrow question."


def test_a_parameter_that_the_goal_does_not_name_is_another_question() -> None:
    said = one_question(asked("Does a third block help?", blocks=[2, 3], width=[64, 128]))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "The goal asks about blocks, but width is scientific too: several questions at once."
    )
    assert said.advice == (
        "Make width nuisance or fixed here, and ask about it in a study of its own."
    )


def test_several_parameters_for_one_question_are_fine_when_the_goal_says_so() -> None:
    said = one_question(asked("Which depth and width fit?", depth=[1, 2], width=[64, 128]))
    assert said.verdict is Verdict.GOOD


def test_a_goal_that_names_none_of_several_leaves_it_open() -> None:
    said = one_question(asked("Which architecture fits?", depth=[1, 2], width=[64, 128]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("Depth and width are scientific and the goal names none")


def test_what_exists_only_under_another_belongs_to_it() -> None:
    space = Space.of(
        scientific={"norm": ["none", "batch"], "ghost": [16, 64]}, when={"ghost": {"norm": "batch"}}
    )
    said = one_question(study(space, goal="Does normalisation help?"))
    assert said.verdict is Verdict.GOOD


def test_two_questions_in_one_goal_are_two() -> None:
    said = one_question(asked("Does depth help? Is Adam better?", depth=[1, 2]))
    assert said.sentence == "The goal asks 2 questions at once."


@pytest.mark.parametrize(
    ("name", "domain", "knobs"),
    [
        ("batch_size", Int(16, 512, log=True), Knobs()),
        ("train.batchSize", Int(16, 512), Knobs()),
        ("examples", Int(16, 512), Knobs(batch_size="examples")),
        ("num_epochs", Int(1, 9), Knobs()),
        ("length", Int(1, 9), Knobs(steps="length")),
    ],
)
def test_a_searched_budget_is_told(name: str, domain: Domain, knobs: Knobs) -> None:
    said = tuned_budget(study(Space.of(nuisance={name: domain}), knobs=knobs))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith(f"{name} is searched")
    assert "mostly win" not in said.sentence
    assert said.advice.startswith(f"Fix {name}")


def test_a_fixed_or_scientific_batch_size_is_no_fault() -> None:
    for space in (
        Space.of(nuisance={"rate": Float(0, 1)}, fixed={"batch_size": 64}),
        Space.of(scientific={"batch_size": [64, 128]}, nuisance={"steps_to_warm": Int(1, 9)}),
    ):
        assert tuned_budget(study(space)).verdict is Verdict.GOOD


def test_fixed_values_are_caveats_and_no_alarm() -> None:
    space = Space.of(nuisance={"rate": Float(0, 1)}, fixed={"batch_size": 64, "act": "relu"})
    said = caveats(study(space, baseline=(("decay", 0.1), ("rate", 3.0))))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "The conclusions hold for batch_size=64, act=relu and decay=0.1; another value may change "
        "them."
    )


def test_nothing_fixed_is_said() -> None:
    assert caveats(evidence_of(Space(), [Ran()])).sentence == "No value is fixed."
