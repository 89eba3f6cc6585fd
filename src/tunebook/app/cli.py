"""The command line. Each command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tunebook.core.errors import TunebookError

DONE, MISTAKE, PAUSED, INTERRUPTED = 0, 1, 3, 130

app = typer.Typer(
    name="tunebook",
    help="The Deep Learning Tuning Playbook as a program.",
    epilog="Begin with: tunebook demo. Exit codes: 0 done, 1 a mistake in what was asked, "
    "2 a wrong command line, 3 paused since the program breaks, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--dir", help="Where the book is kept [default: $TUNEBOOK_DIR or .tunebook].", metavar="DIR"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="A study of the book.")]


@app.command()
def init(
    program: Annotated[
        str,
        typer.Argument(metavar="PROGRAM", help="A training function: FILE.py:FUNCTION."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write [default: NAME.yaml].", metavar="FILE"
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--study", help="The study's name.", metavar="NAME")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented study file for a training function.

    Example: tunebook init train.py:train
    """
    from tunebook.app.start import write_study_file

    path = write_study_file(program, output, name, force=force)
    typer.echo(f"Wrote {path}. Read it, then: tunebook run {path}")


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study file.")],
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", help="Trials at a time [default: what fits].", metavar="N"),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", help="Trials for each setting, in all.", metavar="N"),
    ] = None,
    inline: Annotated[
        bool, typer.Option("--inline", help="Run trials in this process, one by one (debuggers).")
    ] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Add workers to the process that runs this study.")
    ] = False,
    new_study: Annotated[
        str | None,
        typer.Option("--new-study", help="Run it as a child study of this name.", metavar="NAME"),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try failed trials again.")
    ] = False,
    grace: Annotated[
        float, typer.Option("--grace", help="Seconds to save and leave after Ctrl-C.", metavar="S")
    ] = 30.0,
    folder: Folder = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a study to its number of trials; run it again to continue.

    Example: tunebook run study.yaml --workers 4
    """
    from tunebook.app import start
    from tunebook.app.workflow import Options

    options = Options(workers=workers, inline=inline, retry_failed=retry_failed, grace=grace)
    wish = start.Wish(file, trials, new_study)
    if join:
        typer.echo(start.join(wish, folder, workers or 1))
        return
    ending, data, reason = start.run_file(wish, folder, options, quiet=quiet, as_json=as_json)
    if as_json:
        _print_json({"ended": ending, "reason": reason, **data})
    elif not quiet:
        from tunebook.app import tables

        tables.console().print(tables.study(data))
        typer.echo(_farewell(ending, data, file))
    if reason:
        typer.echo(reason, err=True)
    raise typer.Exit({"done": DONE, "paused": PAUSED, "interrupted": INTERRUPTED}[ending])


@app.command()
def show(
    study: StudyName,
    trial: Annotated[
        int | None, typer.Argument(metavar="[TRIAL]", help="The number of a trial.")
    ] = None,
    file: Annotated[bool, typer.Option("--file", help="Print the study as a study file.")] = False,
    output: Annotated[
        bool, typer.Option("--output", help="Print what the trial's program printed.")
    ] = False,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show a study, or one of its trials.

    Example: tunebook show depth 12
    """
    from tunebook.app import describe, places, tables, workflow

    results = workflow.results(study, places.book_folder(folder))
    if file:
        from tunebook import studyfile

        typer.echo(studyfile.write(results.study), nl=False)
    elif trial is None:
        data = describe.study(results, top=10)
        _present(data, tables.study, as_json)
    elif output:
        typer.echo(describe.printed(results[trial]), nl=False)
    else:
        _present(describe.trial(results, results[trial]), tables.trial, as_json)


@app.command()
def compare(
    trials: Annotated[
        list[str], typer.Argument(metavar="STUDY/TRIAL...", help="Two trials or more.")
    ],
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Compare trials: the parameters in which they differ, and their results.

    Example: tunebook compare depth/12 depth/7
    """
    from tunebook.app import describe, places, start, tables

    pairs = start.find_trials(trials, places.book_folder(folder))
    _present(describe.comparison(pairs), tables.comparison, as_json)


@app.command()
def book(folder: Folder = None, as_json: AsJson = False) -> None:
    """The tracking sheet: every study with its best result and how to reproduce it.

    Example: tunebook book --json
    """
    from tunebook.app import describe, places, tables, workflow

    place = places.book_folder(folder)
    _present(describe.sheet(workflow.book(place), place), tables.sheet, as_json)


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("--dir", help="Where to put the demo's files.", metavar="DIR")
    ] = Path("tunebook-demo"),
    trials: Annotated[
        int, typer.Option("--trials", help="Trials for each setting.", metavar="N")
    ] = 10,
    quiet: Quiet = False,
) -> None:
    """Tune a real network on a small problem, in about two minutes.

    Example: tunebook demo
    """
    from tunebook.app.demo import run_demo

    raise typer.Exit(run_demo(folder, trials, quiet=quiet))


def main() -> None:
    """The entry point: a user's mistake is told in a sentence, never by a traceback."""
    if sys.platform.startswith("win"):
        _leave("tunebook runs on Linux (and, untested, on macOS); on Windows use WSL.")
    try:
        app()
    except TunebookError as error:
        _leave(str(error))


def _present(data: Any, render: Callable[[Any], Any], as_json: bool) -> None:
    if as_json:
        _print_json(data)
    else:
        from tunebook.app import tables

        tables.console().print(render(data))


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, allow_nan=False))


def _farewell(ending: str, data: dict[str, Any], file: Path) -> str:
    if ending != "done":
        return f"To continue: tunebook run {file}"
    best = f" {data['best'][0]['trial']}" if data["best"] else ""
    return f"More: tunebook show {data['study']}{best}; tunebook book"


def _leave(text: str) -> NoReturn:
    typer.echo(f"Error: {text}", err=True)
    raise SystemExit(MISTAKE)


if __name__ == "__main__":
    main()
