"""The rules of thumb, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from tunebook.core.domains import Value
from tunebook.studyfile.roles import PLACE, Entry, Found, entries

LOG = {"log": [0.0033, 3.0]}
LEFT = None


def sections(*found: Found, command: bool = False) -> dict[str, dict[str, Any]]:
    lines = entries(found, command=command)
    return {
        s: {e.name: e.content for e in lines if e.section == s} for s in {e.section for e in lines}
    }


@pytest.mark.parametrize(
    ("name", "default", "expected"),
    [
        ("lr", 0.1, {"nuisance": {"lr": LOG}, "knobs": {"learning_rate": "lr"}}),
        ("base-lr", 0.1, {"nuisance": {"base-lr": LOG}, "knobs": {"learning_rate": "base-lr"}}),
        ("learningrate", None, {"nuisance": {"learningrate": {"log": [3.3e-5, 0.03]}},
                                "knobs": {"learning_rate": "learningrate"}}),
        ("weight_decay", 0.0, {"nuisance": {"weight_decay": {"log": [3.3e-6, 0.003]}}}),
        ("dropout_rate", 0.1, {"nuisance": {"dropout_rate": {"linear": [0, 0.5], "limit": "low"}}}),
        ("label_smoothing", 0.1,
         {"nuisance": {"label_smoothing": {"linear": [0, 0.2], "limit": "low"}}}),
        ("momentum", 0.9, {"nuisance": {"one_minus_momentum": {"log": [0.005, 0.5]}},
                           "derive": {"momentum": "1 - one_minus_momentum"}}),
        ("adam.beta1", 0.9, {"nuisance": {"adam.one_minus_beta1": {"log": [0.005, 0.5]}},
                             "derive": {"adam.beta1": "1 - adam.one_minus_beta1"}}),
        ("beta2", 0.999, {"fixed": {"beta2": 0.999}}),
        ("epsilon", 1e-8, {"fixed": {"epsilon": 1e-8}}),
        ("num_layers", 3, {"fixed": {"num_layers": 3}}),
        ("hidden_size", 64, {"fixed": {"hidden_size": 64}}),
        ("activation", "relu", {"fixed": {"activation": "relu"}}),
        ("optimizer", "adam", {"fixed": {"optimizer": "adam"}}),
        ("batch_size", 32, {"fixed": {"batch_size": 32}, "knobs": {"batch_size": "batch_size"}}),
        ("batch_size", None, {"fixed": {"batch_size": LEFT}}),
        ("batch_size", "auto", {"fixed": {"batch_size": "auto"}}),
        ("batch_size", True, {"fixed": {"batch_size": True}}),
        ("epochs", "500 steps", {"fixed": {"epochs": "500 steps"}}),
        ("max_epochs", -1, {"fixed": {"max_epochs": -1}}),
        ("grad_clip", "none", {"fixed": {"grad_clip": "none"}}),
        ("eval_every", "500 steps", {"fixed": {"eval_every": "500 steps"}}),
        ("lr_schedule", 3, {"fixed": {"lr_schedule": 3}}),
        ("learning_rate_warmup", 0.1, {"fixed": {"learning_rate_warmup": 0.1}}),
        ("learning_rate_warmup", 5, {"fixed": {"learning_rate_warmup": 5}}),
        ("warmup_epochs", 5, {"fixed": {"warmup_epochs": 5}}),
        ("warmup", 0.1, {"fixed": {"warmup": 0.1}}),
        ("lr-warmup-steps", 10, {"fixed": {"lr-warmup-steps": 10},
                                 "knobs": {"warmup_steps": "lr-warmup-steps"}}),
        ("test.batch_size", 32, {"fixed": {"test.batch_size": 32}}),
        ("per-device-eval-batch-size", 8, {"fixed": {"per-device-eval-batch-size": 8}}),
        ("val_lr", 0.1, {"fixed": {"val_lr": 0.1}}),
        ("test.steps", 100, {"fixed": {"test.steps": 100}}),
        ("warmup_steps", 10, {"fixed": {"warmup_steps": 10},
                              "knobs": {"warmup_steps": "warmup_steps"}}),
        ("epochs", 5, {"fixed": {"epochs": 5}, "knobs": {"steps": "epochs",
                                                         "steps_unit": "epochs"}}),
        ("max_grad_norm", 1.0, {"fixed": {"max_grad_norm": 1.0},
                                "knobs": {"clipping": "max_grad_norm"}}),
        ("eval_interval", 50, {"fixed": {"eval_interval": 50},
                               "knobs": {"eval_interval": "eval_interval"}}),
        ("lr_schedule", "cosine", {"fixed": {"lr_schedule": "cosine"},
                                   "knobs": {"schedule": "lr_schedule"}}),
        ("anything", 1, {"fixed": {"anything": 1}}),
    ],
)  # fmt: skip
def test_for_every_program(name: str, default: Value, expected: dict[str, Any]) -> None:
    assert sections(Found(name, default)) == expected
    assert sections(Found(name, default), command=True) == expected


@pytest.mark.parametrize(
    ("name", "default", "section", "content"),
    [
        ("seed", 0, PLACE, "seed"),
        ("trainer.seed", 0, PLACE, "seed"),
        ("max_steps", 100, PLACE, "max_steps"),
        ("num_train_steps", 100, PLACE, "max_steps"),
        ("iters", 100, PLACE, "max_steps"),
        ("max_steps", -1, "fixed", LEFT),
        ("output_dir", "out", PLACE, "run_dir"),
        ("logdir", None, PLACE, "run_dir"),
        ("checkpoint_dir", None, PLACE, "checkpoint_dir"),
        ("checkpoints", None, PLACE, "checkpoint_dir"),
        ("data_dir", "data", "fixed", LEFT),
        ("num_workers", 4, "fixed", LEFT),
        ("device", "cuda", "fixed", LEFT),
        ("local_rank", 1, "fixed", LEFT),
        ("node-rank", 0, "fixed", LEFT),
        ("world_size", 1, "fixed", LEFT),
        ("rank", 0, "fixed", LEFT),
        ("rank", -1, "fixed", LEFT),
        ("rank", None, "fixed", LEFT),
        ("rank", 8, "fixed", 8),
        ("lora.rank", 8, "fixed", 8),
        ("log_interval", 10, "fixed", LEFT),
        ("wandb_project", "x", "fixed", LEFT),
        ("anything", None, "fixed", LEFT),
    ],
)
def test_for_commands(name: str, default: Value, section: str, content: str | None) -> None:
    (entry,) = entries([Found(name, default)], command=True)
    assert (entry.section, entry.content) == (section, content)
    assert entry.comment


def test_what_a_rank_was_taken_for_is_said() -> None:
    comments = [
        entry.comment for n in (0, 8) for entry in entries([Found("rank", n)], command=True)
    ]
    assert comments == [
        "left to the program: taken for the number of a process; if it is a size, as of LoRA, "
        "write its value",
        "taken for a size, as of LoRA; if it numbers a process, remove it",
    ]


def test_a_function_is_given_these_by_its_run() -> None:
    assert sections(Found("seed", 0), Found("device", "cpu")) == {
        "fixed": {"seed": 0, "device": "cpu"}
    }


def test_options_that_cannot_be_set() -> None:
    switch, several = Found("amp", False, switch=True), Found("betas", several=True)
    assert [entry.comment for entry in entries([switch, several], command=True)] == [
        "a switch, as the program has it: to turn it, add its option to the command",
        "left to the program: takes several values",
    ]


def test_what_must_be_given_is_asked_for() -> None:
    (entry,) = entries([Found("kind", required=True)], command=True)
    assert entry == Entry(
        "fixed", "kind", None, "no default was found: write its value, or remove it"
    )


@pytest.mark.parametrize(
    ("found", "comment"),
    [
        (Found("depth", 2), "to ask about it, move it: scientific: {depth: [2, 3]}"),
        (Found("width", 64), "to ask about it, move it: scientific: {width: [64, 128]}"),
        (
            Found("activation", "relu", ("relu", "gelu")),
            "to ask about it, move it: scientific: {activation: [relu, gelu]}",
        ),
        (Found("opt", "sgd"), "to ask about it, move it: scientific: {opt: [sgd, adam]}"),
        (Found("padding", "same", ("same", "valid")), "one of [same, valid]"),
    ],
)
def test_how_to_ask_about_it(found: Found, comment: str) -> None:
    assert entries([found])[0].comment == comment


def test_a_place_is_filled_once() -> None:
    lines = entries([Found("steps", 5), Found("max_steps", 9)], command=True)
    assert [(line.name, line.content) for line in lines] == [("steps", "max_steps")]


def test_the_plainest_name_is_the_knob() -> None:
    several = [Found("teacher.batch_size", 8), Found("test.batch_size", 9), Found("batch_size", 7)]
    for order in (several, several[::-1]):
        found = sections(*order)
        assert found["knobs"] == {"batch_size": "batch_size"}
        assert found["fixed"] == {one.name: one.default for one in order}


@pytest.mark.parametrize("name", ["batch_size", "warmup_steps", "epochs", "grad_clip", "schedule"])
def test_no_value_is_invented_for_a_command(name: str) -> None:
    assert entries([Found(name)], command=True) == [
        Entry("fixed", name, None, "left to the program: no default is known")
    ]
    assert entries([Found(name, required=True)], command=True) == [
        Entry("fixed", name, None, "no default was found: write its value, or remove it")
    ]


@pytest.mark.parametrize("command", [True, False])
@pytest.mark.parametrize(
    "found",
    [
        Found("api_key", "sk-abcdefghijklmnop"),
        Found("password", "hunter2", required=True),
        Found("api_key", None, ("sk-abcdefghijklmnop", "sk-qrstuvwxyzabcdef")),
    ],
)
def test_a_secret_is_left_to_the_program(found: Found, command: bool) -> None:
    assert entries([found], command=command) == [
        Entry(
            "fixed",
            found.name,
            None,
            "left to the program: its default looks like a secret, and a study holds none",
        )
    ]


def test_why_an_option_is_left() -> None:
    (entry,) = entries([Found("fast", False, left="it is odd")], command=True)
    assert (entry.content, entry.comment) == (None, "left to the program: it is odd")
