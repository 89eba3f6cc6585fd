"""The report as Markdown, for pull requests, wikis and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tunebook.charts.figures import Figure
from tunebook.charts.svg import svg
from tunebook.core.findings import Finding, Verdict
from tunebook.core.representation import (
    config_text,
    counts_text,
    number,
    one_line,
    value_text,
)
from tunebook.report import wording
from tunebook.report.making import Comparison, Report, Stage, Whole

MOST_ROWS: Final = 20
# What Markdown or HTML would take for something else. An underscore within a word is harmless.
_SPECIAL: Final = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|(?<=www)\.|:(?=//)|@")
# What begins a heading, a list or a line under a heading.
_LEADING: Final = re.compile(r"^(\d*)(?=[#+\-=]|(?<=\d)[.)](?:\s|$))")
_FILE_NAME: Final = re.compile(r"[^\w.\-]+")


def document(report: Report, pictures: str | None = None) -> str:
    """The whole report; `pictures` is where it finds the drawings, or None for their tables."""
    parts = [*_head(report), *_findings(report)]
    if report.best and not report.is_of_probe:
        parts += ["## Best trials", _best(report)]
    if report.whole.changes:
        parts += ["## Proposed changes of the study", *_proposed(report.whole)]
    if report.is_of_probe:
        parts += ["## Stages", _stages(report.whole.stages)] if report.whole.stages else []
    elif len(report.arms) > 1:
        parts += ["## Settings", _arms(report)]
    if report.comparison:
        parts += list(_comparison(report, report.comparison, pictures))
    if report.figures:
        parts.append("## Pictures")
        parts += [part for figure in report.figures for part in _figure(figure, pictures)]
    if report.fixed and not report.is_of_probe:
        fixed = [(name, value_text(value)) for name, value in report.fixed.items()]
        parts += ["## Fixed values", "The conclusions hold under these values."]
        parts.append(table(("parameter", "value"), fixed))
    parts.append(wording.verdicts(report))
    return "\n\n".join(parts) + "\n"


def drawings(report: Report) -> dict[str, str]:
    """The pictures that a document with `pictures` refers to, by file name."""
    compared = report.comparison.figures if report.comparison else ()
    return {file_name(figure): svg(figure) for figure in (*report.figures, *compared)}


def file_name(figure: Figure) -> str:
    """A name that is safe in any folder and link.

    >>> from tunebook.charts.figures import Table
    >>> file_name(Figure("axis/learning rate", "", "", (), Table((), ())))
    'axis-learning-rate.svg'
    """
    return f"{_FILE_NAME.sub('-', figure.key).strip('-.') or 'picture'}.svg"


def plain(text: str) -> str:
    r"""A text of one line in which nothing is markup, a link or HTML.

    >>> plain("a|b <img> [x](y) *z* learning_rate")
    'a\\|b &lt;img&gt; \\[x\\](y) \\*z\\* learning_rate'
    """
    safe = one_line(text).replace("&", "&amp;")
    safe = _SPECIAL.sub(lambda found: f"\\{found[0]}", safe)
    return _LEADING.sub(r"\1\\", safe.replace("<", "&lt;").replace(">", "&gt;"))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, its first rows where it is long."""
    lines = [_row(head), _row(["---"] * len(head), clean=False)]
    lines += [_row(row) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines += ["", f"The first {MOST_ROWS} of {len(rows)} rows."]
    return "\n".join(lines)


def _row(cells: Sequence[str], *, clean: bool = True) -> str:
    return f"| {' | '.join(plain(cell) if clean else cell for cell in cells)} |"


def _head(report: Report) -> Iterator[str]:
    yield f"# Report on {plain(report.name)}"
    if report.study.goal:
        yield plain(report.study.goal)
    if wording.answer(report):
        yield plain(wording.answer(report))
    facts = [
        f"- Judged by {plain(wording.objective(report.objective))}",
        f"- {plain(wording.state(report))}",
    ]
    if report.best and not report.is_of_probe:
        row = report.best[0]
        params = plain(wording.searched(report, row))
        facts.append(f"- Best: **{wording.result(row)}**, trial {row.number}: {params}")
    if report.made:
        version = f" by tunebook {plain(report.version)}" if report.version else ""
        facts.append(f"- Made on {report.made:%Y-%m-%d %H:%M}{version}")
    yield "\n".join(facts)
    if wording.tense(report):
        yield f"*{wording.tense(report)}*"


def _findings(report: Report) -> Iterator[str]:
    yield "## Findings"
    if not report.findings:
        yield wording.NO_FINDINGS
        return
    yield f"**{wording.tally(report)}**"
    for finding in (*report.raised, *report.unknown):
        yield from _finding(finding)
    if report.calm:
        rows = [(finding.question.text, finding.sentence) for finding in report.calm]
        yield f"### {wording.MARKS[Verdict.GOOD]} good"
        yield table(("question", "answer"), rows)


def _finding(finding: Finding) -> Iterator[str]:
    yield f"### {wording.verdict(finding)}: {plain(finding.question.text)}"
    yield plain(finding.sentence)
    if finding.advice:
        yield f"→ **{plain(finding.advice)}**"
    facts = []
    if finding.method:
        facts.append(plain(wording.method(finding)))
    if finding.numbers:
        facts.append(plain(wording.numbers(finding.numbers)))
    if finding.trials:
        facts.append(f"It is about {wording.trials(finding.trials)}.")
    if facts:
        yield "\n".join(f"- {fact}" for fact in facts)


def _best(report: Report) -> str:
    return table(
        ("trial", "value", "step", "parameters"),
        [
            (str(r.number), number(r.value), str(r.step), wording.searched(report, r))
            for r in report.best
        ],
    )


def _arms(report: Report) -> str:
    return table(
        ("setting", "trials", "best", "trial"),
        [
            (
                config_text(arm.setting.config),
                counts_text(arm.outcomes),
                number(arm.best.value if arm.best else None),
                str(arm.best.number) if arm.best else "-",
            )
            for arm in report.arms
        ],
    )


def _proposed(whole: Whole) -> Iterator[str]:
    yield "\n".join(f"- {plain(line)}" for line in whole.changes)
    if whole.retune:
        yield f"To be tuned again after that: {plain(', '.join(whole.retune))}."


def _stages(stages: Sequence[Stage]) -> str:
    rows = [(stage.name, stage.goal, counts_text(stage.outcomes)) for stage in stages]
    return table(("stage", "asks", "trials"), rows)


def _comparison(report: Report, comparison: Comparison, pictures: str | None) -> Iterator[str]:
    other = comparison.other
    yield f"## Compared with {plain(other.study.name)}"
    yield plain(wording.compared(report, comparison))
    yield table(("", report.study.name, other.study.name), wording.compared_rows(report, other))
    if comparison.differences:
        yield "\n".join(f"- {plain(line)}" for line in comparison.differences)
    for figure in comparison.figures:
        yield from _figure(figure, pictures)


def _figure(figure: Figure, pictures: str | None) -> Iterator[str]:
    yield f"### {plain(figure.title)}"
    if pictures is not None:
        yield f"![{plain(figure.title)}](<{pictures}/{file_name(figure)}>)"
    yield plain(f"{figure.sentence} {figure.note}".rstrip())
    if pictures is None and figure.table.rows:
        yield table(figure.table.columns, figure.table.rows)
