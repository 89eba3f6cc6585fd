"""Another objective for a study that has run: its trials keep their whole curves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from tunebook.core.errors import StudyError, UnknownName, did_you_mean
from tunebook.core.objective import Better, Metric, Objective
from tunebook.core.results import Results

FORM = "last, best, mean:5 or a metric such as valid/loss:lower"
_LOWER = re.compile(r"loss|error|nll|perplexity|\b(?:mse|mae|rmse|wer|cer|ppl|fid)\b")
_HIGHER = re.compile(
    r"accuracy|score|recall|precision|reward|"
    r"\b(?:acc|f1|auc|auroc|bleu|rouge|iou|map|r2|psnr|return)\b"
)


def parse(text: str, results: Results) -> Objective:
    """The objective that a text asks for: `last`, `mean:5`, `valid/loss:lower`, `acc:higher:last`.

    Read from the right: how a curve becomes a number, which way is better, and a metric. What is
    not said is as in the study.
    """
    own = results.study.objective
    words = text.strip().split(":")
    objective = own
    if words[-1] in ("best", "last"):
        reduction = words.pop()
        objective = replace(own, reduction=reduction, over=1)  # type: ignore[arg-type]
    elif "mean" in words[-2:]:
        objective = replace(own, reduction="mean", over=_points(words, text))
        del words[-2:]
    better = _direction(words.pop()) if words and words[-1] in ("lower", "higher") else None
    name = ":".join(words)
    if name:
        objective = replace(objective, metric=_metric(name, better, results))
    elif better or not text.strip():
        raise StudyError(f"the objective {text!r} names nothing to measure; write {FORM}")
    _require_points(objective, results)
    return objective


def require(objective: Objective, results: Results) -> None:
    """Refuse to judge a study by a metric that none of its trials has logged."""
    known, name = logged(results), objective.metric.name
    if known and name not in known:
        raise UnknownName(
            f"{results.study.name} has not logged {name}, by which both would be judged; choose "
            f"with --objective what both have logged. It has logged: {', '.join(known)}"
        )


def logged(results: Results) -> tuple[str, ...]:
    """The metrics of which some trial has logged a point, by name."""
    return tuple(sorted({n for record in results for n, c in record.curves.items() if len(c)}))


def likely(name: str) -> Better | None:
    """Which way a metric of this name is better, where the name says so.

    >>> likely("valid/error"), likely("test_accuracy"), likely("margin")
    ('lower', 'higher', None)
    """
    plain = re.sub(r"[\W_]+", " ", name.lower())
    lower, higher = _LOWER.search(plain), _HIGHER.search(plain)
    if bool(lower) == bool(higher):
        return None
    return "lower" if lower else "higher"


def _points(words: list[str], text: str) -> int:
    if words[-1].isdecimal():
        return int(words[-1])
    raise StudyError(f"the objective {text!r} needs a number of points, such as mean:5")


def _require_points(objective: Objective, results: Results) -> None:
    """Refuse a mean over more points than any trial has: it would be one over fewer."""
    name = objective.metric.name
    longest = max((len(r.curves[name]) for r in results if name in r.curves), default=0)
    if objective.reduction == "mean" and 0 < longest < objective.over:
        raise StudyError(
            f"no trial has {objective.over:,} points of {name} to take the mean of: the longest "
            f"has {longest:,}; write mean:{longest} or less"
        )


def _direction(word: str) -> Better:
    return "lower" if word == "lower" else "higher"


def _metric(name: str, better: Better | None, results: Results) -> Metric:
    own = results.study.objective.metric
    known = logged(results)
    if name not in known:
        raise UnknownName(_unknown(name, known, results.study.name))
    known_way = own.better if name == own.name else likely(name)
    chosen = better or known_way
    if chosen is None:
        raise StudyError(f"which way is {name} better? Write {name}:lower or {name}:higher")
    return Metric(name, chosen)


def _unknown(name: str, known: Iterable[str], study: str) -> str:
    known = list(known)
    metric, _, word = name.rpartition(":")
    if metric in known:
        words = ("lower", "higher", "best", "last", "mean:5")
        near = did_you_mean(word, words) or "."
        return f"{word!r} says nothing of {metric}{near} Write {FORM}"
    if not known:
        return f"{study} has logged nothing yet, so there is no {name!r}"
    near = did_you_mean(name, known) or "."
    return f"no trial of {study} has logged {name!r}{near} It has logged: {', '.join(known)}"
