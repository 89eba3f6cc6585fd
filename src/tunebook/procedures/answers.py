"""What a procedure is, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

from tunebook.charts.figures import Figure
from tunebook.core.edits import Edit
from tunebook.core.findings import Finding
from tunebook.core.results import Results
from tunebook.core.study import Study


@dataclass(frozen=True, slots=True)
class Answer:
    """What a procedure found, its pictures, and the changes of the study that it proposes.

    `retune` names the parameters that must be tuned again once the changes are made.
    """

    findings: tuple[Finding, ...]
    figures: tuple[Figure, ...] = ()
    edits: tuple[Edit, ...] = ()
    retune: tuple[str, ...] = ()


# Yields studies, is sent the results of each, returns an answer. The same results give the same
# studies: nothing else may decide what comes next.
Procedure: TypeAlias = Generator[Study, Results, Answer]


def follow(procedure: Procedure, run: Callable[[Study], Results]) -> Answer:
    """The answer of a procedure, each of whose studies `run` runs or has at hand.

    A study that two parts of a procedure ask for is run once.
    """
    known: dict[str, tuple[Study, Results]] = {}
    try:
        study = next(procedure)
        while True:
            if study.name not in known:
                known[study.name] = study, run(study)
            asked, results = known[study.name]
            if asked != study:
                raise ValueError(f"two studies of one procedure are called {study.name}")
            study = procedure.send(results)
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
