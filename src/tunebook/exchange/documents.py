"""Results as one JSON document, which no reader of strict JSON refuses.

JSON has no NaN and no infinity: among the numbers of metrics they are the texts "nan", "inf" and
"-inf". The study, and how each trial came about, are values as `tunebook.core.codec` writes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from tunebook.core import codec
from tunebook.core.curves import Floats
from tunebook.core.results import Results, TrialRecord
from tunebook.exchange.tables import MOST, What

KIND = "tunebook results"
VERSION = 1


def lines(results: Results, what: What) -> Iterator[bytes]:
    """The document in pieces; with `what="curves"`, each trial has its curves."""
    begin = {"kind": KIND, "version": VERSION, "study": json.loads(codec.dumps(results.study))}
    yield f'{_text(begin)[:-1]},"trials":['.encode()
    for index, record in enumerate(results):
        yield b",\n" if index else b"\n"
        trial = _text(_trial(results, record))
        if what == "trials":
            yield trial.encode()
        else:
            yield f'{trial[:-1]},"curves":{{'.encode()
            yield from _curves(record)
            yield b"}}"
    yield b"\n]}\n"


def number(value: float) -> float | str:
    """A number as JSON can hold it.

    >>> number(0.5), number(float("-inf"))
    (0.5, '-inf')
    """
    return value if math.isfinite(value) else str(value)


def _trial(results: Results, record: TrialRecord) -> dict[str, Any]:
    measure = results.measure(record)
    outcome = record.outcome
    return {
        "trial": record.trial.number,
        "setting": record.trial.setting.config,
        "status": record.status,
        "reason": outcome.reason if outcome else None,
        "value": number(measure.value) if measure else None,
        "step": measure.step if measure else None,
        "seed": record.trial.seed,
        "params": dict(record.trial.config),
        "metrics": {
            name: number(float(curve.values[-1]))
            for name, curve in sorted(record.curves.items())
            if len(curve)
        },
        "origin": json.loads(codec.dumps(record.trial.origin)),
        "code": json.loads(codec.dumps(record.trial.code)),
        "seconds": record.seconds if outcome else None,
        "attempts": [
            {
                "attempt": attempt.number,
                "outcome": json.loads(codec.dumps(attempt.outcome)) if attempt.outcome else None,
                "seconds": attempt.seconds if attempt.outcome else None,
                "resumed_at": attempt.resumed_at,
            }
            for attempt in record.attempts
        ],
    }


def _curves(record: TrialRecord) -> Iterator[bytes]:
    for index, (name, curve) in enumerate(sorted(record.curves.items())):
        yield f'{"," if index else ""}{_text(name)}:{{"steps":['.encode()
        for start in range(0, len(curve), MOST):
            steps = curve.steps[start : start + MOST].tolist()
            yield (("," if start else "") + ",".join(map(str, steps))).encode()
        for column, values in (("values", curve.values), ("seconds", curve.seconds)):
            yield f'],"{column}":['.encode()
            yield from _numbers(values)
        yield b"]}"


def _numbers(values: Floats) -> Iterator[bytes]:
    for start in range(0, len(values), MOST):
        some = values[start : start + MOST].tolist()
        # Python writes a finite number as JSON does, and several times faster than its encoder.
        written = (repr(v) if math.isfinite(v) else f'"{v}"' for v in some)
        yield (("," if start else "") + ",".join(written)).encode()


def _text(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
