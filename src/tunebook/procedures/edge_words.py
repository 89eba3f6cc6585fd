"""What a sweep of learning rates says of stability, in words."""

from __future__ import annotations

from typing import Final

from tunebook.core.findings import Finding, Question, Verdict
from tunebook.diagnosis.phrases import shown
from tunebook.procedures import remedy_pictures as pictures
from tunebook.procedures.answers import Answer
from tunebook.procedures.edge import Edge

QUESTION: Final = Question(
    "probe-edge", "From which learning rate on is training unstable?", "optimization-failures"
)


def edge_finding(edge: Edge) -> Finding:
    """The best rate, and the smallest at which training is unstable."""
    rates = edge.sweep.values
    best, unstable = edge.best, edge.unstable
    numbers = {"best": best or float("nan")} | ({"unstable": unstable} if unstable else {})
    if best is None:
        sentence = f"No learning rate from {shown(rates[0])} to {shown(rates[-1])} works."
        return Finding(QUESTION, Verdict.PROBLEM, sentence, "Look for a bug in the program first.")
    if unstable is None:
        sentence = f"Training is stable up to {shown(rates[-1])}; {shown(best)} is best."
        return Finding(QUESTION, Verdict.GOOD, sentence, numbers=numbers)
    sentence = (
        f"{shown(best)} is the best learning rate of the sweep, and training is unstable from "
        f"{shown(unstable)} on: {edge.trouble_at(unstable)}."
    )
    return Finding(QUESTION, Verdict.GOOD, sentence, numbers=numbers)


def not_to_be_cured(question: Question, edge: Edge, remedy: str) -> Answer:
    """The answer where a remedy has nothing to cure, or nothing can be told."""
    if edge.best is None:
        finding = Finding(
            question,
            Verdict.UNKNOWN,
            f"No learning rate worked, so there is nothing to compare a {remedy} with.",
            "Look for a bug in the program first.",
        )
    elif edge.sweep.boundary is not None:
        side = "lowest" if edge.sweep.boundary == "low" else "highest"
        finding = Finding(
            question,
            Verdict.UNKNOWN,
            f"The best learning rate, {shown(edge.best)}, is the {side} that was tried.",
            f"Begin nearer to it: --set NAME={shown(edge.best)} --again.",
        )
    else:
        finding = Finding(
            question,
            Verdict.GOOD,
            f"Training is stable at {shown(edge.sweep.values[-1])}, far above the best learning "
            f"rate, {shown(edge.best)}: there is nothing for a {remedy} to cure.",
        )
    return Answer((finding, edge_finding(edge)), pictures.rates(edge))
