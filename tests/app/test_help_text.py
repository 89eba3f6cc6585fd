"""Options, read from the help of each library."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.app import help_text
from tunebook.studyfile.roles import Found

CLICK = """\
Usage: train.py [OPTIONS]

  Train it.

Options:
  --lr FLOAT              How fast.  [default: 0.1]
  -b, --batch-size INTEGER RANGE  [default: 64; x>=1]
  --opt [sgd|adam]        [default: sgd]
  --amp / --no-amp
  --data PATH             [required]
  --help                  Show this message and exit.
"""
TYPER = """\
╭─ Options ─────────────────────────────────────────────────────────────────╮
│    --lr                        <float>        [default: 0.1]              │
│    --opt                       <sgd|adam>     [default: sgd]              │
│    --amp           --no-amp    <bool>         [default: no-amp]           │
│ *  --data                      <str>          where [required]            │
│    --betas                     <list[float]>  [default: 0.9]              │
│    --help                      <bool>         Show this message and exit. │
╰───────────────────────────────────────────────────────────────────────────╯
"""
ABSL = """\
Train it.
flags:

train.py:
  --[no]amp: Use it.
    (default: 'false')
  --learning_rate: How fast.
    (default: '0.1')
    (a number)
  --name: A text.
    (default: '')

Try --helpfull to get a list of all flags.
"""
HYDRA = """\
train is powered by Hydra.

== Configuration groups ==
Compose your configuration from those groups (group=option)



== Config ==
Override anything in the config (foo.bar=value)

model:
  degree: 1
  sizes: [1, 2]
lr: 0.1
data: ???
out: ${model.degree}
none: null


