"""How much of the space is infeasible, and where?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted, listed
from tunebook.core.space import Parameter
from tunebook.diagnosis.failures import LEAST_FAILURES, is_failure, kind_of
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import numbered, percent
from tunebook.diagnosis.questions import INFEASIBLE
from tunebook.diagnosis.ranges import place
from tunebook.diagnosis.shortage import no_result
from tunebook.diagnosis.tables import tabulate
from tunebook.stats.arrays import Bools, Ints
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
# That no parameter has a say is said only where a dependence would hardly be missed.
LEAST_OF_EACH = 10
LEAST_FOR_BUG = 32
# A region is named when chance would hardly gather the infeasible trials so.
LOCATED = 0.01
# Only above this p-value does it look as if no parameter had a say.
UNRELATED = 0.2
# A corner replaces a cut only if it holds so much of a larger share of infeasible trials.
CLEARER = 0.1
# Failed trials above this share are no accident.
FAILING = 0.1
# A region is sought among so many trials: the cost grows with them, the answer does not change.
MOST_TRIALS = 1000
_NUMBER = r"(?<![\w.<>=])[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?!\w)"


@dataclass(frozen=True, slots=True)
class Where:
    """Where infeasible trials lie: in a region, or whatever the parameters; else it is not seen."""

    parameters: tuple[Parameter, ...] = ()
    region: Region | None = None
    tested: bool = False
    unrelated: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that bound the region."""
        cuts = () if self.region is None else self.region.cuts
        return tuple(self.parameters[cut.coordinate].name for cut in cuts)


def infeasible(evidence: Evidence) -> Finding:
    """The share of infeasible trials, the region they lie in, or the bug that they point to."""
    judged = _judged(evidence)
    failed = [r for r in evidence.readings if is_failure(r)]
    bad = [r for r in judged if r.standing is Standing.INFEASIBLE]
    claims = _failures(failed, len(judged))
    if len(judged) < LEAST_TRIALS and not claims:
        return _too_few(evidence, len(judged))
    share = len(bad) / max(len(judged), 1)
    where = located(evidence)
    numbers = {"share": share, "infeasible": len(bad), "trials": len(judged)}
    reasons = _reasons(bad)
    many = f"{len(bad)} of {counted(len(judged), 'trial')} ({percent(share)})"
    said = f"{many} {_are(len(bad))} infeasible"
    if where.unrelated:
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
                f"{said} ({reasons}){_place(where)}.",
                Verdict.PROBLEM if share >= MOST else Verdict.WATCH,
                advice=_narrowed(where) if evidence.ranked else no_result(evidence)[1],
                trials=tuple(r.number for r in bad),
            )
        )
    calm = f"{said} ({reasons}){_place(where)}." if bad else _none(judged)
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
    known = (
        f"{len(seen)} of {many} {_are(len(seen))} infeasible ({_reasons(seen)}); " if seen else ""
    )
    text = f"{known}{counted(judged, 'configuration')} {_are(judged)} too few"
    said = unknown(
        INFEASIBLE,
        f"{text[0].upper()}{text[1:]} to tell a share of the space.",
        f"Run at least {LEAST_TRIALS - judged} more.",
    )
    return replace(said, trials=tuple(reading.number for reading in seen))


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


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


def _judged(evidence: Evidence) -> list[Reading]:
    return [r for r in evidence.only(Standing.MEASURED, Standing.INFEASIBLE) if r.is_sampled]


def located(evidence: Evidence) -> Where:
    """The region of infeasible trials, if there is one; and whether no parameter has a say."""
    judged = _judged(evidence)
    labels = np.array([r.standing is Standing.INFEASIBLE for r in judged], dtype=bool)
    table = tabulate(evidence.study, judged)
    if not table.parameters or labels.all() or not labels.any():
        return Where()
    kept = _kept(len(judged))
    region = _clearest(table.points[kept], labels[kept])
    if region is not None:
        return Where(table.parameters, _recounted(region, table.points, labels), tested=True)
    if np.count_nonzero(labels) < LEAST_INFEASIBLE:
        return Where()
    dependence = label_dependence(table.points[kept], labels[kept], draws=1000)
    fewest = min(int(labels.sum()), int((~labels).sum()))
    enough = fewest >= LEAST_OF_EACH and len(labels) >= LEAST_FOR_BUG
    independent = dependence is not None and dependence.p > UNRELATED
    return Where(tested=True, unrelated=enough and independent)


