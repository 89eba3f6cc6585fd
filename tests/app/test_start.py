"""What commands do with files and names before the real work begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commandline import write_study
from coordination import small_study
from tunebook.app import start, workflow
from tunebook.core.errors import ProgramError, StudyChanged, StudyError, UnknownName
from tunebook.running.ownership import owned

BOOK = Path("book")


def run(wish: start.Wish) -> None:
    ending, _ = start.run_file(wish, BOOK, workflow.Options(inline=True), quiet=True)
    assert ending.done


def test_the_command_line_has_the_last_word(toy: Path) -> None:
    study = start.Wish(Path("size.yaml"), trials=7, new_study="size-2").study()
    assert (study.name, study.parent, study.trials, study.file) == (
        *("size-2", "size", 7),
        "size.yaml",
    )


def test_a_program_is_found_beside_its_study(toy: Path) -> None:
    (toy / "below").mkdir()
    write_study(toy / "below")
    program = start.program_of(start.read_study(Path("below/size.yaml")))
    assert program.path == toy / "below" / "train.py"
    assert start.program_of(small_study(program="train.py:train")).path == toy / "train.py"


COMMAND = """
study: shell
command: [sh, train.sh, "{x}"]
metrics: {pattern: 'loss (?P<loss>\\S+)'}
objective: {metric: loss, better: lower}
nuisance: {x: {linear: [0, 1]}}
trials: 2
"""


def test_a_command_runs_beside_its_study(here: Path) -> None:
    (here / "below").mkdir()
    (here / "below" / "shell.yaml").write_text(COMMAND)
    (here / "below" / "train.sh").write_text('echo "loss $1"')
    file = Path("below/shell.yaml")
    run(start.Wish(file))
    results = workflow.results("shell", BOOK)
    assert results.counts() == {"complete": 2}
    for record in results:
        assert record.curves["loss"].values.tolist() == [record.trial.config["x"]]
    study = start.read_study(file)
    assert results.study.command == study.command
    program = start.program_of(study)
    assert program.path == here / "below" / "train.sh"
    before = program.code
    (here / "below" / "train.sh").write_text('echo "loss $1" # changed')
    assert program.code != before


def test_a_command_without_its_program(here: Path) -> None:
    (here / "shell.yaml").write_text(COMMAND.replace("[sh,", "[shh-no-such,"))
    with pytest.raises(ProgramError, match="there is no program 'shh-no-such' on the PATH"):
        start.program_of(start.read_study(Path("shell.yaml")))


def test_a_study_without_a_program() -> None:
    with pytest.raises(StudyError, match=r"small names no program; add a line such as 'program: "):
        start.program_of(small_study())


def test_a_changed_study_is_refused_with_the_ways_on(toy: Path) -> None:
    run(start.Wish(Path("size.yaml"), trials=1))
    (toy / "size.yaml").write_text((toy / "size.yaml").read_text().replace("1e-3", "1e-4"))
    with pytest.raises(StudyChanged) as caught:
        run(start.Wish(Path("size.yaml")))
    assert str(caught.value).splitlines() == [
        "size.yaml differs from the study size in the book, so that their trials could not be "
        "compared:",
        "  ~ learning_rate: nuisance, 0.001 to 1 (log) -> nuisance, 0.0001 to 1 (log)",
        "Either run it as a new study: tunebook run size.yaml --new-study size-2",
        "or put the old values back, which are in: tunebook show size --file",
    ]
    run(start.Wish(Path("size.yaml"), trials=1, new_study="size-2"))


def test_workers_join_only_what_runs(toy: Path) -> None:
    wish = start.Wish(Path("size.yaml"))
    with pytest.raises(UnknownName, match="no process runs size now; leave out --join"):
        start.join(wish, BOOK, 1)
    with owned(BOOK, "size"):
        pid = os.fork()
        if pid == 0:  # another process: locks show life only to others
            said = start.join(wish, BOOK, 2)
            os._exit(said != "Asked the process that runs size for 2 more workers.")
        assert os.waitpid(pid, 0)[1] == 0
        with pytest.raises(StudyError, match="the number of workers must be at least 1, got 0"):
            start.join(wish, BOOK, 0)


@pytest.mark.parametrize("name", ["", "depth", "depth/", "/3", "depth/x", "depth/-1", "depth/²"])
def test_what_names_no_trial(name: str) -> None:
    with pytest.raises(UnknownName, match=r"does not name a trial; write STUDY/TRIAL"):
        start.split_trial(name)


def test_trials_to_compare(toy: Path) -> None:
    run(start.Wish(Path("size.yaml"), trials=1))
    pairs = start.find_trials(["size/2", "size/1"], BOOK)
    assert [record.trial.number for _, record in pairs] == [2, 1]
    with pytest.raises(UnknownName, match="two trials or more, got 1"):
        start.find_trials(["size/1"], BOOK)
    with pytest.raises(UnknownName, match="size has no trial 3; its trials are 1 to 2"):
        start.find_trials(["size/1", "size/3"], BOOK)


def test_a_file_that_cannot_be_written(toy: Path) -> None:
    with pytest.raises(StudyError, match=r"cannot write train\.py/x\.yaml: "):
        start.write_text(Path("train.py/x.yaml"), "")