Powered by Hydra (https://hydra.cc)
Use --hydra-help to view Hydra specific help
"""


@pytest.mark.parametrize("wide", ["60", "200"])
def test_argparse(monkeypatch: pytest.MonkeyPatch, wide: str) -> None:
    monkeypatch.setenv("COLUMNS", wide)
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("-l", "--learning-rate", type=float, default=0.1, help="how fast (please)")
    parser.add_argument("--opt", choices=["sgd", "adam"], default="sgd", help="which")
    parser.add_argument("--amp", action="store_true", help="mixed")
    parser.add_argument(
        "--ema", action=argparse.BooleanOptionalAction, default=True, help="average"
    )
    parser.add_argument("--betas", nargs=2, type=float, default=(0.9, 0.999), help="two")
    parser.add_argument("--data", required=True, help="where it is")
    parser.add_argument("--level", type=int, choices=[1, 2], help="a level")
    assert help_text.options(parser.format_help()) == {
        "--learning-rate": Found("learning_rate", 0.1),
        "--opt": Found("opt", "sgd", ("sgd", "adam")),
        "--amp": Found("amp", False, switch=True),
        "--ema": Found("ema", True, switch=True),
        "--betas": Found("betas", several=True),
        "--data": Found("data", required=True),
        "--level": Found("level", None, (1, 2)),
    }


def test_a_line_of_usage_is_not_an_option() -> None:
    text = """\
usage: train.py [-h] [--lr LR]
                --data DATA [--level {1,2}]

options:
  --lr LR
  --data DATA
  --level {1,2}
"""
    assert help_text.options(text) == {
        "--lr": Found("lr"),
        "--data": Found("data", required=True),
        "--level": Found("level", None, (1, 2)),
    }


def test_click() -> None:
    assert help_text.options(CLICK) == {
        "--lr": Found("lr", 0.1),
        "--batch-size": Found("batch_size", 64),
        "--opt": Found("opt", "sgd", ("sgd", "adam")),
        "--amp": Found("amp", switch=True),
        "--data": Found("data", required=True),
    }


def test_typer() -> None:
    found = help_text.options(TYPER)
    assert found["--lr"] == Found("lr", 0.1)
    assert found["--opt"] == Found("opt", "sgd", ("sgd", "adam"))
    assert found["--amp"].switch
    assert found["--data"] == Found("data", required=True)
    assert found["--betas"].several
    assert "--help" not in found


def test_absl() -> None:
    assert help_text.options(ABSL) == {
        "--amp": Found("amp", False, switch=True),
        "--learning_rate": Found("learning_rate", 0.1),
        "--name": Found("name", ""),
    }


def test_hydra() -> None:
    assert help_text.hydra(HYDRA) == {
        "model.degree": Found("model.degree", 1),
        "model.sizes": Found("model.sizes", several=True),
        "lr": Found("lr", 0.1),
        "data": Found("data", required=True),
        "out": Found("out"),
        "none": Found("none"),
    }
    assert help_text.hydra(CLICK) is None
    assert help_text.hydra(HYDRA.replace("lr: 0.1", "lr: [")) == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("inf", None),
        ("nan", None),
        ("-3", -3),
        ("'1'", 1),
        ("FALSE", False),
        ("a b", "a b"),
        ("", None),
        ("(4*64)", 256),
        ("2**5", 32),
        ("(0.9, 0.999)", None),
        ("(dynamic)", None),
        ("16GB", "16GB"),
        ("500 steps", "500 steps"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_defaults(text: str, value: Any) -> None:
    assert help_text.value_of(text) == value


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("--hidden-sizes 128,64  widths", Found("hidden_sizes")),
        ("--hidden-sizes 128,64  widths (default: 32,16)", Found("hidden_sizes", "32,16")),
        ("-s 128,64, --sizes 128,64  widths", Found("sizes")),
        ("--data path/to/it", Found("data")),
        ("--amp / --no-amp", Found("amp", switch=True)),
        ("--amp, --no-amp", Found("amp", switch=True)),
        ("-v, --verbose", Found("verbose", switch=True)),
        ("--fast FAST  be so (default: False)", Found("fast", False)),
        ("--width INTEGER  [default: (4*64)]", Found("width", 256)),
        ("--memory SIZE  [default 16GB]", Found("memory", "16GB")),
        ("--memory SIZE  how much, default 16GB", Found("memory")),
        ("--lr LR\thow fast (default: 0.1)", Found("lr", 0.1)),
        ("--rate\tLR\thow fast (default: 0.1)", Found("rate", 0.1)),
        (f"--{'a' * 60}\tis it fast", Found("a" * 60, switch=True)),
    ],
)
def test_kinds_of_options(line: str, found: Found) -> None:
    assert [*help_text.options(f"options:\n  {line}\n").values()] == [found]


def test_a_line_that_is_no_option_is_read_once() -> None:
    """To try every way to part its letters would take longer than anybody waits."""
    assert help_text.options(f"options:\n  --{'x' * 60}\xa0how fast\n") == {}


@pytest.mark.parametrize(
    ("usage", "needed"),
    [
        ("usage: x.py [-h] data", ("data",)),
        ("usage: python -m x [-h] [--lr LR] data [more ...]", ("data",)),
        ("usage: x.py [-h] --kind KIND data files [files ...]", ("data", "files")),
        ("usage: x.py [-h] --betas B B\n            pair pair", ("pair",)),
        ("usage: x.py [-h] (--a A | --b B)", ()),
        ("usage: x.py [-h] {train,test} ...", ("{train,test}",)),
        ("Usage: x.py [OPTIONS] DATA [MORE]...", ("DATA",)),
        ("Usage: x.py [OPTIONS] <data>", ("data",)),
        ("USAGE: x.py [flags]", ()),
        ("usage: x.py [-h] [--lr LR]", ()),
        ("no line of it", ()),
    ],
)
def test_arguments_without_a_name(usage: str, needed: tuple[str, ...]) -> None:
    assert help_text.positional(f"{usage}\n\noptions:\n  --lr LR\n") == needed


@given(st.text(st.sampled_from(" \t-\n[](){}<>|=:'\"│abAB09.,*/"), max_size=80))
def test_no_text_is_too_strange(text: str) -> None:
    for flag, found in help_text.options(f"usage: x\n\n  {text}").items():
        assert found.name == help_text.name_of(flag)
    help_text.positional(f"usage: x {text}")