def _kept(trials: int) -> Ints:
    """Rows, at most so many, drawn at random: every second trial may be of one setting."""
    if trials <= MOST_TRIALS:
        return np.arange(trials)
    return np.sort(np.random.default_rng(0).permutation(trials)[:MOST_TRIALS])


def _recounted(region: Region, points: Floats, labels: Bools) -> Region:
    """The region with the counts of all trials, whichever it was found among."""
    held = np.all([cut.holds(points) for cut in region.cuts], axis=0)
    outside = float(labels[~held].mean()) if not held.all() else 0.0
    inside = float(labels[held].mean())
    return replace(region, inside=inside, outside=outside, trials=int(held.sum()))


def _clearest(points: Floats, labels: Bools) -> Region | None:
    """A cut, or the corner of two that says clearly more."""
    cut = best_cut(points, labels)
    corner = best_corner(points, labels) if points.shape[1] > 1 else None
    if corner is not None and corner.p <= LOCATED:
        if cut is None or cut.p > LOCATED or corner.inside >= cut.inside + CLEARER:
            return corner
    return cut if cut is not None and cut.p <= LOCATED else None


def _place(found: Where) -> str:
    region = found.region
    if region is None:
        return "; in which part of the space is not seen" if found.tested else ""
    beyond = " and ".join(_beyond(found.parameters[cut.coordinate], cut) for cut in region.cuts)
    hit = round(region.inside * region.trials)
    some = f"all {hit}" if hit == region.trials else f"{hit} of the {region.trials}"
    rest = f"{percent(region.outside)}" if region.outside else "none"
    return f": {some} with {beyond}, and {rest} of the others"


def _narrowed(found: Where) -> str:
    region = found.region
    if region is None:
        return "Look at the parallel coordinates for what the infeasible trials have in common."
    if len(region.cuts) > 1:
        return (
            f"Search {listed(found.names)} so that this corner is left out, for instance by their "
            "product or ratio in place of one of them."
        )
    cut = region.cuts[0]
    parameter = found.parameters[cut.coordinate]
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
    """The commonest reasons, with the number of trials of each where there are several."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for reading in readings:
        said = _plain(reading)
        kinds[re.sub(_NUMBER, "…", said)].append(said)
    common = sorted(kinds.items(), key=lambda kind: -len(kind[1]))
    # A number that is the same in all trials, such as a limit, is part of the reason.
    words = [said[0] if len(set(said)) == 1 else key for key, said in common]
    if len(words) == 1:
        return words[0]
    names = [f"{len(said)} {word}" for word, (_, said) in zip(words, common, strict=True)]
    rest = sum(len(said) for _, said in common[most:])
    return listed([*names[:most], *([counted(rest, "other")] if rest else [])])


def _plain(reading: Reading) -> str:
    """A reason without the numbers that differ from trial to trial."""
    outcome = reading.record.outcome
    if outcome is not None and outcome.cause:
        return outcome.cause.value
    if "no better than chance" in reading.why:
        return "no better than chance"
    if "worse than the median" in reading.why:
        return "far worse than the median"
    kind = kind_of(reading.why).split(" from step ")[0]
    kind = re.sub(rf"^{_NUMBER} is ", "", re.sub(rf" at {_NUMBER}", "", kind))
    kind = re.sub(rf"the {_NUMBER} that it began with", "where it began", kind)
    return re.sub(r" ended, (no lower|far above)", r" ended \1", kind) or "without a reason"
