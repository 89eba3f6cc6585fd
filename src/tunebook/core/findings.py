"""What analysis says: a question of the playbook, its verdict, and the claims behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """The answer to a question, worst first. Unknown is never shown as good."""

    PROBLEM = "problem"
    WATCH = "watch"
    UNKNOWN = "unknown"
    GOOD = "good"

    @property
    def rank(self) -> int:
        """0 for the worst.

        >>> Verdict.PROBLEM.rank < Verdict.WATCH.rank < Verdict.UNKNOWN.rank < Verdict.GOOD.rank
        True
        """
        return tuple(Verdict).index(self)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the playbook. `key` names it in files, `anchor` is its place in the guide."""

    key: str
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that speaks against a healthy study.

    `level` is what it is if it stands. `p` is the chance that a healthy study shows at least as
    much; None marks a fact, which is seen and not inferred. Whether a claim stands is decided over
    the whole report, since every test may cry wolf. One whose level is unknown says that the data
    cannot tell, and is heard where nothing worse stands.
    """

    sentence: str
    level: Verdict
    p: float | None = None
    advice: str = ""
    subject: str = ""
    trials: tuple[int, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a question: a verdict, a sentence with its numbers, and what to do.

    `calm` is the sentence for a study in which no claim stands. `numbers` and `method` let a reader
    check the answer; `trials` are those it is about, by number.
    """

    question: Question
    verdict: Verdict
    sentence: str
    advice: str = ""
    calm: str = ""
    claims: tuple[Claim, ...] = ()
    trials: tuple[int, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    method: str = ""
