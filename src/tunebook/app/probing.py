"""Probes from the command line and from Python: run, continued, read from the book."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from tunebook.app import workflow
from tunebook.app.asking import so_far, studies, subject_of
from tunebook.app.progress import Display
from tunebook.core.edits import edited
from tunebook.core.errors import StudyChanged, StudyError, StudyOwned, TunebookError
from tunebook.core.evidence import Standing
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.protocols import Program
from tunebook.core.representation import counted, listed, titled
from tunebook.core.results import Results
from tunebook.core.study import Asked, Study
from tunebook.core.trials import OutcomeKind
from tunebook.diagnosis.design import versions_of
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.questions import CODE
from tunebook.procedures import subjects
from tunebook.procedures.answers import Answer, follow
from tunebook.procedures.catalogue import Probe, named
from tunebook.procedures.commands import other
from tunebook.procedures.subjects import Subject
from tunebook.report.making import Report, Stage, Whole, assemble
from tunebook.running.loop import Ending
from tunebook.sampling import sampler_for
from tunebook.stats.threads import one_thread


@dataclass(frozen=True, slots=True)
class Probed:
    """What came of a probe: how it ended and, if it came to its end, the answer and the report.

    `proposal` is the study file with the proposed changes, where there are any.
    """

    ending: Ending
    answer: Answer | None = None
    report: Report | None = None
    proposal: str | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.answer.findings if self.answer is not None else ()

    @property
    def told(self) -> str:
        """How a probe that did not come to its end can be continued."""
        if self.ending.paused:
            return (
                f"{self.ending.paused} Mend the program and probe again: what failed is tried "
                "again when the code has changed, or with retry_failed=True."
            )
        return "Interrupted. Probe again to continue."

    def __str__(self) -> str:
        return str(self.report) if self.report is not None else self.told

    def _repr_html_(self) -> str:
        return self.report._repr_html_() if self.report is not None else titled(self.told)


class _Unfinished(TunebookError):
    """A stage was interrupted or paused; what is done is in the book."""

    def __init__(self, ending: Ending, study: Study, how: str = "has not come to its end") -> None:
        super().__init__(f"{study.name} {how}")
        self.ending = ending


def run(
    asked: Asked,
    program: Program,
    folder: Path,
    options: workflow.Options,
    screen: Display,
    file: str,
) -> Probed:
    """Run a probe, or continue it, to its answer.

    `file` is where the study is now: the book has only where it was when the probe was begun.
    """
    probe = named(asked.procedure)
    stages: list[Results] = []

    def run_stage(study: Study) -> Results:
        alone = study.name.rpartition(".")[2].startswith(probe.timed) if probe.timed else False
        chosen = replace(options, workers=1) if alone else options
        try:
            ending, results = workflow.run(study, program, folder, chosen, screen)
        except StudyOwned as error:
            raise StudyOwned(
                f"the probe {asked.procedure} of {asked.about.name} is being run by {error.owner}; "
                "wait for it, or stop it there with Ctrl-C",
                error.owner,
            ) from None
        except StudyChanged as error:
            # Trials that failed before and work now may lead a probe elsewhere.
            raise StudyChanged(
                f"{study.name} was begun otherwise, for an earlier stage has other results now:\n"
                + "\n".join(f"  {line}" for line in error.difference)
                + "\nBegin anew with --again",
                error.difference,
            ) from None
        if not ending.done:
            raise _Unfinished(ending, study)
        stages.append(results)
        return results

    try:
        with one_thread():
            answer = follow(probe.begin(subject_of(asked, folder), dict(asked.options)), run_stage)
    except _Unfinished as unfinished:
        return Probed(unfinished.ending)
    except KeyboardInterrupt:
        # Between two stages, where nothing runs; or by a third Ctrl-C.
        return Probed(Ending(interrupted=True))
    before = _text_of(asked.about, file)
    proposed = proposal(asked.about, answer, folder, before)
    made = report(stages[-1], answer, stages, changes(before, proposed))
    return Probed(Ending(), answer, made, proposed)


def report(
    results: Results, answer: Answer, stages: Sequence[Results], changed: Sequence[str] = ()
) -> Report:
    """The report on a probe, with the trials of one of its stages.

    What counts as infeasible is what the procedures take for it: see `sweeps.readings_of`.
    """
    asked = results.study.asked
    study = results.study if asked is None else _titled(results.study, asked)
    findings = (*_mixed_code(stages), *answer.findings)
    known = (Stage(one.study.name, one.study.goal, one.counts()) for one in stages)
    return assemble(
        gather(replace(results, study=study), far_out=False),
        findings,
        answer.figures,
        made=datetime.now().astimezone(),
        version=version("tunebook"),
        whole=Whole(tuple(known), tuple(changed), answer.retune),
    )


def _mixed_code(stages: Sequence[Results]) -> tuple[Finding, ...]:
    """What to say where the code changed between trials that are compared with one another."""
    versions = versions_of(record for results in stages for record in results)
    if len(versions) < 2:
        return ()
    groups = sorted(versions.items(), key=lambda pair: -len(pair[1]))
    said = [f"{counted(len(numbers), 'trial')} ran {one}" for one, numbers in groups]
    finding = Finding(
        CODE,
        Verdict.WATCH,
        f"The code changed during the probe: {listed(said)}. If that can touch results, what is "
        "said here mixes two programs.",
        "Look at what changed; if it can touch results, begin anew with --again.",
        numbers={"versions": float(len(versions))},
    )
    return (finding,)


def changes(before: str | None, after: str | None) -> tuple[str, ...]:
    """The lines in which a proposed study file differs, with one around them; all without one."""
    if after is None:
        return ()
    if before is None:
        return tuple(after.splitlines())
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    return tuple(lines)[2:]


def _titled(study: Study, asked: Asked) -> Study:
    """A stage whose goal is the question of the whole probe."""
    return replace(study, goal=named(asked.procedure).question)


def replayed(results: Results, folder: Path) -> Report:
    """The report on a stage of a probe, from what the book has of the whole probe."""
    asked = results.study.asked
    if asked is None:
        raise StudyError(f"{results.study.name} is not a stage of a probe")
    probe = named(asked.procedure)

    stages: list[Results] = []

    def at_hand(study: Study) -> Results:
        try:
            found = workflow.results(study.name, folder)
        except TunebookError:
            raise _Unfinished(Ending(interrupted=True), study, "has not begun") from None
        # Another version may ask otherwise: then what is in the book answers nothing.
        if not _is_complete(found) or found.study.difference(study):
            raise _Unfinished(Ending(interrupted=True), study, _failures(found))
        stages.append(found)
        return found

    subject = subject_of(asked, folder)
    try:
        answer = follow(probe.begin(subject, dict(asked.options)), at_hand)
    except _Unfinished as unfinished:
        answer = Answer((_not_ended(probe, subject, str(unfinished)),))
    before = _text_of(asked.about, asked.about.file)
    proposed = proposal(asked.about, answer, folder, before)
    return report(results, answer, stages, changes(before, proposed))


def _text_of(study: Study, file: str) -> str | None:
    """The text of a study's file; None where there is none, or it tells of another study."""
    from tunebook import studyfile

    if not file:
        return None
    try:
        text = Path(file).read_text(encoding="utf-8")
        found = replace(studyfile.parse(text), task=study.task)
    except (OSError, UnicodeDecodeError, StudyError):
        return None
    same = found.name == study.name and not study.difference(subjects.completed(found))
    return text if same else None


