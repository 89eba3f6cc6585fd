"""The questions of the playbook, in the order in which an experienced tuner asks them."""

from __future__ import annotations

from tunebook.core.findings import Question


def _asked(key: str, text: str, anchor: str = "") -> Question:
    return Question(key, text, anchor or key)


# Does the study mean what it says?
BASELINE = _asked("baseline", "Is the baseline clearly better than chance?")
CODE = _asked("code", "Did all trials run the same code?")
ONE_QUESTION = _asked("one-question", "Does the study ask one question?")
TUNED_BUDGET = _asked("tuned-budget", "Is the batch size or the number of steps searched?")
DIMENSIONS = _asked("dimensions", "Are there enough trials for the parameters searched?")
# Was the search good?
SEARCH_SPACE = _asked("search-space", "Is the search space large enough?")
SAMPLED_ENOUGH = _asked("sampled-enough", "Has the space been sampled enough?")
INFEASIBLE = _asked("infeasible", "How much of the space is infeasible, and where?")
NOTHING_MATTERS = _asked("nothing-matters", "Does anything searched matter at all?")
IMPORTANCE = _asked("importance", "Which parameters matter, and which could be fixed?")
# Was the training good?
STABILITY = _asked("stability", "Is the best learning rate at the edge of stability?")
SPIKES = _asked("spikes", "Are there loss spikes or outlier gradients?")
TRAINING_LOSS = _asked("training-loss", "Does the training loss rise?")
CLIPPING = _asked("clipping", "Is clipping too aggressive?")
WARMUP = _asked("warmup", "Is the warmup too long?")
OVERFITTING = _asked("overfitting", "Do trials overfit?")
IMPROVING = _asked("improving", "Are the best trials still improving at the end?")
SATURATED = _asked("saturated", "Did the best trials saturate early?")
STEP_BUDGET = _asked("step-budget", "Is the number of steps right?")
# Can the differences be seen?
LATE_VARIANCE = _asked("late-variance", "Does the metric vary much from step to step at the end?")
VALIDATION_SIZE = _asked("validation-size", "Is the validation set large enough?")
PERIODICITY = _asked("periodicity", "Is the validation metric periodic?")
TRIAL_VARIANCE = _asked("trial-variance", "Is the variance between equal trials known?")
# What was learnt?
FAIRNESS = _asked("fairness", "Was every setting tuned equally well?")
WINNER = _asked("winner", "Which setting wins, and how sure is it?")
CAVEATS = _asked("caveats", "Under which fixed values do the conclusions hold?")
