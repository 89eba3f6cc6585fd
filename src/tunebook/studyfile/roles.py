"""The playbook's rules of thumb: which part a parameter plays in a first study, by its name.

Parameters of the optimiser and of regularisation are nuisances; what the model is made of is held
until a study asks about it; the batch size is never searched, and the budget is one for all trials.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tunebook.core.errors import StudyError
from tunebook.core.masking import is_secret
from tunebook.core.space import Fixed, Parameter, Role
from tunebook.studyfile import rules
from tunebook.studyfile.rules import PLACE as PLACE
from tunebook.studyfile.rules import Entry as Entry
from tunebook.studyfile.rules import Found as Found
from tunebook.studyfile.rules import Rule


def entries(parameters: Sequence[Found], *, command: bool = False) -> list[Entry]:
    """What a first study does with each parameter; a name that comes again is passed over."""
    lines: dict[tuple[str, str], Entry] = {}
    knobs: list[tuple[int, Entry]] = []
    for parameter in parameters:
        for entry in _choose(parameter, command)(parameter):
            if entry.section == "knobs":
                knobs.append((len(_WORDS.split(parameter.name)), entry))
                continue
            # A parameter stands in one section only; a knob may have its name.
            kind = entry.section if entry.section == PLACE else "parameter"
            lines.setdefault((kind, entry.name if kind != PLACE else str(entry.content)), entry)
    # `batch_size` rather than `teacher.batch_size`, in whichever order they come.
    for _, entry in sorted(knobs, key=lambda knob: knob[0]):
        lines.setdefault(("knobs", entry.name), entry)
    return [*lines.values()]


def _choose(found: Found, command: bool) -> Rule:
    try:
        Parameter(found.name, Role.FIXED, Fixed(None))
    except StudyError:
        return rules.unusable
    values = (found.default, *found.choices)
    if any(isinstance(value, str) and is_secret(found.name, value) for value in values):
        return rules.left("its default looks like a secret, and a study holds none")
    if found.left:
        return rules.left(found.left)
    rule = _rule(found.name.lower().replace("-", "_"), command)
    if command and rule not in _COMMAND_RULES.values():
        if found.switch:
            return rules.switch
        if found.several:
            return rules.left("takes several values")
        if rule not in _SEARCHED and found.default is None and not found.required:
            return rules.left("no default is known")
    return rule or rules.fixed


def _rule(name: str, command: bool) -> Rule | None:
    table = [*_COMMAND_RULES.items(), *_RULES.items()] if command else [*_RULES.items()]
    for names, rule in table:
        if found := re.fullmatch(names, name):
            # `test.batch_size` has no part in training.
            other = _NOT_TRAINING.intersection(_WORDS.split(found["before"] or ""))
            return None if other else rule
    return None


def _table(prefix: str, rows: dict[str, Rule]) -> dict[str, Rule]:
    return {rf"(?P<before>{prefix})?(?:{names})": rule for names, rule in rows.items()}


_WORDS = re.compile(r"[._\-]")
_NOT_TRAINING = frozenset({"test", "eval", "evaluation", "val", "valid", "validation", "dev"})
_NOT_LEARNT = "it does not change what is learnt"
_READ = "where it reads from, and on which machine"
# Whatever stands in front of a name: `adam.learning_rate`, `base_lr`.
_RULES = _table(
    r".*[._]",
    {
        "grad(?:ient)?_?clip(?:ping)?(?:_norm)?|clip(?:_grad)?(?:_norm)?|max_grad_norm": rules.knob(
            "clipping", "held: a remedy for unstable training, not a thing to search"
        ),
        "warmup(?:_steps|_iters|_epochs)?": rules.warmup,
        "lr|learning_?rate": rules.learning_rate,
        "wd|weight_?decay|l2": rules.weight_decay,
        "drop_?out(?:_rate|_prob|_p)?": rules.dropout,
        "label_smoothing": rules.label_smoothing,
        "momentum|beta_?1": rules.momentum,
        "beta_?2|eps(?:ilon)?": rules.later,
        "depth|(?:n_|num_)?(?:layers|blocks|layer)": rules.depth,
        "width|hidden(?:_size|_dim)?|(?:n_|num_)?channels|embed_dim|d_model": rules.width,
        "model|arch(?:itecture)?|activation|norm(?:ali[sz]ation)?": rules.candidate,
        "optimi[sz]er|optim|opt": rules.optimizer,
        "batch_?size|bs": rules.batch_size,
        "(?:n_|num_|max_)?epochs": rules.epochs,
        "eval(?:uation)?_(?:interval|every|freq|steps)": rules.knob(
            "eval_interval", "evaluate by steps, not by time, and equally often in every trial"
        ),
        "(?:lr_)?(?:schedule|scheduler|decay_type)": rules.schedule,
    },
)
# What a program of its own has that a function is given by its run, and what is none of a study's.
_COMMAND_RULES = _table(
    r".*\.",
    {
        "(?:random_|rng_)?seed": rules.place("seed", "equal for paired trials of all settings"),
        "(?:max_|num_|n_|train_|total_|training_)*(?:steps|iters|iterations)": rules.max_steps,
        "(?:out|output|log|save|run|work|results?|exp)_?(?:dir|path|folder)|out|output": (
            rules.place("run_dir", "a fresh folder for each attempt")
        ),
        "checkpoints|(?:checkpoint|ckpt)s?_?(?:dir|path|folder)": rules.place(
            "checkpoint_dir", "stays with the trial, so that it can go on after a crash"
        ),
        "(?:train_|valid_|val_|test_)?data(?:set)?_?(?:dir|path|root|file|folder)|data|root": (
            rules.left(_READ)
        ),
        "device|gpus?|cuda|(?:local|global|node)_rank|world_size|host|port|master_.*": (
            rules.left(_READ)
        ),
        "rank": rules.rank,
        "(?:num_|n_)?(?:workers|threads|procs)|verbose|debug|quiet|resume(?:_from)?|config": (
            rules.left(_NOT_LEARNT)
        ),
        "(?:log|print|save|checkpoint)_?(?:interval|every|freq|steps|level)|wandb.*|project": (
            rules.left(_NOT_LEARNT)
        ),
    },
)
# With a range for those whose default is not known.
_SEARCHED = (
    rules.learning_rate,
    rules.weight_decay,
    rules.dropout,
    rules.label_smoothing,
    rules.momentum,
)
