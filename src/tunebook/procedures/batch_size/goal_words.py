"""What the steps to a goal at several batch sizes say, in words."""

from __future__ import annotations

import math
from typing import Final

from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import listed, number
from tunebook.procedures.batch_size.noise_scale import NoiseScale
from tunebook.procedures.batch_size.throughput_words import interval_text, seconds_text, size_text
from tunebook.procedures.batch_size.to_goal import AtSize, Reached
from tunebook.stats.critical_batch import BatchScaling, NoFit, Scaling

QUESTION: Final = Question(
    "probe-critical-batch",
    "Which batch size reaches the goal soonest, and which at the least cost?",
    "batch-size",
)


def goal_finding(reached: Reached) -> Finding:
    """The finding about the critical batch size."""
    fit = reached.fit
    parts = [_steps_text(reached), reached.left_out, _fit_text(fit), _time_text(reached)]
    parts.append(_noise_text(reached))
    return Finding(
        QUESTION,
        goal_verdict(reached),
        " ".join(part for part in parts if part),
        _advice(reached),
        numbers=_numbers(reached),
        method="S = S_min (1 + B_crit / B) on log steps between evaluations, learning rate tuned "
        "again at each size, then new seeds; intervals by profile likelihood",
    )


def goal_verdict(reached: Reached) -> Verdict:
    """Whether the present size is the one to take; nothing may be proposed where it is unknown."""
    fit = reached.fit
    if reached.soonest is None or isinstance(fit, NoFit) or fit.scaling is Scaling.UNKNOWN:
        return Verdict.UNKNOWN
    if reached.busy or reached.broke or _edges(reached):
        return Verdict.UNKNOWN
    return Verdict.GOOD if reached.is_soon else Verdict.WATCH


def _edges(reached: Reached) -> list[AtSize]:
    """Sizes whose best learning rate is at an end of what was tried."""
    return [one for one in reached.sizes if one.boundary is not None and one.reached]


def _steps_text(reached: Reached) -> str:
    met = reached.met
    steps = _listed([f"{one.steps:,.0f} at {size_text(one.size)}" for one in met])
    parts = [f"Steps to {reached.goal.text}, by batch size: {steps}."] if met else []
    short = [one for one in reached.sizes if not one.is_met and not one.is_unknown]
    missed = _listed([size_text(one.size) for one in short if not one.reached])
    partly = [one for one in reached.sizes if 0 < one.reached < len(one.crossings)]
    few = [f"{one.reached} of {len(one.crossings)} at {size_text(one.size)}" for one in partly]
    if missed:
        it = "It" if parts else reached.goal.text
        parts.append(f"{it} was not reached at {missed}.")
    if few:
        it = "It" if parts else reached.goal.text
        parts.append(f"{it} was reached by some seeds only: {_listed(few)}.")
    return " ".join([*parts, _broken_text(reached)]).strip()


def _broken_text(reached: Reached) -> str:
    """What is missing, as trials broke: seeds, or all that a size had."""
    unknown = _listed([size_text(one.size) for one in reached.sizes if one.is_unknown])
    some = [one for one in reached.sizes if one.broken and not one.is_unknown]
    lost = [
        f"{len(one.broken)} of {len(one.crossings) + len(one.broken)} at {size_text(one.size)}"
        for one in some
    ]
    parts = [f"Seeds that broke do not count: {_listed(lost)}."] if lost else []
    parts += [f"Nothing is known of {unknown}: all trials broke there."] if unknown else []
    return " ".join(parts)


def _listed(names: list[str]) -> str:
    return listed(names, most=6) if names else ""


def _fit_text(fit: BatchScaling | NoFit) -> str:
    if isinstance(fit, NoFit):
        return f"No curve was fitted: {fit.reason}."
    critical = fit.critical
    match fit.scaling:
        case Scaling.BOTH:
            text = (
                f"The critical batch size is {size_text(critical.estimate)} "
                f"({interval_text(critical)}): up to about "
                f"{size_text(round(fit.perfect_until.estimate))} twice the batch halves the "
                f"steps, and from {size_text(round(fit.no_gain_from.estimate))} on it brings next "
                f"to nothing. However large, {fit.fewest_steps.estimate:,.0f} steps remain "
                f"({fit.fewest_steps.low:,.0f} to {fit.fewest_steps.high:,.0f})."
            )
        case Scaling.PERFECT:
            text = (
                "Only perfect scaling is seen, twice the batch halves the steps: the critical "
                f"batch size is {interval_text(critical)}."
            )
        case Scaling.DIMINISHING:
            text = (
                "Larger batches save next to no steps at these sizes: the critical batch size is "
                f"{interval_text(critical)}."
            )
        case _:
            text = "The sizes leave the critical batch size open."
    if fit.misfit is not None and fit.misfit <= 0.05:
        text += f" The curve does not fit well (p = {number(fit.misfit)}); intervals are wider."
    return text