def proposal(study: Study, answer: Answer, folder: Path, text: str | None) -> str | None:
    """The text of a study's file with what a probe proposes, or None where it proposes nothing.

    Without the text it is written anew, and has no comments.
    """
    from tunebook import studyfile

    if not answer.edits:
        return None
    known = so_far(study.name, folder)
    name = _following(study.name, folder) if known is not None and len(known) else None
    if text is None:
        after = edited(study, answer.edits)
        return studyfile.write(after.child(name) if name else after)
    return studyfile.edit_text(text, answer.edits, name)


def _following(name: str, folder: Path) -> str:
    """A name for the next study that no study of the book has."""
    taken = {study.name for study in studies(folder)}
    return next(n for i in itertools.count(2) if (n := f"{name}-{i}") not in taken)


def _is_complete(results: Results) -> bool:
    study = results.study
    planned = sum(sampler_for(study).count(study, s) for s in study.space.settings())
    pending = any(reading.standing is Standing.PENDING for reading in gather(results).readings)
    return len(results) >= planned and not pending


def _failures(results: Results) -> str:
    """How a stage stands that has not ended: its failures are why a probe pauses."""
    outcomes = [record.outcome for record in results if record.outcome is not None]
    failed = [outcome for outcome in outcomes if outcome.kind is OutcomeKind.FAILED]
    told = f"; {counted(len(failed), 'trial')} of it failed, the first with " if failed else ""
    return f"has not come to its end{told}" + (repr(failed[0].reason) if failed else "")


def _not_ended(probe: Probe, subject: Subject, why: str) -> Finding:
    return Finding(
        Question(f"probe-{probe.name}", probe.question, f"probe-{probe.name}"),
        Verdict.UNKNOWN,
        f"The probe has not come to its end: {why}.",
        f"Continue it: {other(subject, probe.name)}",
    )
