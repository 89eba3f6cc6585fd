"""Reports on real studies for the documents: findings and pictures, with a word on each.

Only logs under a permissive licence are shown; the data themselves stay where they are.

    .venv/bin/python calibration/real_reports.py
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import real
from tunebook.core.results import Results
from tunebook.report import markdown
from tunebook.report.making import Report, make

PAGES = Path(__file__).parents[1] / "docs" / "real"
# What a reader needs to judge the findings; a whole report has more.
PICTURES = ("isolation", "axes", "curves", "best-of-k", "best-step", "gradient-norm")

INDEX = """# Reports on real studies

What `tunebook report` says of tuning logs that others have published: findings and pictures only,
made by `make docs-data`.
"""


@dataclass(frozen=True)
class Shown:
    """A study, where it comes from, and what its data show, in our words."""

    name: str
    title: str
    source: str
    load: Callable[[Path], Results]
    remark: str


def named(studies: Iterator[Results], part: str) -> Results:
    """The first study whose name has this part."""
    return next(one for one in studies if part in one.study.name)


DEEPOBS = "DeepOBS benchmark logs (Schneider, Balles and Hennig, 2019), MIT licence"
ALGOPERF = "AlgoPerf submission logs (MLCommons, 2024 and 2025), Apache 2.0"
STUDIES = (
    Shown(
        "stability-edge",
        "A learning rate at the edge of stability",
        DEEPOBS,
        lambda data: named(real.deepobs(data), "cifar100_allcnnc-gradientdescent"),
        "Thirty-six learning rates of plain gradient descent for an all-convolutional network on "
        "CIFAR-100, and nine more seeds near the best. Accuracy rises with the rate until, within "
        "one step of the grid, training diverges: the best rate is the last stable one. The "
        "playbook reads this as an optimisation problem, not as a tuned rate; warmup or clipping "
        "may allow a higher one.",
    ),
    Shown(
        "healthy-sweep",
        "A sweep with its best inside",
        DEEPOBS,
        lambda data: named(real.deepobs(data), "fmnist_2c2d-momentum"),
        "The same sweep with momentum for a small network on Fashion-MNIST. The best rates lie "
        "well below those that fail, which stay at chance without a single NaN: they are "
        "infeasible by their values alone.",
    ),
    Shown(
        "divergence",
        "Five configurations, five times each",
        ALGOPERF,
        lambda data: named(real.algoperf(data), "generalized_adam-criteo1tb"),
        "One submission's five configurations on Criteo 1TB, each run in five studies. One of them "
        "diverges every time; after that its cells in the log are blank. The repeats show how far "
        "equal trials lie apart, without which small differences mean nothing.",
    ),
    Shown(
        "wide-space",
        "A space in which little works",
        "TaskSet (Metz and others, 2020), Apache 2.0",
        lambda data: named(real.taskset(data), "IRNN64"),
        "A thousand settings of Adam's eight hyperparameters for a recurrent network on IMDB, "
        "drawn from ranges of many orders of magnitude. Most trials learn nothing: the first "
        "thing to learn from such a study is where not to search.",
    ),
    Shown(
        "depth",
        "A question with a known answer",
        "HPOBench tables (Eggensperger and others, 2021), Apache 2.0",
        real.segment,
        "Forty-eight configurations for each of three depths, drawn from a table in which every "
        "configuration was trained with five seeds. By that table the best mean errors of depths "
        "1, 2 and 3 are 3.6%, 3.1% and 3.1%: the last two are equal. The report, which sees one "
        "seed of a few configurations, names no winner.",
    ),
)


def page(shown: Shown, report: Report) -> str:
    """Findings and pictures of a report, with their source."""
    head = f"# {shown.title}\n\n{shown.remark}\n\n*Data: {shown.source}. Made by `make docs-data`.*"
    _, _, body = markdown.document(report, pictures=shown.name).partition("\n\n")
    return f"{head}\n\n{body}"


def write(data: Path, folder: Path) -> None:
    """All pages and their pictures, in place of what was there."""
    folder.mkdir(parents=True, exist_ok=True)
    for shown in STUDIES:
        report = reduced(make(shown.load(data)))
        place = folder / shown.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file, drawing in markdown.drawings(report).items():
            (place / file).write_text(drawing)
        (folder / f"{shown.name}.md").write_text(page(shown, report))
        print(f"docs/real/{shown.name}.md: {report!r}")
    lines = [f"- [{shown.title}]({shown.name}.md). Data: {shown.source}." for shown in STUDIES]
    (folder / "README.md").write_text("\n".join([INDEX, *lines]) + "\n")


def reduced(report: Report) -> Report:
    """Without single trials: the data are not ours to publish."""
    return replace(
        report,
        best=(),
        figures=tuple(figure for figure in report.figures if figure.key in PICTURES),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=real.DATA)
    write(parser.parse_args().data, PAGES)


if __name__ == "__main__":
    main()
