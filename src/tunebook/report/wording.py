"""What every form of a report says in the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from tunebook.core.evidence import Standing
from tunebook.core.findings import Finding, Verdict
from tunebook.core.objective import Objective
from tunebook.core.representation import (
    config_text,
    counted,
    counts_text,
    listed,
    number,
    one_line,
)
from tunebook.core.space import Derived
from tunebook.diagnosis.phrases import numbered
from tunebook.report.making import Comparison, Report, Row, Stage

# Never colour alone: a mark and the word.
MARKS: Final = {
    Verdict.PROBLEM: "✗",
    Verdict.WATCH: "!",
    Verdict.UNKNOWN: "?",
    Verdict.GOOD: "✓",
}
# Questions whose good answer is news in itself; who wins is told at the top.
ANSWERS: Final = ("importance", "caveats")
# Questions on what was learnt: where nothing is wrong, their advice is the next step.
LEARNT: Final = ("winner", "trial-variance")
NO_FINDINGS: Final = "No question could be asked: the study has no trials yet."
TESTED: Final = (
    "A p-value counts once it is adjusted for all tests of the report; what was seen needs none."
)
BUDGET: Final = (
    "Verdicts are decided over the whole report, so that a healthy study shows any problem in at "
    "most 5% of reports, and anything to watch in at most 20%. "
)
UNKNOWN: Final = "Unknown means that the trials at hand cannot tell, never that all is well."


def objective(given: Objective) -> str:
    """`best valid/error, lower is better`."""
    metric = given.metric
    how = f"mean of the last {given.over} of" if given.reduction == "mean" else given.reduction
    bounds = "".join(f", {constraint}" for constraint in given.constraints)
    return one_line(f"{how} {metric.name}, {metric.better} is better{bounds}")


def state(report: Report) -> str:
    """How far the study is, and how its trials ended."""
    done = len(report.rows) - sum(row.standing is Standing.PENDING for row in report.rows)
    goal = f" of {report.planned}" if report.planned and report.planned != done else ""
    ended = f"{done}{goal} trial{'' if done == 1 and not goal else 's'} ended"
    parts = f"{ended}: {counts_text(report.outcomes)}" if report.rows else "no trials yet"
    if report.whole.stages:
        return _of_stages(report.whole.stages)
    others = [r for r in report.rows if r.standing is Standing.INFEASIBLE]
    counted_so = Counter(row.status for row in others if row.status != "infeasible")
    if counted_so:
        parts += f"; {_and(counted_so)} count as infeasible"
    return parts


def _and(outcomes: Counter[str]) -> str:
    """`3 of the complete and 2 of the failed`."""
    return listed([f"{count} of the {kind}" for kind, count in sorted(outcomes.items())])


def _of_stages(stages: Sequence[Stage]) -> str:
    """`63 trials in 12 stages: 60 complete, 3 infeasible`."""
    outcomes = sum((Counter(stage.outcomes) for stage in stages), Counter[str]())
    counts = f"{counted(outcomes.total(), 'trial')} in {counted(len(stages), 'stage')}"
    return f"{counts}: {counts_text(outcomes)}"


def verdicts(report: Report) -> str:
    """How verdicts are meant; a probe asks few questions, and of its own experiment."""
    return UNKNOWN if report.is_of_probe else BUDGET + UNKNOWN


def tense(report: Report) -> str:
    """A sentence for a study that has not ended, or nothing."""
    if report.running:
        now = counted(report.running, "trial")
        return (
            f"The study is running ({now} now): this is how it stands, and more trials may change "
            "it."
        )
    if report.rows and not report.is_finished:
        return "The study has not ended: more trials may change what follows."
    return ""


def tally(report: Report) -> str:
    """`1 problem, 2 to watch, 3 unknown, 12 good`.

    A report without problems says so: their absence is the news.
    """
    names = {
        Verdict.PROBLEM: lambda n: counted(n, "problem") if n else "no problem",
        Verdict.WATCH: lambda n: f"{n} to watch",
        Verdict.UNKNOWN: lambda n: f"{n} unknown",
        Verdict.GOOD: lambda n: f"{n} good",
    }
    shown = {v: n for v, n in report.tally.items() if n or v is Verdict.PROBLEM}
    return ", ".join(names[verdict](count) for verdict, count in shown.items())


def searched(report: Report, row: Row) -> str:
    """What distinguishes a trial: its configuration without what is shared or follows from it."""
    derived = {p.name for p in report.study.space if isinstance(p.source, Derived)}
    left_out = {*report.fixed, *derived}
    return config_text({n: v for n, v in row.config.items() if n not in left_out})


def result(row: Row) -> str:
    """`0.1234 at step 1400`."""
    return f"{number(row.value)} at step {row.step}" if row.value is not None else "no result"


def question(finding: Finding) -> str:
    """A question's key as words.

    >>> from tunebook.core.findings import Question
    >>> question(Finding(Question("search-space", "Large enough?", ""), Verdict.GOOD, "Yes."))
    'search space'
    """
    return finding.question.key.replace("-", " ")


def answer(report: Report) -> str:
    """Which setting wins, where the study asks that and can tell; otherwise nothing."""
    known = {finding.question.key: finding for finding in report.with_verdict(Verdict.GOOD)}
    asked = len(report.arms) > 1 and "winner" in known
    return one_line(known["winner"].sentence) if asked else ""


def first_advice(report: Report) -> str:
    """What to do next: the advice of the worst finding that has one.

    Where nothing is wrong, the study's own question comes before what was not recorded.
    """
    unknown = sorted(
        report.unknown,
        key=lambda finding: finding.question.key not in LEARNT,
    )
    advised = (finding for finding in (*report.raised, *unknown) if finding.advice)
    return next((one_line(finding.advice) for finding in advised), "")


def trials(numbers: tuple[int, ...], most: int = 12) -> str:
    """`trials 3, 7 and 12 more`.

    >>> trials((3, 7)), trials((5,)), trials(tuple(range(1, 21)), most=3)
    ('trials 3 and 7', 'trial 5', 'trials 1, 2, 3 and 17 more')
    """
    return numbered(numbers, most)


def method(finding: Finding) -> str:
    """How a finding was decided, as a sentence.

    >>> from tunebook.core.findings import Question
    >>> method(Finding(Question("a", "A?", ""), Verdict.GOOD, "", method="by permutation"))
    'By permutation.'
    """
    text = one_line(finding.method).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def numbers(given: Mapping[str, float]) -> str:
    """`share = 0.2, trials = 5`."""
    return ", ".join(f"{one_line(name)} = {number(value)}" for name, value in given.items())


def compared(report: Report, comparison: Comparison) -> str:
    """Which of two studies has the better result; whether that is luck is not judged."""
    one, other = report, comparison.other
    if not one.best or not other.best:
        lacking = one if not one.best else other
        return f"{lacking.study.name} has no result yet under this objective."
    ours, theirs = one.best[0].value or 0.0, other.best[0].value or 0.0
    metric = one.objective.metric
    if ours == theirs:
        return one_line(f"Both reach {metric.name} {number(ours)}.")
    ahead, behind = (one, other) if metric.is_better(ours, theirs) else (other, one)
    return one_line(
        f"{ahead.study.name} has the better result: {metric.name} {_of_trials(ahead)}, against "
        f"{_of_trials(behind)} in {behind.study.name}. Whether the difference, "
        f"{number(abs(ours - theirs))}, is more than luck, two best results cannot tell."
    )


def compared_rows(report: Report, other: Report) -> list[tuple[str, str, str]]:
    """Two studies side by side: trials, best results, and the verdicts in which they differ."""
    rows = [("trials", counts_text(report.outcomes), counts_text(other.outcomes))]
    best = [result(each.best[0]) if each.best else "none yet" for each in (report, other)]
    rows.append(("best", best[0], best[1]))
    here, there = ({f.question.key: f for f in each.findings} for each in (report, other))
    for key in dict.fromkeys([*here, *there]):
        words = [verdict(found[key]) if key in found else "-" for found in (here, there)]
        if words[0] != words[1]:
            rows.append((key.replace("-", " "), words[0], words[1]))
    return rows


def verdict(finding: Finding) -> str:
    """`✗ problem`."""
    return f"{MARKS[finding.verdict]} {finding.verdict}"


def unknown(report: Report) -> list[tuple[str, str]]:
    """What is not known and what would make it known; questions with the same advice together."""
    groups: dict[str, list[Finding]] = {}
    for finding in report.unknown:
        groups.setdefault(finding.advice or finding.sentence, []).append(finding)
    return [
        (one_line(f"{', '.join(map(question, group))}: {group[0].sentence}"), group[0].advice)
        for group in groups.values()
    ]


def good(findings: Sequence[Finding]) -> list[str]:
    """The good ones in a few lines: answers in full, the others by name."""
    answers = [one_line(f.sentence) for f in findings if f.question.key in ANSWERS]
    told = (*ANSWERS, "winner")
    calm = [question(finding) for finding in findings if finding.question.key not in told]
    return [*answers, *([f"Nothing wrong found with: {', '.join(calm)}."] if calm else [])]


def measured(report: Report) -> int:
    """How many trials have a result."""
    return sum(row.value is not None for row in report.rows)


def _of_trials(report: Report) -> str:
    return f"{number(report.best[0].value)} (the best of {measured(report)} measured)"
