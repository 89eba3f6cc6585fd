"""Which questions a log could answer: those whose inputs it holds."""

from __future__ import annotations

from tunebook.core.evidence import Evidence
from tunebook.diagnosis.replication import replicated
from tunebook.diagnosis.signals import losses_of, signal

# The least number of trials whose report should leave little unknown.
ENOUGH_TRIALS = 32
# Evaluations in the best trial that questions about curves need.
POINTS = {
    "overfitting": 10,
    "step-budget": 10,
    "improving": 16,
    "saturated": 16,
    "late-variance": 16,
    "periodicity": 36,
}


def is_answerable(evidence: Evidence, key: str) -> bool:
    """Whether a log holds what a question reads. Most say nothing of code, clipping or warmup."""
    knobs = evidence.study.knobs
    if key in POINTS:
        points = [len(losses_of(evidence, arm.best)[0]) for arm in evidence.arms if arm.best]
        return max(points, default=0) >= POINTS[key]
    match key:
        case "code":
            return False
        case "clipping":
            return knobs.clipping is not None
        case "warmup":
            return knobs.warmup_steps is not None
        case "baseline":
            return knobs.chance is not None
        case "validation-size":
            return knobs.valid_examples is not None
        case "trial-variance":
            return bool(replicated(evidence))
        case "stability":
            return knobs.learning_rate is not None
        case "spikes" | "training-loss":
            return signal(evidence, "train_loss") is not None
    return True
