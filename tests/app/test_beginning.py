"""First study files, for functions and for scripts."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from fake_devices import FakeSmi
from tunebook import studyfile
from tunebook.app import beginning, start, workflow
from tunebook.core.commands import Command
from tunebook.core.domains import Float
from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.objective import Metric
from tunebook.core.space import Fixed

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(wish: start.Wish) -> None:
    ending, _ = start.run_file(wish, Path("book"), workflow.Options(inline=True), quiet=True)
    assert ending.done


def test_the_first_study_file_runs(here: Path) -> None:
    (here / "train.py").write_text(
        "def train(run):\n"
        "    for step in range(int(run.budget.amount) // 100):\n"
        "        loss = (run['lr'] - 0.1) ** 2 + run.params.get('dropout', 0.1)\n"
        "        run.log({'train/loss': loss, 'val_acc': 1 - loss}, step=step)\n"
    )
    begun = beginning.write_study_file(["train.py:train"], force=False)
    path, lacking = begun.path, [*begun.lacking]
    study = studyfile.read(path)
    assert (path, lacking) == (Path("train.yaml"), [])
    assert study.objective.metric == Metric("val_acc", "higher")
    assert set(study.space.names) == {"lr", "dropout"}
    run(start.Wish(path, trials=2))


@pytest.mark.parametrize(("uuids", "expected"), [(["GPU-8a1f"], 1), ([], 0)])
def test_accelerators_that_are_there_are_asked_for(
    toy: Path, monkeypatch: pytest.MonkeyPatch, uuids: list[str], expected: int
) -> None:
    smi = FakeSmi(toy / "smi", uuids)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setenv("PATH", f"{smi.folder}:{os.environ['PATH']}")
    (toy / "script.py").write_text("import argparse\nargparse.ArgumentParser().parse_args()\n")
    for words in (["train.py:train"], [sys.executable, "script.py"]):
        path = beginning.write_study_file(words, Path("first.yaml"), force=True).path
        assert studyfile.read(path).resources.gpus == expected


def test_a_study_file_elsewhere_still_finds_its_program(toy: Path) -> None:
    begun = beginning.write_study_file(
        ["train.py:train"], Path("studies/first.yaml"), "first", force=False
    )
    path, lacking = begun.path, [*begun.lacking]
    study = start.read_study(path)
    assert (study.name, study.program, lacking) == ("first", "../train.py:train", ["model"])
    assert start.program_of(study).load()


def test_what_is_there_is_not_overwritten(toy: Path) -> None:
    (toy / "train.yaml").write_text("mine")
    with pytest.raises(StudyError, match=r"train\.yaml exists; choose another with --output"):
        beginning.write_study_file(["train.py:train"], None, None, force=False)
    assert (toy / "train.yaml").read_text() == "mine"
    beginning.write_study_file(["train.py:train"], None, None, force=True)
    assert studyfile.read(toy / "train.yaml").name == "train"


def test_a_first_study_file_needs_a_file_and_a_name(toy: Path) -> None:
    for reference in ("none.py:train", "package.module:train"):
        with pytest.raises(ProgramError, match=r"there is no file .* here; write FILE.py:FUNCTION"):
            beginning.write_study_file([reference], None, None, force=False)
    with pytest.raises(StudyError, match=r"a b\.yaml:\d+: .*'a b' cannot name a study"):
        beginning.write_study_file(["train.py:train"], None, "a b", force=False)
    assert not (toy / "a b.yaml").exists()


def test_a_signature_with_defaults_is_told_of_and_runs(here: Path) -> None:
    source = (
        "def train(run, lr=0.1, layers=3, api_key='sk-abcdefghijklmnop', data=None):\n"
        "    run.log({'valid/error': lr * layers}, step=1)\n"
    )
    (here / "train.py").write_text(source)
    begun = beginning.write_study_file(["train.py:train"], force=False)
    assert begun.warnings == (
        "train.py:train is called with the run alone: the defaults in its signature stay in force "
        "(lr=0.1, layers=3, api_key, data). To make one a parameter, read run['lr'] in the "
        "function, and take the '#' from its line in the file.",
    )
    content = begun.path.read_text()
    assert (
        "# It is called with the run alone, so that these of its arguments keep their defaults: "
        "lr, layers, api_key, data.\n"
        "# To make one a parameter, read run[\"lr\"] in the function, and take the '#' from its "
        "line.\n"
    ) in content
    lines = ["  # lr: {log: [0.0033, 3.0]}", "  # layers: 3", "  # learning_rate: lr"]
    assert all(f"\n{line}" in content for line in lines)
    assert "sk-" not in content
    assert studyfile.read(begun.path).space.names == ()
    run(start.Wish(begun.path, trials=1))
    for line in lines:
        content = content.replace(line, line.replace("# ", ""))
    study = studyfile.parse(content)
    assert study.space["lr"].source == Float(0.0033, 3.0, log=True)
    assert study.space["layers"].source == Fixed(3)
    assert study.knobs.learning_rate == "lr"


def test_a_script_with_argparse_runs_as_it_was_written(here: Path) -> None:
    shutil.copy(EXAMPLES / "command_argparse.py", "train.py")
    begun = beginning.write_study_file(["train.py"], force=False)
    assert (begun.form, begun.program, begun.lacking) == ("command", "python train.py", ())
    study = studyfile.read(begun.path)
    assert study.command == Command(
        (
            *("python", "train.py", "--steps={max_steps}", "--seed={seed}"),
            *("--checkpoints={checkpoint_dir}", "{overrides}"),
        ),
        patterns=(
            r"step (?P<step>\d+): loss (?P<loss>[-+.\deinfa]+), valid (?P<valid>[-+.\deinfa]+)",
        ),
    )
    assert study.objective.metric == Metric("valid")
    assert study.budget is not None
    assert study.budget.amount == 100
    assert study.space["lr"].source == Float(3.3e-5, 0.03, log=True)
    assert study.space["degree"].source == Fixed(1)
    use_this_python(begun.path)
    run(start.Wish(begun.path, trials=2))
    assert workflow.results("train", Path("book")).counts() == {"complete": 2}


def test_a_script_with_hydra_runs_as_it_was_written(here: Path) -> None:
    shutil.copy(EXAMPLES / "command_hydra.py", "train.py")
    begun = beginning.write_study_file([sys.executable, "train.py"], force=False)
    study = studyfile.read(begun.path)
    assert study.command is not None
    assert (study.command.overrides, study.name) == ("hydra", "train")
    assert study.command.arguments[1:] == (
        *("train.py", "steps={max_steps}", "seed={seed}", "hydra.run.dir='{run_dir}'"),
        "{overrides}",
    )
    assert study.space["model.basis"].source == Fixed("powers")
    assert study.objective.metric == Metric("valid/loss")
    run(start.Wish(begun.path, trials=2))
    assert workflow.results("train", Path("book")).counts() == {"complete": 2}


def test_a_command_keeps_its_own_arguments(here: Path) -> None:
    (here / "train.py").write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--data', required=True)\n"
        "parser.add_argument('--kind', required=True)\n"
        "parser.add_argument('--momentum', type=float, default=0.9)\n"
        "parser.parse_args()\n"
    )
    command = [sys.executable, "train.py", "--data", "{here}"]
    begun = beginning.write_study_file(command, Path("studies/a.yaml"), "first", force=False)
    study = studyfile.read(begun.path)
    assert study.command is not None
    assert study.command.arguments[1:] == ("../train.py", "--data", "{{here}}", "{overrides}")
    assert study.command.without == ("one_minus_momentum",)
    assert set(study.space.names) == {"momentum", "one_minus_momentum"}
    assert (study.name, begun.lacking, begun.metric) == ("first", ("kind",), False)
    assert "\n  # kind:   # no default was found: write its value, or remove it\n" in (
        begun.path.read_text()
    )


def test_which_is_meant(here: Path) -> None:
    function = "def train(run):\n    return run['lr']\n"
    script = "import argparse\nargparse.ArgumentParser().add_argument('--lr')\n"
    for content, form in (
        (function, "train.py:train"),
        (function + script, "train.py:train"),
        ("def train(run):\n    pass\n", "train.py:train"),
        ("def train(model, data):\n    pass\n" + script, None),
        ("def train(model):\n    pass\n" + script, None),
        ("if __name__ == '__main__':\n    pass\n", None),
    ):
        (here / "train.py").write_text(content)
        assert beginning._function(["train.py"]) == form, content
    assert beginning._function(["python", "train.py"]) is None
    assert beginning._function(["sh"]) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a training function, FILE.py:FUNCTION, or a command after --: tunebook init"),
        (["none.py"], "there is no file 'none.py' here"),
        (["empty.py"], "empty.py has no function train(run) and no options; write FILE.py:FUNC"),
        (["train"], "'train' does not name a training function; write FILE.py:FUNCTION, or a c"),
        (["a.sh"], "'a.sh' is not executable; name what runs it: tunebook init -- bash a.sh"),
        (["no-such-program", "x"], "there is no program 'no-such-program' on the PATH"),
    ],
)
def test_a_mistake_is_told(here: Path, words: list[str], message: str) -> None:
    (here / "empty.py").touch()
    (here / "a.sh").touch()
    with pytest.raises(ProgramError) as caught:
        beginning.write_study_file(words, force=False)
    assert str(caught.value).startswith(message)
    assert not list(here.glob("*.yaml"))


def use_this_python(path: Path) -> None:
    """What is found first under the name of python may lack what the script needs."""
    path.write_text(path.read_text().replace("  - python\n", f"  - {sys.executable}\n"))
