"""Facts of the study itself: its code, its question, what is searched, and what is fixed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from tunebook.core.evidence import Evidence
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted, listed
from tunebook.core.results import TrialRecord
from tunebook.core.space import Fixed, Parameter, Role
from tunebook.core.study import Study
from tunebook.core.trials import NO_CODE, Code
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import numbered
from tunebook.diagnosis.questions import CAVEATS, CODE, ONE_QUESTION, TUNED_BUDGET

# Names that programs give what a knob would name, without their separators.
BATCH_SIZES = frozenset(
    ("batchsize", "trainbatchsize", "perdevicetrainbatchsize", "globalbatchsize", "bs", "minibatch")
)
LENGTHS = frozenset(
    ("steps", "numsteps", "maxsteps", "trainsteps", "trainingsteps", "totalsteps", "iterations")
) | frozenset(("epochs", "numepochs", "maxepochs", "nepochs", "trainepochs", "numtrainepochs"))


def code(evidence: Evidence) -> Finding:
    """Whether all trials ran the same code."""
    versions = versions_of(evidence.results)
    mixed = [r.trial.number for r in evidence.results if len(_codes(r)) > 1]
    if not versions:
        return unknown(
            CODE,
            "No trial has recorded which code it ran.",
            "Run the program from a Git repository, or from a file, so that its code is recorded.",
        )
    if len(versions) == 1:
        return finding(CODE, [], f"All trials ran the same code ({next(iter(versions))}).")
    groups = sorted(versions.items(), key=lambda pair: -len(pair[1]))
    said = [f"{counted(len(numbers), 'trial')} ran {one}" for one, numbers in groups]
    across = f" {_capital(numbered(mixed))} changed code half-way." if mixed else ""
    minor = tuple(sorted(n for _, numbers in groups[1:] for n in numbers))
    claim = Claim(
        f"The code changed during the study: {listed(said)}.{across}",
        Verdict.WATCH,
        advice=f"Look at what changed; if it can touch results, run {numbered(minor)} again "
        "with the same code as the others.",
        trials=minor,
        numbers={"versions": len(versions)},
    )
    return finding(CODE, [claim], "")


def versions_of(records: Iterable[TrialRecord]) -> dict[Code, list[int]]:
    """Which code was run by which trials, by their numbers."""
    found: dict[Code, list[int]] = defaultdict(list)
    for record in records:
        for one in _codes(record):
            found[one].append(record.trial.number)
    return found


def one_question(evidence: Evidence) -> Finding:
    """Whether the scientific parameters serve the one question that the goal asks."""
    study = evidence.study
    groups = _questions(study)
    names = [" with ".join(p.name for p in group) for group in groups]
    if study.goal.count("?") > 1:
        claim = Claim(
            f"The goal asks {study.goal.count('?')} questions at once.",
            Verdict.WATCH,
            advice="Ask one question in each study; the others can follow.",
        )
        return finding(ONE_QUESTION, [claim], "")
    if not groups:
        calm = "No parameter is scientific: the study looks for a good configuration (exploitation)"
        return finding(ONE_QUESTION, [], f"{calm} and asks no question.")
    if not study.goal.strip():
        return unknown(
            ONE_QUESTION,
            f"No goal is written, so what {listed(names)} should answer is not known.",
            "Write the study's goal as one narrow question.",
        )
    if len(groups) == 1:
        return finding(ONE_QUESTION, [], f"The study asks about {names[0]} alone.")
    named = [any(_mentions(study.goal, p.name) for p in group) for group in groups]
    if all(named):
        return finding(ONE_QUESTION, [], f"The goal asks about {listed(names)} together.")
    if not any(named):
        return unknown(
            ONE_QUESTION,
            f"{_capital(listed(names))} are scientific and the goal names none of them: whether "
            "they serve one question cannot be told.",
            "Name in the goal what the study compares, or make one study for each question.",
        )
    asked = [name for name, known in zip(names, named, strict=True) if known]
    other = [name for name, known in zip(names, named, strict=True) if not known]
    claim = Claim(
        f"The goal asks about {listed(asked)}, but {listed(other)} "
        f"{'is' if len(other) == 1 else 'are'} scientific too: several questions at once.",
        Verdict.WATCH,
        advice=f"Make {listed(other)} nuisance or fixed here, and ask about "
        f"{'it' if len(other) == 1 else 'them'} in a study of its own.",
        numbers={"questions": len(groups), "settings": len(study.space.settings())},
    )
    return finding(ONE_QUESTION, [claim], "")


def tuned_budget(evidence: Evidence) -> Finding:
    """Whether the batch size or the number of steps is searched like a nuisance."""
    study = evidence.study
    claims = []
    for parameter in (p for p in study.space if p.is_sampled):
        if _plays(parameter, study.knobs.batch_size, BATCH_SIZES):
            sentence = (
                f"{parameter.name} is searched ({parameter.source}): the best values of the other "
                "parameters move with the batch size, so its axis compares badly tuned trials."
            )
            advice = (
                f"Fix {parameter.name} at the largest size that still raises the throughput, or "
                "make it scientific, so that the others are tuned at each size."
            )
        elif _plays(parameter, study.knobs.steps, LENGTHS):
            sentence = (
                f"{parameter.name} is searched ({parameter.source}): the best step of a long "
                "trial tells how long to train, so that no trial need be spent on it."
            )
            advice = (
                f"Fix {parameter.name} for the whole study and read the best step from the curves."
            )
        else:
            continue
        claims.append(Claim(sentence, Verdict.WATCH, advice=advice, subject=parameter.name))
    calm = "Neither the batch size nor the number of steps is searched."
    return finding(TUNED_BUDGET, claims, calm)


def caveats(evidence: Evidence) -> Finding:
    """The fixed values on which the conclusions rest: said, and no alarm."""
    study = evidence.study
    inherited = [f"{name}={value}" for name, value in study.baseline if name not in study.space]
    fixed = [f"{p.name}={p.source.value}" for p in study.space if isinstance(p.source, Fixed)]
    values = [*fixed, *inherited]
    if not values:
        return finding(CAVEATS, [], "No value is fixed.")
    calm = f"The conclusions hold for {listed(values, most=12)}; another value may change them."
    return finding(CAVEATS, [], calm, numbers={"fixed": len(values)})


def _codes(record: TrialRecord) -> tuple[Code, ...]:
    """The versions that the attempts of a trial ran; what began it where they say nothing."""
    ran = [attempt.code for attempt in record.attempts] or [record.trial.code]
    known = [one for one in ran if one != NO_CODE] or [record.trial.code]
    return tuple(one for one in dict.fromkeys(known) if one != NO_CODE)


def _questions(study: Study) -> list[tuple[Parameter, ...]]:
    """Scientific parameters, those that exist only under others together with them."""
    scientific = {p.name: p for p in study.space.by_role(Role.SCIENTIFIC)}
    groups: dict[str, list[Parameter]] = {}
    root: dict[str, str] = {}
    for parameter in study.space.in_order:
        if parameter.name not in scientific:
            continue
        above = [root[when.parameter] for when in parameter.when if when.parameter in root]
        root[parameter.name] = above[0] if above else parameter.name
        groups.setdefault(root[parameter.name], []).append(parameter)
    return [tuple(group) for group in groups.values()]


def _mentions(goal: str, name: str) -> bool:
    """Whether a goal names a parameter, in words or as it is written.

    >>> _mentions("Do more blocks help?", "blocks"), _mentions("Which optimiser?", "optimizer")
    (True, True)
    >>> _mentions("Does a third block help?", "num_blocks"), _mentions("Is it deep?", "width")
    (True, False)
    """
    said = {_stem(word) for word in re.findall(r"[A-Za-z]+", goal)}
    words = [w for w in re.findall(r"[A-Za-z]+", name.rsplit(".", 1)[-1]) if len(w) > 1]
    told = [w for w in words if w.lower() not in ("num", "number", "use", "type", "size", "name")]
    return name.lower() in goal.lower() or bool({_stem(w) for w in told or words} & said)


def _stem(word: str) -> str:
    plain = word.lower().replace("is", "iz")
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") else plain


def _plays(parameter: Parameter, knob: str | None, usual: frozenset[str]) -> bool:
    plain = re.sub(r"[^a-z]", "", parameter.name.rsplit(".", 1)[-1].lower())
    return parameter.name == knob or plain in usual


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
