"""What the sweep and the short trainings say of stability, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tunebook.core.domains import Float
from tunebook.core.edits import Edit, SetParameter, widened
from tunebook.core.evidence import Reading, Standing
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import counted, listed
from tunebook.core.results import Results
from tunebook.diagnosis.failures import failed
from tunebook.diagnosis.judging import PROBLEM_BUDGET, WATCH_BUDGET
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.commands import anew, look, other
from tunebook.procedures.needs import remedy
from tunebook.procedures.phrases import OTHER_REMEDIES, kept_schedule
from tunebook.procedures.stability.seen import Limit, Seen
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep
from tunebook.stats.stability import FEWEST, Kind

GRADIENTS: Final = Question(
    "probe-stability-gradients",
    "Is the norm of the gradient logged?",
    "optimization-failures",
)
METHOD: Final = (
    "a short training at every step: a rise of the smoothed loss above its lowest level so far, by "
    "20% and more than correlated noise rises in 1 of 100 trainings, or a loss that never falls; "
    "what twice the best rate promises by a parabola through the last three rates up to it, beside "
    "noise among which the best was chosen"
)
# A best rate this near the end of what the study searches has no room above it.
_NEAR: Final = 2.0


def answer(question: Question, subject: Subject, seen: Seen) -> tuple[Finding, tuple[Edit, ...]]:
    """The verdict on what limits the learning rate, and the change that it asks for."""
    name, limit, kept = seen.sweep.parameter, seen.limit, kept_schedule(subject)
    best = f"The best {name} is {shown(seen.best)}"
    if limit in (Limit.EARLY, Limit.SUDDEN):
        verdict, sentence = _unstable(seen, best, limit)
        advice = _remedies(subject, limit) if verdict is not Verdict.GOOD else ""
        return _finding(question, verdict, f"{sentence}{kept}", advice, seen), ()
    if limit is Limit.ELSEWHERE:
        sentence = (
            f"{best}. Twice that rate trains without rising, and ends worse: the rate is limited "
            f"elsewhere, not by an instability that shows.{_further(seen)}{_lost(seen)}"
        )
    else:
        sentence = (
            f"{best}. Twice that rate trains as well, and nothing rises: training is stable, and "
            f"instability does not limit the rate.{_further(seen)}{_lost(seen)}"
        )
    edits = _wider(subject, seen)
    todo = _middle(seen)
    todo += [f"Search {name} from {edits[0].source}. {edits[0].because}"] if edits else []
    has_none = subject.knobs.warmup_steps is not None and not subject.value("warmup_steps")
    if limit is Limit.ELSEWHERE and has_none:
        todo.append(
            "The first steps at a higher rate may do harm that shows in the result alone, which a "
            f"warm-up cures: {other(subject, 'warmup')}"
        )
    return _finding(question, Verdict.GOOD, f"{sentence}{kept}", " ".join(todo), seen), edits


def undecided(question: Question, subject: Subject, made: Sweep) -> Finding:
    """The answer where the sweep does not end in a best rate."""
    name = made.parameter
    if not made.values:
        return Finding(
            question,
            Verdict.UNKNOWN,
            f"No trial ended: all of {counted(len(made.broken), 'rate')} broke for other reasons "
            f"than {name}.",
            f"Look at one of them, {look(subject, made.records)}; then probe again with "
            "--retry-failed.",
        )
    tried = f"from {shown(made.values[0])} to {shown(made.values[-1])}"
    if made.best is None:
        return Finding(
            question,
            Verdict.UNKNOWN,
            f"No {name} {tried} works.",
            "Look for a bug first; else begin lower: "
            + anew(subject, {name: made.values[0] / 100}),
        )
    side = "lowest" if made.boundary == "low" else "highest"
    return Finding(
        question,
        Verdict.UNKNOWN,
        f"The best {name}, {shown(made.best)}, is the {side} of those tried, {tried}: there is no "
        "telling what limits it.",
        f"Begin there: {anew(subject, {name: made.best})}",
        numbers={"best": made.best},
    )


def unseen(question: Question, subject: Subject, made: Sweep, short: Sequence[Reading]) -> Finding:
    """The answer where the short trainings do not show how they went."""
    broken = [reading for reading in short if reading.standing is Standing.BROKEN]
    if broken:
        return Finding(
            question,
            Verdict.UNKNOWN,
            f"The best {made.parameter} is {shown(made.best or 0)}, but {len(broken)} of "
            f"{counted(len(short), 'short training')} broke ({broken[0].why}): what goes on above "
            "it is not seen.",
            f"Look at one of them, {look(subject, [r.record for r in broken])}; then probe again "
            "with --retry-failed.",
            numbers={"best": made.best or 0},
        )
    knob = "train_loss" if subject.knobs.eval_interval is not None else "eval_interval"
    return Finding(
        question,
        Verdict.UNKNOWN,
        f"The best {made.parameter} is {shown(made.best or 0)}, but no loss has {FEWEST} points in "
        "a short training: what goes wrong early is not seen.",
        f"Show it: {remedy(knob, subject.study)}.",
        numbers={"best": made.best or 0},
    )


def lacking(subject: Subject, results: Results) -> tuple[Finding, ...]:
    """What to say where no gradient norm was logged, which every training should log."""
    name = subject.knobs.grad_norm
    if name is not None and any(name in record.curves for record in results):
        return ()
    what = "No knob names" if name is None else f"No trial logged {name},"
    return (
        Finding(
            GRADIENTS,
            Verdict.UNKNOWN,
            f"{what} the norm of the gradient: outliers that come before a loss rises are not "
            "seen.",
            f"Before any clipping, {remedy('grad_norm', subject.study)}.",
        ),
    )


def _unstable(seen: Seen, best: str, limit: Limit) -> tuple[Verdict, str]:
    how = "early" if limit is Limit.EARLY else "all of a sudden"
    unstable = [one for one in seen.courses[2] if not one.is_stable]
    share = f"{len(unstable)} of {counted(len(seen.courses[2]), 'training')}"
    first = f"{best}. At twice that, {share} {'is' if len(unstable) == 1 else 'are'} unstable"
    what = f"{first} {how}: {unstable[0].why}."
    if not seen.worse:
        return Verdict.GOOD, f"{what} But results there are no worse: it does no harm."
    if seen.promise <= PROBLEM_BUDGET:
        held = "Results still improve towards that edge: instability keeps the rate below its best."
        return Verdict.PROBLEM, f"{what} {held}"
    if seen.promise <= WATCH_BUDGET:
        held = "Results seem to improve towards that edge: instability may keep the rate too low."
        return Verdict.WATCH, f"{what} {held}"
    held = "But results level off before that edge: a higher rate would hardly help."
    return Verdict.GOOD, f"{what} {held}"


def _remedies(subject: Subject, limit: Limit) -> str:
    """The remedies in the order in which they are worth trying."""
    warmup, clipping = (other(subject, name) for name in ("warmup", "clipping"))
    if limit is Limit.EARLY:
        first = f"Warm the rate up: {warmup}. If that does not help, clip gradients: {clipping}."
    else:
        first = f"Clip gradients: {clipping}. If that does not help, warm the rate up: {warmup}."
    return f"{first} {OTHER_REMEDIES}"


def _further(seen: Seen) -> str:
    kinds = {multiple: seen.kind(multiple) for multiple in (5, 10) if seen.courses[multiple]}
    bad = [multiple for multiple, kind in kinds.items() if kind is not Kind.STABLE]
    if bad:
        rates = f"{listed([str(multiple) for multiple in bad])} times that rate"
        errors = [r.why for multiple in bad for r in seen.results[multiple] if failed(r)]
        if errors:
            return f" At {rates} trials end in an error ({errors[0]})."
        return f" {rates} {'is' if len(bad) == 1 else 'are'} unstable, which is no harm."
    return " Nor are 5 and 10 times that rate unstable." if len(kinds) == 2 else ""


def _middle(seen: Seen) -> list[str]:
    """Which rate to take of several that are as good: luck has chosen the best of them."""
    good = seen.sweep.plateau
    if len(good) < 2:
        return []
    return [
        f"Results from {shown(good[0])} to {shown(good[-1])} are as good, within noise: of these, "
        f"take the middle, {shown(seen.sweep.middle or seen.best)}."
    ]


def _lost(seen: Seen) -> str:
    """A comparison that rests on fewer trainings than were asked for says so."""
    asked = sum(len(seen.results[multiple]) for multiple in (1, 2))
    lost = asked - sum(len(seen.courses[multiple]) for multiple in (1, 2))
    return f" {lost} of the {asked} trainings that this rests on broke." if lost else ""


def _wider(subject: Subject, seen: Seen) -> tuple[SetParameter, ...]:
    """Room above or below a best rate that is at the end of what the study searches."""
    name, best = seen.sweep.parameter, seen.best
    source = subject.study.space[name].source
    if not isinstance(source, Float) or not source.log:
        return ()
    if best * _NEAR >= source.high:
        end, wider = "high", widened(source, source.low, float(f"{10 * best:.1g}"))
    elif best <= _NEAR * source.low:
        end, wider = "low", widened(source, float(f"{best / 10:.1g}"), source.high)
    else:
        return ()
    if wider == source:
        return ()
    because = (
        f"The best {name} of a short training, {shown(best)}, is at the {end} end of what the "
        "study searches."
    )
    return (SetParameter(name, wider, because),)


def _finding(
    question: Question, verdict: Verdict, sentence: str, advice: str, seen: Seen
) -> Finding:
    edge = seen.sweep.broken_above
    return Finding(
        question,
        verdict,
        sentence,
        advice,
        numbers={
            "best": seen.best,
            "middle": seen.sweep.middle or seen.best,
            "promise_p": seen.promise,
            **({"nothing works from": edge} if edge is not None else {}),
            **{
                f"unstable at {multiple} times": sum(not one.is_stable for one in courses)
                for multiple, courses in seen.courses.items()
            },
        },
        method=f"{METHOD}; seen in {seen.metric.name}",
    )
