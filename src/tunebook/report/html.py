"""The report as one HTML file: no script, no request, readable in light and dark and on a phone."""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from tunebook.charts.appearance import stylesheet
from tunebook.charts.figures import Figure
from tunebook.charts.svg import svg
from tunebook.core.findings import Verdict
from tunebook.core.representation import (
    config_text,
    counts_text,
    number,
    one_line,
    value_text,
)
from tunebook.core.space import Config
from tunebook.report import pairing, wording
from tunebook.report.making import Report, Row

MOST_ROWS: Final = 200
MOST_COLUMNS: Final = 10
# Wide enough to be read on a desk, narrow enough that a phone need not shrink it much.
FIGURE_WIDTH: Final = 380
# Between words, never within numbers.
_SEPARATORS: Final = re.compile(r"(?<=[A-Za-z][/_.\-,:])(?=[A-Za-z])")


def page(report: Report) -> str:
    """A whole document."""
    beside = pairing.beside(report)
    shown = {figure.key for figure in beside.values()}
    return (
        _templates()
        .get_template("page.html")
        .render(
            report=report,
            beside=beside,
            elsewhere=functools.partial(pairing.elsewhere, report=report),
            pictures=[figure for figure in report.figures if figure.key not in shown],
            trials=_trials(report),
            columns=_columns(report),
            fixed=_fixed(report),
        )
    )


def framed(report: Report) -> str:
    """The document in a frame, for notebooks: neither one's styles reach the other's."""
    return (
        f'<iframe title="Report on {escape(one_line(report.name))}" sandbox="" '
        'style="width:100%;height:42rem;border:1px solid #8888;border-radius:6px;resize:vertical" '
        f'srcdoc="{escape(page(report))}"></iframe>'
    )


@functools.cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("tunebook.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=lambda value: one_line(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": _shown,
        "config": lambda config: _shown(config_text(config)),
        "counts": counts_text,
        "number": number,
        "value": lambda value: _shown(value_text(value)),
        "drawn": _drawn,
        "verbatim": _verbatim,
    }
    environment.globals |= {"wording": wording, "Verdict": Verdict, "style": Markup(_style())}
    return environment


def _style() -> str:
    own = resources.files("tunebook.report").joinpath("templates/style.css").read_text("utf-8")
    return stylesheet() + own


def _shown(text: str) -> Markup:
    """A text of others on one line: isolated, harmless, and with places where it may break."""
    pieces = (escape(piece) for piece in _SEPARATORS.split(one_line(text)))
    return Markup("<bdi>{}</bdi>").format(Markup("<wbr>").join(pieces))


def _verbatim(line: str) -> Markup:
    """A line of a file: harmless, with its indent."""
    return Markup("<bdi>{}</bdi>").format("".join(c if c.isprintable() else "?" for c in line))


def _fixed(report: Report) -> Config:
    """The values under which what is said holds."""
    return dict(report.study.asked.start) if report.study.asked is not None else report.fixed


def _drawn(figure: Figure) -> Markup:
    return Markup(svg(figure, width=FIGURE_WIDTH))  # the drawing escapes every text in it


def _trials(report: Report) -> tuple[Row, ...]:
    """All trials in order, or the best of them where they are too many."""
    if len(report.rows) <= MOST_ROWS:
        return report.rows
    loss = report.objective.metric.loss
    worst = float("inf")
    ranked = sorted(report.rows, key=lambda r: worst if r.value is None else loss(r.value))
    return tuple(ranked[:MOST_ROWS])


def _columns(report: Report) -> tuple[str, ...]:
    """The parameters that differ between trials; none where they are too many for columns."""
    space, fixed = report.study.space, report.fixed
    named = [p.name for p in space if p.makes_settings or p.is_sampled]
    others = [name for row in report.rows for name in row.config if name not in fixed]
    found = tuple(dict.fromkeys(name for name in (named or others) if name not in fixed))
    return found if len(found) <= MOST_COLUMNS else ()
