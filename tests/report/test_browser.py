"""The page in a real browser: silent, without requests, readable, usable by keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commandline import wait_until
from reported import FINDINGS, MADE, compared, hostile, records, study
from tunebook.charts.gallery import figures
from tunebook.diagnosis.gathering import gather
from tunebook.report import html
from tunebook.report.making import Report, assemble

CHROMIUM = shutil.which("chromium")
# The report on real pictures, one with another study beside it, and one that means harm.
REPORTS = ("real", "compared", "hostile")
WIDTHS = {"desk": 1280, "phone": 360}


@dataclass
class Opened:
    """A page with what the browser had to say about it."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", exc_type=ImportError)
    if CHROMIUM is None:
        pytest.skip("Debian's chromium is not installed")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    evidence = gather(records(study(), 24))
    made: dict[str, Report] = {
        "real": assemble(evidence, FINDINGS, figures(evidence), made=MADE, version="1"),
        "compared": compared(),
        "hostile": hostile(),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, report in made.items():
        (folder / f"{name}.html").write_text(html.page(report), encoding="utf-8")
    (folder / "framed.html").write_text(
        f"<!DOCTYPE html><title>Notebook</title>{html.framed(made['hostile'])}", encoding="utf-8"
    )
    return {name: folder / f"{name}.html" for name in (*made, "framed")}


def opened(browser: Any, file: Path, width: int = 1280, scheme: str = "light") -> Opened:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found = Opened(context.new_page())
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.on("console", lambda message: found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("dialog", lambda dialog: found.complaints.append(dialog.message))
    found.page.goto(file.as_uri())
    return found


@pytest.mark.parametrize("name", [*REPORTS, "framed"])
def test_it_is_silent_and_asks_for_nothing(browser: Any, files: dict[str, Path], name: str) -> None:
    found = opened(browser, files[name])
    for summary in found.page.locator("summary").all():
        summary.click()
    assert found.complaints == []
    assert [url for url in found.requests if not url.startswith(("data:", "about:"))] == [
        files[name].as_uri()
    ]


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        *(("real", scheme, width) for scheme in ("light", "dark") for width in WIDTHS),
        ("compared", "light", "desk"),
        ("hostile", "dark", "phone"),
    ],
)
def test_axe_finds_nothing(
    browser: Any, files: dict[str, Path], name: str, scheme: str, width: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", exc_type=ImportError)
    found = opened(browser, files[name], WIDTHS[width], scheme)
    # Not by clicks: they would leave the focus, and its outline, on the last of them.
    found.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
    checked = axe.Axe().run(found.page, options={"resultTypes": ["violations", "incomplete"]})
    assert checked.response["violations"] == []
    assert checked.response["passes"]


def test_axe_can_find_something(browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", exc_type=ImportError)
    (tmp_path / "bad.html").write_text("<p style='color:#999;background:#aaa'>Hardly seen</p>")
    checked = axe.Axe().run(opened(browser, tmp_path / "bad.html").page)
    assert "color-contrast" in {violation["id"] for violation in checked.response["violations"]}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("is_open", [False, True])
def test_a_phone_need_not_scroll_sideways(
    browser: Any, files: dict[str, Path], name: str, is_open: bool
) -> None:
    page = opened(browser, files[name], 360).page
    page.eval_on_selector_all(
        "details", f"all => all.forEach(one => {{ one.open = {str(is_open).lower()} }})"
    )
    wide = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scrolling, .hidden')"
        " && !e.closest('svg svg, svg *') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.outerHTML.slice(0, 100))"
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_light_and_dark_are_different_and_both_are_readable(
    browser: Any, files: dict[str, Path]
) -> None:
    def colours(scheme: str) -> tuple[str, str]:
        page = opened(browser, files["real"], scheme=scheme).page
        style = "getComputedStyle(document.body)"
        return page.evaluate(f"{style}.backgroundColor"), page.evaluate(f"{style}.color")

    light, dark = colours("light"), colours("dark")
    assert (light, dark) == (
        ("rgb(251, 251, 249)", "rgb(31, 35, 40)"),
        ("rgb(20, 23, 27)", "rgb(227, 230, 234)"),
    )


def test_the_keyboard_reaches_everything(browser: Any, files: dict[str, Path]) -> None:
    page = opened(browser, files["compared"]).page
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.className")
    assert first == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "findings"
    reached = []
    for _ in range(200):
        page.keyboard.press("Tab")
        element = page.evaluate(
            "(e => [e.tagName, getComputedStyle(e).outlineStyle])(document.activeElement)"
        )
        if element[0] == "BODY":
            break
        reached.append(element)
    summaries = page.locator("main summary").count()
    assert [tag for tag, _ in reached].count("SUMMARY") == summaries > 0
    assert {outline for _, outline in reached} == {"solid"}


def test_a_summary_opens_by_the_keyboard(browser: Any, files: dict[str, Path]) -> None:
    page = opened(browser, files["compared"]).page
    summary = page.locator("#finding-search-space .said summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#finding-search-space .said details").get_attribute("open") is not None
    assert page.get_by_text("The best fifth against all trials, by permutation.").is_visible()


def test_links_lead_to_findings(browser: Any, files: dict[str, Path]) -> None:
    page = opened(browser, files["compared"]).page
    page.locator(".tally a.watch").click()
    assert page.url.endswith("#watch")
    expect = "document.querySelector('#watch').getBoundingClientRect().top"
    wait_until(lambda: page.evaluate(expect) < 300, seconds=10)


def test_hostile_names_are_shown_as_text(browser: Any, files: dict[str, Path]) -> None:
    page = opened(browser, files["hostile"]).page
    text = page.locator("body").inner_text()
    assert "<img src=x onerror=alert(1)>" in text
    assert "</script><script>alert(1)</script>" in text
    assert "\\u202eright to left" in text
    assert page.locator("img, script").count() == 0
