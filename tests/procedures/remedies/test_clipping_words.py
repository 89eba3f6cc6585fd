"""What clipping cures and brings, in words and changes of the study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulated_probes import results_of
from simulated_remedies import Program, subject
from tunebook.core.edits import SetParameter
from tunebook.core.findings import Verdict
from tunebook.core.objective import Metric
from tunebook.core.space import Fixed
from tunebook.procedures.remedies.clipping_tried import Courses, Cure, Tried
from tunebook.procedures.remedies.clipping_words import cured, no_norms, not_cured
from tunebook.procedures.remedies.comparing import Comparison, Outcomes
from tunebook.procedures.remedies.edge import Edge, edge_of
from tunebook.procedures.remedies.edge_words import NO_HARM
from tunebook.procedures.sweeps import judged, mean_loss, readings_of

ABOUT = subject(probe="clipping")
SWEEP = ABOUT.stage("sweep", {"lr": [0.01, 0.03, 0.1]}, goal="?", steps=120, replicates=2)
EDGE = edge_of(
    ABOUT, judged(results_of(SWEEP, Program()), "lr", mean_loss(Metric("valid/error"))), 120
)
BEFORE, BETTER = Outcomes((0.3, 0.31, 0.32)), Outcomes((0.1, 0.11, 0.12))


def attempt(threshold: float, trouble: str | None, clipped: float | None = 0.1) -> Tried:
    study = ABOUT.stage("t", {"clip": [threshold]}, {"lr": 0.1}, goal="?", steps=60, replicates=3)
    return Tried(threshold, readings_of(results_of(study, Program(limit=5.0))), trouble, clipped)


def cure(
    clipped: float | None = 0.1,
    after: Outcomes = BETTER,
    own: float | None = None,
    before: Outcomes = BEFORE,
) -> Cure:
    chosen = attempt(1.2, "", clipped)
    return Cure(
        (attempt(4.0, "it rises"), chosen),
        chosen,
        at=0.1,
        is_best=False,
        rate=0.5,
        without=0.03,
        highest=1.0,
        found=Comparison(Metric("error"), before, after),
        own=own,
        clipped=clipped,
        before=Courses(5, 5),
        after=Courses(0, 5),
    )


def test_what_pays_is_proposed() -> None:
    answer = cured(ABOUT, EDGE, cure())
    first, gain, _ = answer.findings
    assert first.verdict is gain.verdict is Verdict.WATCH
    assert first.sentence.endswith(
        "Clipped at 1.2, it is stable there; at 0.5, 10% of the updates are clipped."
    )
    assert first.advice == "Set clip to 1.2 and tune the learning rate again around 0.5."
    assert "0.5 with clipping at 1.2 against 0.03 with none" in gain.sentence
    assert answer.edits == (
        SetParameter(
            "clip",
            Fixed(1.2),
            "the 90th percentile of unclipped gradient norms, made smaller until it helped",
        ),
        SetParameter("lr", Fixed(0.5), "with clipping, a rate of 0.5 is best"),
    )
    assert answer.retune == ("lr",)


def test_what_does_not_is_not() -> None:
    answer = cured(ABOUT, EDGE, cure(after=BEFORE, own=5.0))
    assert [finding.verdict for finding in answer.findings] == [Verdict.GOOD] * 3
    assert "with the study's own at 5" in answer.findings[1].sentence
    assert answer.edits == ()


def test_norms_after_clipping() -> None:
    first = cured(ABOUT, EDGE, cure(clipped=None)).findings[0]
    assert first.sentence.endswith(
        "grad_norm seems to be logged after clipping, so how many updates are clipped is not known."
    )
    assert "clipped" not in first.numbers


def test_where_most_updates_would_be_clipped() -> None:
    finding = not_cured(
        ABOUT, EDGE, 0.1, [attempt(4.0, "it rises"), attempt(0.4, "", 0.8)]
    ).findings[0]
    assert finding.sentence == (
        "Clipped at 0.4, training is stable at 0.1, but 80% of the updates are clipped."
    )
    assert finding.advice.startswith("Keep the learning rate below 0.1 instead")


def test_where_trouble_stays_and_nothing_is_promised() -> None:
    stays = not_cured(ABOUT, EDGE, 0.1, [attempt(0.4, "it rises")]).findings[0]
    assert stays.verdict is Verdict.GOOD and stays.advice == ""
    assert stays.sentence.endswith(NO_HARM)


def test_where_trouble_stays_and_where_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Edge, "is_promising", True)
    stays = not_cured(ABOUT, EDGE, 0.1, [attempt(0.4, "it rises from step 3 on")]).findings[0]
    assert stays.verdict is Verdict.WATCH
    assert stays.sentence.endswith("It stays so when clipped at 0.4 (it rises from step 3 on).")
    unknown = not_cured(ABOUT, EDGE, 0.1, [attempt(0.4, None)]).findings[0]
    assert unknown.verdict is Verdict.UNKNOWN


def test_where_the_best_rate_is_unstable() -> None:
    same = Outcomes((0.3, 0.31, 0.33))
    steadier = replace(cure(after=same), is_best=True, at=0.03)
    answer = cured(ABOUT, EDGE, steadier)
    assert answer.findings[0].sentence.startswith(
        "Without clipping, training is unstable at the best learning rate already, 0.03 ("
    )
    assert answer.findings[1].sentence.endswith(
        "0 of 5 trainings are unstable with it, and 5 of 5 without."
    )
    assert [finding.verdict for finding in answer.findings[:2]] == [Verdict.WATCH] * 2
    assert answer.edits
    few = replace(steadier, before=Courses(3, 5), found=replace(steadier.found, most=3))
    lucky = cured(ABOUT, EDGE, few)
    assert lucky.edits == ()
    assert lucky.findings[0].advice == (
        "Fewer unstable trainings may be luck, and more seeds can tell: tunebook probe clipping "
        "STUDY.yaml --seeds 6 --again"
    )
    # Where more seeds were to be had there was no hope, nor is there where results are worse.
    for left in (
        replace(few.found, most=20),
        replace(few.found, after=Outcomes((0.6, 0.61, 0.62))),
    ):
        said = cured(ABOUT, EDGE, replace(few, found=left)).findings[0].advice
        assert said == "Training with it is no better: keep what you have."
    calmer = replace(steadier, chosen=attempt(1.2, "it rises by 30%"))
    sentence = cured(ABOUT, EDGE, calmer).findings[0].sentence
    assert "Clipped at 1.2, the loss rises clearly less there (it rises by 30%);" in sentence


def test_a_rate_at_an_end_of_what_was_tuned() -> None:
    """That of the better one is said; that of the worse one leaves the answer open."""
    best = cured(ABOUT, EDGE, cure(after=replace(BETTER, end="high")))
    assert "0.5 (the highest that was tried) with clipping" in best.findings[1].sentence
    assert best.edits
    for before, after, rate in (
        (replace(BEFORE, end="low"), BETTER, 0.03),
        (BEFORE, replace(BEFORE, end="high"), 0.5),
    ):
        answer = cured(ABOUT, EDGE, cure(before=before, after=after))
        assert [finding.verdict for finding in answer.findings[:2]] == [Verdict.UNKNOWN] * 2
        assert answer.findings[0].advice.endswith(
            f"Begin there: tunebook probe clipping STUDY.yaml --set lr={rate} --again"
        )
        assert answer.edits == ()


def test_without_norms() -> None:
    finding = no_norms(ABOUT, EDGE).findings[0]
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence.startswith("Fewer than 20 values of grad_norm above 0 were logged")
