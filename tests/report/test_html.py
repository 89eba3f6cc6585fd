"""The report as one HTML file; `test_browser` opens it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings

from reported import GOOD, by_hand, compared, hostile, probed, records, reports, study
from tunebook.core.results import Results
from tunebook.diagnosis.gathering import gather
from tunebook.report import html
from tunebook.report.making import Report, assemble

TURNING = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\x1b\0")
VOID = {"meta", "link", "wbr", "br"}


class Reader(HTMLParser):
    """The elements of a document: whether they nest, their ids, headings, links and texts."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.attributes |= set(found)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(document: str) -> Reader:
    """What must hold for every page."""
    read = Reader(document)
    assert read.open == []
    assert [name for name, count in Counter(read.ids).items() if count > 1] == []
    assert [link for link in read.links if link[0] != "#" or link[1:] not in read.ids] == []
    rises = zip(read.headings, read.headings[1:], strict=False)
    assert read.headings[0] == 1
    assert [(a, b) for a, b in rises if b > a + 1] == []
    assert not read.tags & {"script", "img", "iframe", "object", "form", "base"}
    assert not {name for name in read.attributes if name.startswith("on")}
    return read


def test_a_page_holds_together() -> None:
    read = check(html.page(compared()))
    assert read.tags >= {"header", "nav", "main", "footer", "figure", "details", "svg", "table"}
    assert {"finding-search-space", "figure-axis-learning_rate", "figure-compare"} <= set(read.ids)


@given(reports())
@settings(max_examples=25)
def test_any_page_holds_together(report: Report) -> None:
    document = html.page(report)
    check(document)
    assert not TURNING & set(document)
    ours = re.sub("<svg .*?</svg>", "", document, flags=re.DOTALL)
    assert all(c.isprintable() or c == "\n" for c in ours)


def test_hostile_names_are_text_and_isolated() -> None:
    document = html.page(hostile())
    check(document)
    assert "<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>" in document.replace("<wbr>", "")
    assert "\\u202eright to left" in document
    assert "\u202e" not in document
    assert "{{ 7 * 7 }}" in document


def test_nothing_is_fetched_and_nothing_is_run() -> None:
    document = html.page(compared())
    assert "default-src &#39;none&#39;" in document or "default-src 'none'" in document
    addresses = re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?([^\"'>)\s]*)", document)
    assert {address[:1] for address in addresses} <= {"#", "d"}
    assert {address for address in addresses if address[:1] == "d"} == {"data:,"}


def test_worst_first_with_the_picture_beside_and_the_method_behind() -> None:
    document = html.page(by_hand())
    marks = [document.index(f'id="{name}"') for name in ("problem", "watch", "unknown", "good")]
    assert marks == sorted(marks)
    card = document[document.index('id="finding-search-space"') : document.index('id="watch"')]
    assert 'id="figure-axis-learning_rate"' in card
    assert "by permutation" in card
    assert "trials 3 and 7" in card
    assert '<td class="n">0.003</td>' in card
    assert '<td class="n">seen</td>' in card


def test_many_trials_are_cut_and_that_is_said() -> None:
    report = assemble(gather(records(study(), 230)), (GOOD,))
    document = html.page(report)
    assert "The 200 best of 230 trials" in document
    section = document[document.index('id="trials"') :]
    assert section.count('<th scope="row"') == 200
    assert '<th scope="row" class="n">230</th>' in section
    assert "8 trials, in order" in html.page(by_hand())


def test_many_parameters_share_a_column() -> None:
    report = by_hand()
    wide = {f"p{n}": n for n in range(12)}
    rows = tuple(replace(row, config={**row.config, **wide}) for row in report.rows)
    assert '<th scope="col">parameters</th>' not in html.page(report)
    empty = replace(report.study, space=type(report.study.space)())
    shown = html.page(replace(report, rows=rows, study=empty, figures=()))
    assert '<th scope="col">parameters</th>' in shown


def test_an_empty_study_has_a_page() -> None:
    document = html.page(assemble(gather(Results(study())), ()))
    check(document)
    assert "No question could be asked" in document


def test_a_frame_for_notebooks_isolates_it() -> None:
    frame = html.framed(hostile())
    read = Reader(frame)
    assert read.tags == {"iframe"}
    assert read.attributes == {"title", "sandbox", "style", "srcdoc"}
    assert 'sandbox=""' in frame


def test_a_report_on_a_probe_tells_its_answers_and_ranks_no_trials() -> None:
    document = html.page(probed("probe-variance"))
    check(document)
    assert "A report on a probe" in document
    assert 'id="figure-probe-variance"' in document
    assert "The standard deviation is 0.01." in document
    assert 'id="best"' not in document
    assert "quiet" not in document.partition("</style>")[2]
    assert "at most 5% of reports" not in document