def _time_text(reached: Reached) -> str:
    soonest = reached.soonest
    if soonest is None:
        return ""
    best = int(soonest.size)
    text = f"Training time on this machine is least at {size_text(best)}"
    if isinstance(reached.fit, BatchScaling):
        seconds = soonest.totals[reached.candidates.index(best)]
        text += f", about {seconds_text(seconds)}"
    others = [size_text(size) for size in soonest.possible if size != best]
    text += f" ({listed(others, most=4)} may be as good)" if others else ""
    if best == max(reached.candidates, default=best) and reached.end:
        text += f", {reached.end}"
    cost = min(one.size for one in reached.met)
    return (
        f"{text}. So is its usage cost, machine time. With devices added in proportion to the "
        f"batch, usage counts examples, and is least at {size_text(cost)}, the smallest that "
        "reached it. Upfront cost (devices, tuning at a new size) is not counted."
    )


def _noise_text(reached: Reached) -> str:
    known = [("early", reached.early), ("at the goal", reached.late)]
    said = [f"{_scale_text(scale)} {when}" for when, scale in known if scale is not None]
    if not said:
        return ""
    return f"Roughly, the gradient-noise scale is {' and '.join(said)}."


def _scale_text(scale: NoiseScale) -> str:
    text = size_text(float(f"{scale.size:.2g}"))
    if scale.low == scale.high:
        return text
    low, high = (size_text(float(f"{end:.2g}")) for end in (scale.low, scale.high))
    return f"{text} ({low} to {high})"


def _advice(reached: Reached) -> str:
    parts = []
    if reached.busy:
        parts.append(
            "The machine was busy while steps were timed: steps to the goal hold, training times "
            "may not. Probe again, with --again, when it has nothing else to do."
        )
    elif reached.soonest is not None and goal_verdict(reached) is Verdict.WATCH:
        now = size_text(reached.current)
        parts.append(f"Take a batch size of {size_text(reached.soonest.size)} (now {now}).")
    if reached.broke:
        parts.append("The present size is not among these: trials at or below it broke.")
    for one in _edges(reached):
        side = "lowest" if one.boundary == "low" else "highest"
        parts.append(
            f"At {size_text(one.size)} the best learning rate is the {side} that was tried, "
            f"{number(one.sweep.best)}: more may be in it; start from another by --set."
        )
    if reached.look:
        parts.append(
            f"Look at a trial that broke, {reached.look}; then probe again with --retry-failed."
        )
    if not reached.met and any(not one.is_unknown for one in reached.sizes):
        parts.append("Set an easier goal with --goal, or raise the steps of a trial.")
    if reached.left_out:
        parts.append("Give --sizes smaller ones.")
    if reached.decayed:
        parts.append(
            f"The schedule {reached.decayed} may decay with the budget, so that steps to the goal "
            "depend on it: probe with a constant one."
        )
    parts.append(
        "Under a budget of steps a larger batch is never worse; under a budget of epochs it has "
        "fewer steps, and smaller ones get further: do not compare sizes at equal epochs."
    )
    if reached.early is None and reached.late is None:
        parts.append(
            "The gradient-noise scale is unknown: log the norm before clipping, "
            "run.log({'grad_norm': norm}, step=step), and write 'grad_norm: grad_norm' under knobs."
        )
    return " ".join(parts)


def _numbers(reached: Reached) -> dict[str, float]:
    found = {f"steps_at_{one.size}": one.steps for one in reached.sizes}
    found |= {
        f"rate_at_{one.size}": one.sweep.best for one in reached.sizes if one.sweep.best is not None
    }
    fit = reached.fit
    if isinstance(fit, BatchScaling):
        found |= {
            "critical": fit.critical.estimate,
            "critical_low": fit.critical.low,
            "critical_high": fit.critical.high,
            "fewest_steps": fit.fewest_steps.estimate,
        }
    if reached.soonest is not None:
        found["soonest"] = reached.soonest.size
    for name, scale in (("noise_early", reached.early), ("noise_late", reached.late)):
        if scale is not None:
            found[name] = scale.size
    return {name: value for name, value in found.items() if math.isfinite(value)}
