"""The report as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import example, given
from markdown_it import MarkdownIt

from reported import HOSTILE, by_hand, compared, hostile, probed, reports
from strategies import texts
from tunebook.charts.figures import Table
from tunebook.core.representation import one_line
from tunebook.report import markdown
from tunebook.report.making import Report

READER = MarkdownIt("commonmark", {"html": True}).enable("table")
# What only markup of others' could bring in: the report itself has no code, HTML or links.
FOREIGN = ("html_inline", "html_block", "link_open", "code_inline", "fence", "code_block", "hr")


def kinds(text: str) -> set[str]:
    tokens = READER.parse(text)
    return {t.type for token in tokens for t in (token, *(token.children or ()))}


def test_the_beginning() -> None:
    assert markdown.document(by_hand()).startswith(
        "# Report on model\n\n"
        "Which model is better?\n\n"
        "model=cnn wins with a probability of 0.98.\n\n"
        "- Judged by best valid/error, lower is better\n"
        "- 8 trials ended: 7 complete, 1 infeasible\n"
        "- Best: **0.16 at step 30**, trial 8: dropout=0.295, learning_rate=0.06494, model=cnn\n"
        "- Made on 2026-03-04 12:30 by tunebook 1.2.3\n\n"
        "## Findings\n\n"
        "**1 problem, 1 to watch, 1 unknown, 2 good**\n\n"
        "### ✗ problem: Is the search space large enough?\n\n"
        "4 of the best 5 trials lie in the top tenth of learning_rate.\n\n"
        "→ **Expand it: learning_rate: {log: \\[1e-4, 1.0\\]}.**\n\n"
        "- The best fifth against all trials, by permutation.\n"
        "- share = 0.8, beyond = nan\n"
        "- It is about trials 3 and 7.\n\n"
        "### ! watch: Are there loss spikes or outlier gradients?\n"
    )


def test_the_parts_in_order() -> None:
    headings = re.findall("^## (.+)$", markdown.document(compared()), flags=re.MULTILINE)
    assert headings == [
        "Findings",
        "Best trials",
        "Settings",
        "Compared with other",
        "Pictures",
        "Fixed values",
    ]


def test_pictures_are_tables_or_files() -> None:
    report = compared()
    tables, files = markdown.document(report), markdown.document(report, "pictures")
    assert "| trial | Best so far |\n| --- | --- |\n| 1 | It falls. |" in tables
    assert "![" not in tables
    drawn = markdown.drawings(report)
    assert re.findall(r"!\[.*\]\(<pictures/(.+)>\)", files) == [
        "compare.svg",
        "axes.svg",
        "best-so-far.svg",
    ]
    assert sorted(drawn) == ["axes.svg", "best-so-far.svg", "compare.svg"]
    assert all(drawing.startswith("<svg ") for drawing in drawn.values())


def test_long_tables_are_cut_and_say_so() -> None:
    rows = [(str(n),) for n in range(30)]
    text = markdown.table(("n",), rows)
    assert text.endswith("| 19 |\n\nThe first 20 of 30 rows.")
    assert markdown.table(("n",), rows[:20]).endswith("| 19 |")


def test_file_names_stay_in_their_folder() -> None:
    for key in ("../../etc", "a/b", "", ".", "né e"):
        name = markdown.file_name(replace(by_hand().figures[0], key=key))
        assert re.fullmatch(r"[\w][\w.\-]*\.svg", name)


@given(texts)
@example("# heading")
@example("1. item")
@example("1.2.3")
@example("0.5 is low")
@example("12)")
@example("+1")
@example("- item")
@example("=====")
@example("[a]: /url")
@example("_a_ *b* ~~c~~")
@example("__0__")
@example("\\")
def test_any_text_is_shown_as_it_is(text: str) -> None:
    tokens = READER.parse(markdown.plain(text))
    shown = "".join(t.content for token in tokens for t in token.children or ())
    assert shown == one_line(text).strip()
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    row = markdown.table(("name", "x"), [(text, "1")])
    (body,) = [t for t in READER.parse(row) if t.type == "tbody_open"]
    assert body.level == 1
    assert sum(t.type == "td_open" for t in READER.parse(row)) == 2


def test_hostile_names_are_shown_as_text() -> None:
    document = markdown.document(hostile())
    assert not kinds(document) & set(FOREIGN)
    assert "<" not in document
    assert "https:" not in document
    for name in HOSTILE:
        assert name not in document


@given(reports())
def test_any_report_has_no_markup_of_others(report: Report) -> None:
    document = markdown.document(report)
    assert not kinds(document) & set(FOREIGN)
    assert document.count("\n# ") == 0


def test_no_table_without_rows() -> None:
    picture = replace(by_hand().figures[1], table=Table((), ()))
    report = replace(by_hand(), figures=(picture,))
    assert "### Best so far\n\nIt falls. It falls.\n\n## Fixed values" in markdown.document(report)


def test_answers_of_a_probe_have_paragraphs() -> None:
    text = markdown.document(probed())
    assert "The standard deviation is 0.01." in text
    assert "## Best trials" not in text
    assert "## Proposed changes of the study\n\n- @@ -2" in text.replace("\\", "")
    assert "To be tuned again after that: learning_rate." in text
    assert "| model.variance.same | Are equal runs equal? | 12 complete |" in text
    assert "at most 5% of reports" not in text
    assert "at most 5% of reports" in markdown.document(by_hand())
