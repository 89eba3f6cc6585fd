"""Probes whose advice is judged by the results of training: stability, steps and remedies."""

from __future__ import annotations

from dataclasses import replace

import tunebook
from probed.bench import Bench, Row, answer_of, budget_of, bundle, proposed, results_row
from tunebook.core.findings import Verdict

# How often a probe is asked at most: once more where it should begin elsewhere, or has results.
ROUNDS = 2


def stability(bench: Bench, task: str) -> Row:
    rate = float(str(bundle(task).defaults["learning_rate"]))
    study = bench.study(task, learning_rate=rate / 10)
    made, first = bench.probe("stability", study)
    finding, minutes = answer_of(made, "probe-stability"), [first]
    for _ in range(ROUNDS - 1):
        if finding.verdict is not Verdict.UNKNOWN or "best" not in finding.numbers:
            break
        given = {"learning_rate": finding.numbers["best"]}
        made, more = bench.probe("stability", study, given=given)
        finding, minutes = answer_of(made, "probe-stability"), [*minutes, more]
    # Of rates that are as good as the best, the probe says to take the middle one.
    best = finding.numbers.get("middle", finding.numbers.get("best", rate / 10))
    return results_row(
        bench,
        "stability",
        task,
        minutes,
        f"learning rate {best:g}, by hand {rate:g}",
        bench.study(task, learning_rate=best),
        bench.study(task),
    )


def steps(bench: Bench, task: str) -> Row:
    """The first guess, then what the probe makes of results: as the playbook goes on from it."""
    defaults, by_hand = bundle(task).defaults, bench.steps or bundle(task).facts.steps
    rate = float(str(defaults["learning_rate"]))
    # Far too few steps, and a tenth of the rate; the training set is known to be fitted in those
    # by hand.
    study = bench.study(task, max(by_hand // 10, 20), learning_rate=rate / 10)
    made, first = bench.probe("steps", study, max_steps=by_hand)
    minutes, named = [first], [budget_of(proposed(study, made))]
    while len(named) < ROUNDS:
        study = replace(bench.study(task, named[-1]), trials=bench.seeds)
        tunebook.run(study, workers=2, folder=bench.folder, quiet=True)
        # The sweep is as long as before: that the training set is fitted in those steps is known.
        made, more = bench.probe("steps", study, max_steps=by_hand)
        minutes.append(more)
        after = budget_of(proposed(study, made))
        if after == named[-1]:
            break
        named.append(after)
    return results_row(
        bench,
        "steps",
        task,
        minutes,
        f"{', then '.join(map(str, named))} steps, by hand {by_hand}",
        bench.study(task, named[-1]),
        bench.study(task, by_hand),
    )


def remedy(probe: str, knob: str, bench: Bench, task: str) -> Row:
    by_hand = bench.study(task)
    study = bench.study(task, **{knob: None if probe == "clipping" else 0})
    made, minutes = bench.probe(probe, study)
    # A longer run, which a long warm-up asks for, would be better by itself.
    after = replace(proposed(study, made), budget=by_hand.budget)
    changes = [f"{e.name} {e.source}" for e in made.answer.edits if hasattr(e, "name")]  # type: ignore[union-attr]
    advice = ", ".join(changes).replace("fixed at ", "") or f"no {probe}"
    if knob in bundle(task).defaults:
        advice += f", by hand {bundle(task).defaults[knob]}"
    elif not changes:
        after = by_hand
    return results_row(bench, probe, task, [minutes], advice, after, by_hand)
