"""What the source of a script declares."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tunebook.app.declared import Declared, declared
from tunebook.studyfile.roles import Found

EVERY_TEXT = "it takes a value, and argparse takes every text but an empty one for true"


def read(folder: Path, source: str) -> Declared:
    (folder / "train.py").write_text(textwrap.dedent(source))
    return declared(folder / "train.py")


def test_options_of_argparse(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        parser.add_argument("-l", "--lr", type=float, default=0.1)
        parser.add_argument("--opt", choices=["sgd", "adam"], default="sgd")
        parser.add_argument("--amp", action="store_true")
        parser.add_argument("--ema", action=argparse.BooleanOptionalAction)
        parser.add_argument("--fast", type=bool, default=False)
        parser.add_argument("--betas", nargs="+", type=float)
        parser.add_argument("--data", required=True)
        parser.add_argument("--width", default=8 * 4)
        parser.add_argument("--size", default=size())
        parser.add_argument("file")
        """,
    )
    assert found.options == {
        "--lr": Found("lr", 0.1),
        "--opt": Found("opt", "sgd", ("sgd", "adam")),
        "--amp": Found("amp", switch=True),
        "--ema": Found("ema", switch=True),
        "--fast": Found("fast", False, left=EVERY_TEXT),
        "--betas": Found("betas", several=True),
        "--data": Found("data", required=True),
        "--width": Found("width", 32),
        "--size": Found("size"),
    }


def test_options_of_click_and_absl(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        @click.option("--lr", default=0.1)
        @click.option("--amp/--no-amp", default=True)
        @click.option("--dry", is_flag=True)
        @click.option("--fast", type=bool, default=False)
        def main(lr, amp, dry): ...

        flags.DEFINE_float("decay", 1e-4, "How much.")
        flags.DEFINE_boolean("bias", True, "With it.")
        flags.DEFINE_list("sizes", ["1"], "All of them.")
        """,
    )
    assert found.options == {
        "--lr": Found("lr", 0.1),
        "--amp": Found("amp", True, switch=True),
        "--dry": Found("dry", switch=True),
        "--fast": Found("fast", False),
        "--decay": Found("decay", 1e-4),
        "--bias": Found("bias", True, switch=True),
        "--sizes": Found("sizes", several=True),
    }


@pytest.mark.parametrize(
    ("source", "metrics", "place"),
    [
        ("tunebook.log({'loss': 1, 'valid/error': 2}, step=3)", ("loss", "valid/error"), None),
        ("writer.add_scalar('val/acc', 1, 2)", ("val/acc",), {"tensorboard": "{run_dir}"}),
        (
            "print(json.dumps({'step': 1, 'loss': 2}))",
            ("loss",),
            {"json_lines": "stdout"},
        ),
        (
            "row = {'step': 1, 'loss': 2}\nopen('m.jsonl').write(json.dumps(row))",
            ("loss",),
            {"json_lines": "{run_dir}/m.jsonl"},
        ),
        (
            "print(f'Epoch [{epoch}/{n}] train loss: {a:.3f} (val_acc={b}) in {t}s')",
            ("train_loss", "val_acc"),
            {
                "pattern": r"Epoch \[(?P<step>\d+)/\S+\] train loss: (?P<train_loss>[-+.\deinfa]+) "
                r"\(val_acc=(?P<val_acc>[-+.\deinfa]+)"
            },
        ),
        (
            "print(f'iter {i}: loss {x}')",
            ("loss",),
            {"pattern": r"iter (?P<step>\d+): loss (?P<loss>[-+.\deinfa]+)"},
        ),
        ("print('done', 1)", (), {}),
        ("print(f'{x}')", (), {}),
        ("print(json.dumps({'a': 1}))", (), {}),
    ],
)  # fmt: skip
def test_where_metrics_go(
    tmp_path: Path, source: str, metrics: tuple[str, ...], place: dict[str, Any] | None
) -> None:
    found = read(tmp_path, source)
    assert (found.metrics, found.source) == (metrics, place)


@pytest.mark.parametrize("end", ["%", "s", ")", ", then more", ""])
def test_numbers_are_found_whatever_follows(tmp_path: Path, end: str) -> None:
    source = read(tmp_path, f"print(f'step {{i}}: loss {{x}}{end}')").source
    assert source is not None
    for value in ("0.25", "-1e-05", "nan", "inf"):
        found = re.search(source["pattern"], f"step 3: loss {value}{end}")
        assert found is not None
        assert found.groupdict() == {"step": "3", "loss": value}


def test_what_cannot_be_read_declares_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "def :") == Declared()
    assert declared(tmp_path / "none.py") == Declared()
