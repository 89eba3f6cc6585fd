"""Scripts that are asked for their options."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from tunebook.app import scripts
from tunebook.core.errors import ProgramError
from tunebook.studyfile.roles import Found

HEAD = "import argparse, sys, time, pathlib\nparser = argparse.ArgumentParser()\n"


def script(source: str, *arguments: str) -> list[str]:
    """A command of a script in the current folder."""
    Path("train.py").write_text(HEAD + textwrap.dedent(source))
    return [sys.executable, "train.py", *arguments]


def test_help_is_completed_by_the_source(here: Path) -> None:
    command = script(
        """
        parser.add_argument("--lr", type=float, default=0.1)
        parser.add_argument("--name", default="1", help="a text (default: %(default)s)")
        globals()["parser"].add_argument("--" + "hidden", default=3, help="(default: 3)")
        parser.parse_args()
        """
    )
    found = scripts.examine(command)
    assert found.style == "dashes"
    assert found.options == {
        "--lr": Found("lr", 0.1),
        "--name": Found("name", "1"),
        "--hidden": Found("hidden", 3),
    }


def test_what_the_command_sets_is_left_alone(here: Path) -> None:
    source = "parser.add_argument('--lr')\nparser.add_argument('--max_norm')\nparser.parse_args()"
    found = scripts.examine(script(source, "--lr=3"))
    assert [*found.options] == ["--max_norm"]
    assert found.style == "equals"


def test_a_script_gets_no_shell_no_input_and_room(here: Path) -> None:
    command = script(
        "pathlib.Path('said').write_text(repr((sys.argv[1:], sys.stdin.read())))\n"
        "parser.add_argument('--a-rather-long-name', help='word ' * 20 + '(default: 7)')\n"
        "parser.parse_args(['--help'])",
        "$(touch hostile)",
    )
    assert scripts.examine(command).options["--a-rather-long-name"].default == 7
    assert Path("said").read_text() == repr((["$(touch hostile)", "--help"], ""))
    assert not Path("hostile").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module", "ends with exit code 1:\n"),
        ("sys.exit(3)", "train.py --help ends with exit code 3"),
        ("import os\nos.environ['LR']\nimport json.no", "ends with exit code 1:\n"),
        ("time.sleep(600)", "train.py --help has not ended after 0.5 s; does the script know --he"),
        ("while True: print('x' * 1000)", "train.py --help prints without end; does the script"),
    ],
)
def test_a_script_that_does_not_answer(
    here: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str
) -> None:
    monkeypatch.setenv("LR", "1")
    if "sleep" in source:
        monkeypatch.setattr(scripts, "_SECONDS", 0.5)
        source = f"import os\npathlib.Path('pid').write_text(str(os.getpid()))\n{source}"
    with pytest.raises(ProgramError) as caught:
        scripts.examine(script(source))
    assert message in str(caught.value)
    if "no_such" in source:
        assert str(caught.value).endswith("ModuleNotFoundError: No module named 'no_such_module'")
    if Path("pid").exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(Path("pid").read_text()), 0)


def test_a_program_that_cannot_be_started(here: Path) -> None:
    with pytest.raises(ProgramError, match="there is no program 'no-such' on the PATH"):
        scripts.examine(["no-such", "train.py"])
    Path("broken").write_text("\x7fELF")
    Path("broken").chmod(0o755)
    with pytest.raises(ProgramError, match=r"no program 'broken' on the PATH; write '\./broken'"):
        scripts.examine(["broken"])
    with pytest.raises(ProgramError, match=r"cannot start '\./broken': Exec format error"):
        scripts.examine(["./broken"])


def test_the_source_of_a_command(here: Path) -> None:
    Path("package").mkdir()
    for name in ("train.py", "package/one.py", "package/__main__.py"):
        Path(name).touch()
    for words, path in (
        ("python train.py", "train.py"),
        ("torchrun --nproc-per-node=2 train.py --x", "train.py"),
        ("python -m package.one", "package/one.py"),
        ("python -m package", "package/__main__.py"),
        ("python -m elsewhere", None),
        ("bash train.sh", None),
    ):
        assert scripts.source_of(words.split()) == (Path(path) if path else None), words


@pytest.mark.parametrize(
    ("source", "is_script"),
    [
        ("import argparse", True),
        ("from absl import flags", True),
        ("from hydra.core import config_store", True),
        ("if __name__ == '__main__':\n    main()", True),
        ("def train(run): ...", False),
        ("def :", False),
    ],
)
def test_a_script_is_told_from_a_module(here: Path, source: str, is_script: bool) -> None:
    Path("train.py").write_text(source)
    assert scripts.has_options(Path("train.py")) is is_script


@pytest.mark.parametrize(
    ("arguments", "lacking"),
    [
        ((), ("data", "{a,b}", "files")),
        (("images",), ("{a,b}", "files")),
        (("--lr", "3", "images", "--amp", "a"), ("files",)),
        (("--lr=3", "images", "a", "x", "y"), ()),
    ],
)
def test_arguments_without_a_name(
    here: Path, arguments: tuple[str, ...], lacking: tuple[str, ...]
) -> None:
    source = """
        parser.add_argument("data")
        parser.add_argument("kind", choices=["a", "b"])
        parser.add_argument("opt", nargs="?")
        parser.add_argument("files", nargs="+")
        parser.add_argument("--betas", nargs=2, required=True)
        parser.add_argument("--lr", default=0.1)
        parser.add_argument("--amp", action="store_true")
        parser.parse_args()
        """
    assert scripts.examine(script(source, *arguments)).lacking == lacking


def test_words_for_a_module_and_for_a_script_of_its_own(here: Path) -> None:
    Path("train.py").touch()
    Path("data.csv").touch()
    for words in ("python -m train data.csv", "./train.py data.csv", "python -O train.py data.csv"):
        assert scripts._given_words(words.split(), {}) == ["data.csv"], words


def test_a_shell_script_that_does_not_know_help_is_not_run(here: Path) -> None:
    Path("train.sh").write_text('touch ran\necho "$LR ${WD:-0.1}"\n')
    found = scripts.examine(["sh", "train.sh"])
    assert (found.style, found.options) == ("environment", {})
    assert found.variables == {"LR": Found("lr", required=True), "WD": Found("wd", 0.1)}
    assert not Path("ran").exists()
    with pytest.raises(ProgramError, match="there is no program 'no-such' on the PATH"):
        scripts.examine(["no-such", "train.sh"])


def test_a_shell_script_that_hands_its_arguments_on_is_asked(here: Path) -> None:
    script("parser.add_argument('--lr', default=0.1)\nparser.parse_args()")
    Path("train.sh").write_text(f'exec {sys.executable} train.py "$@"\n')
    assert scripts.examine(["sh", "train.sh"]).options == {"--lr": Found("lr")}
    Path("train.sh").write_text('echo "$@" "$LR"\nexit 3\n')
    assert [*scripts.examine(["sh", "train.sh"]).variables] == ["LR"]


@pytest.mark.parametrize(
    "source", ["os.environ['LR']", "os.environ.get('LR')", "print('no options', os.getenv('LR'))"]
)
def test_a_python_script_without_options(
    here: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.delenv("LR", raising=False)
    found = scripts.examine(script(f"import os\n{source}"))
    assert (found.style, found.options) == ("environment", {})
    assert found.variables == {"LR": Found("lr", required=True)}
