"""How much of the space is infeasible, and where?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tunebook.core.domains import Choice, Float, Int
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.space import Parameter
from tunebook.diagnosis.failures import LEAST_FAILURES, is_failure, kind_of
from tunebook.diagnosis.judging import finding, listed, unknown
from tunebook.diagnosis.phrases import counted, numbered, percent
from tunebook.diagnosis.questions import INFEASIBLE
from tunebook.diagnosis.ranges import place
from tunebook.diagnosis.tables import Table, tabulate
from tunebook.stats.permutation import label_dependence
from tunebook.stats.regions import Cut, Region, best_corner, best_cut

# Fewer trials do not tell a share.
LEAST_TRIALS = 8
# A quarter of the budget spent where nothing works is worth a narrower range; half of it says that
# the space is wrong. Below, infeasible trials are the price of ranges that are wide enough.
MUCH = 0.25
MOST = 0.5
# Where a few trials are infeasible, no test tells whether they depend on parameters.
LEAST_INFEASIBLE = 5
# A region is named when chance would hardly gather the infeasible trials so.
LOCATED = 0.01
# Only above this p-value does it look as if no parameter had a say.
UNRELATED = 0.2
# A corner replaces a cut only if it holds so much of a larger share of infeasible trials.
CLEARER = 0.1
# Failed trials above this share are no accident.
FAILING = 0.1
# More trials are thinned: the cost grows with them, the answer does not change.
MOST_TRIALS = 1000


def infeasible(evidence: Evidence) -> Finding:
    """The share of infeasible trials, the region they lie in, or the bug that they point to."""
    judged = [r for r in evidence.only(Standing.MEASURED, Standing.INFEASIBLE) if r.is_sampled]
    failed = [r for r in evidence.readings if is_failure(r)]
    bad = [r for r in judged if r.standing is Standing.INFEASIBLE]
    claims = _failures(failed, len(judged))
    if len(judged) < LEAST_TRIALS and not claims:
        return _too_few(evidence, len(judged))
    share = len(bad) / max(len(judged), 1)
    region, unrelated = _where(evidence, judged, bad)
    numbers = {"share": share, "infeasible": len(bad), "trials": len(judged)}
    reasons = _reasons(bad)
    said = f"{len(bad)} of {counted(len(judged), 'trial')} ({percent(share)}) are infeasible"
    if unrelated:
        claims.append(
            Claim(
                f"{said} ({reasons}), and no parameter has a say in it: a bug is suspected.",
                Verdict.PROBLEM if share >= MOST else Verdict.WATCH,
                advice=f"Run {numbered([r.number for r in bad[:1]])} again with another seed and "
                "look for what breaks it before searching on.",
                trials=tuple(r.number for r in bad),
            )
        )
    elif share >= MUCH:
        claims.append(
            Claim(
                f"{said} ({reasons}){_place(region)}.",
                Verdict.PROBLEM if share >= MOST else Verdict.WATCH,
                advice=_narrowed(region),
                trials=tuple(r.number for r in bad),
            )
        )
    calm = f"{said} ({reasons}){_place(region)}." if bad else _none(judged)
    return finding(
        INFEASIBLE,
        claims,
        calm,
        numbers=numbers,
        trials=tuple(r.number for r in bad),
        method="permutation of the labels over the best cut of a parameter and corner of two",
    )


def _too_few(evidence: Evidence, judged: int) -> Finding:
    """Unknown, with what was seen nonetheless: replicates are trials, but of no new place."""
    seen = evidence.only(Standing.INFEASIBLE)
    many = counted(len(evidence.only(Standing.MEASURED, Standing.INFEASIBLE)), "trial")
    known = f"{len(seen)} of {many} are infeasible ({_reasons(seen)}); " if seen else ""
    text = f"{known}{counted(judged, 'configuration')} {'is' if judged == 1 else 'are'} too few"
    said = unknown(
        INFEASIBLE,
        f"{text[0].upper()}{text[1:]} to tell a share of the space.",
        f"Run at least {LEAST_TRIALS - judged} more.",
    )
    return replace(said, trials=tuple(reading.number for reading in seen))


def _none(judged: Sequence[Reading]) -> str:
    return f"None of {counted(len(judged), 'trial')} is infeasible."


def _failures(failed: Sequence[Reading], others: int) -> list[Claim]:
    """Errors of the program that gathering could not blame on parameters."""
    trials = len(failed) + others
    if not failed or len(failed) < max(2, FAILING * trials):
        return []
    tested = others and len(failed) >= LEAST_FAILURES
    return [
        Claim(
            f"{len(failed)} of {counted(trials, 'trial')} failed ({_reasons(failed)})"
            f"{', whatever their parameters' if tested else ''}: a bug is suspected.",
            Verdict.PROBLEM if len(failed) >= MOST * trials else Verdict.WATCH,
            advice=f"Read the traceback of trial {failed[0].number}, mend the program and run "
            "the study again: it goes on with what failed.",
            trials=tuple(r.number for r in failed),
        )
    ]


def _where(
    evidence: Evidence, judged: Sequence[Reading], bad: Sequence[Reading]
) -> tuple[tuple[Table, Region] | None, bool]:
    """The region of infeasible trials, if there is one; and whether no parameter has a say."""
    if not bad or len(bad) == len(judged):
        return None, False
    kept = _thinned(judged)
    table = tabulate(evidence.study, kept)
    labels = np.array([r.standing is Standing.INFEASIBLE for r in kept])
    if not table.parameters or len(set(labels)) < 2:
        return None, False
    region = _clearest(table, labels)
    if region is not None:
        return (table, region), False
    if len(bad) < LEAST_INFEASIBLE:
        return None, False
    dependence = label_dependence(table.points, labels, draws=1000)
    return None, dependence is None or dependence.p > UNRELATED


def _clearest(table: Table, labels: np.ndarray) -> Region | None:
    """A cut, or the corner of two that says clearly more."""
    cut = best_cut(table.points, labels)
    corner = best_corner(table.points, labels) if len(table.parameters) > 1 else None
    if corner is not None and corner.p <= LOCATED:
        if cut is None or cut.p > LOCATED or corner.inside >= cut.inside + CLEARER:
            return corner
    return cut if cut is not None and cut.p <= LOCATED else None


def _thinned(readings: Sequence[Reading]) -> Sequence[Reading]:
    step = -(-len(readings) // MOST_TRIALS)
    return readings[::step]


def _place(found: tuple[Table, Region] | None) -> str:
    if found is None:
        return ""
    table, region = found
    beyond = " and ".join(_beyond(table.parameters[cut.coordinate], cut) for cut in region.cuts)
    hit = round(region.inside * region.trials)
    some = f"all {hit}" if hit == region.trials else f"{hit} of the {region.trials}"
    rest = f"{percent(region.outside)}" if region.outside else "none"
    return f": {some} with {beyond}, and {rest} of the others"


def _narrowed(found: tuple[Table, Region] | None) -> str:
    if found is None:
        return "Look at the parallel coordinates for what the infeasible trials have in common."
    table, region = found
    if len(region.cuts) > 1:
        names = [table.parameters[cut.coordinate].name for cut in region.cuts]
        return (
            f"Search {listed(names)} so that this corner is left out, for instance by their "
            "product or ratio in place of one of them."
        )
    cut = region.cuts[0]
    parameter = table.parameters[cut.coordinate]
    if not isinstance(parameter.source, Float | Int):
        return f"Leave out {_beyond(parameter, cut)}."
    side = "up to" if cut.side == "high" else "from"
    return f"Search {parameter.name} only {side} {place(parameter.source, cut.threshold)}."


def _beyond(parameter: Parameter, cut: Cut) -> str:
    """A cut in words, on the parameter's own scale."""
    domain = parameter.source
    if isinstance(domain, Choice):
        middles = (np.arange(len(domain.values)) + 0.5) / len(domain.values)
        holds = middles >= cut.threshold if cut.side == "high" else middles <= cut.threshold
        values = [str(v) for v, held in zip(domain.values, holds, strict=True) if held]
        return f"{parameter.name} {' or '.join(values)}"
    if not isinstance(domain, Float | Int):
        return parameter.name
    word = "above" if cut.side == "high" else "below"
    return f"{parameter.name} {word} {place(domain, cut.threshold)}"


def _reasons(readings: Sequence[Reading], most: int = 2) -> str:
    """The commonest reasons, with their counts where there are several."""
    kinds = Counter(_plain(reading) for reading in readings)
    if len(kinds) == 1:
        return next(iter(kinds))
    return listed([f"{count} {kind}" for kind, count in kinds.most_common()], most)


def _plain(reading: Reading) -> str:
    """A reason without the numbers that differ from trial to trial."""
    outcome = reading.record.outcome
    if outcome is not None and outcome.cause:
        return outcome.cause.value
    if "no better than chance" in reading.why:
        return "no better than chance"
    if "worse than the median" in reading.why:
        return "far worse than the median"
    return kind_of(reading.why).split(" from step ")[0] or "without a reason"
