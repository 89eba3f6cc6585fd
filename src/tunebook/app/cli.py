"""The command line. Each command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tunebook.core.errors import TunebookError

if TYPE_CHECKING:
    from tunebook.running.loop import Ending

DONE, MISTAKE, PAUSED, INTERRUPTED = 0, 1, 3, 130

app = typer.Typer(
    name="tunebook",
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


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tunebook {version('tunebook')}")
        raise typer.Exit


@app.callback()
def tunebook(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """The Deep Learning Tuning Playbook as a program."""


@app.command()
def init(
    program: Annotated[
        str,
        typer.Argument(metavar="PROGRAM", help="A training function: FILE.py:FUNCTION."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write [default: STUDY.yaml].", metavar="FILE"
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--study", help="The study's name [default: that of the program].", metavar="NAME"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented study file for a training function.

    Example: tunebook init train.py:train
    """
    from tunebook.app.start import write_study_file

    path, lacking = write_study_file(program, output, name, force=force)
    typer.echo(f"Wrote {path}, with the parameters and metrics that {program} names.")
    if lacking:
        typer.echo(f"These have no value yet; write one into the file: {', '.join(lacking)}")
    typer.echo(f"Read it, then: tunebook run {path}")


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
        float,
        typer.Option("--grace", help="Seconds to save and leave after Ctrl-C.", metavar="S", min=0),
    ] = 30.0,
    folder: Folder = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a study to its number of trials; run it again to continue.

    Example: tunebook run study.yaml --workers 4
    """
    from tunebook.app import describe, places, start
    from tunebook.app.workflow import Options

    place = places.book_folder(folder)
    wish = start.Wish(file, trials, new_study)
    if join:
        typer.echo(start.join(wish, place, workers or 1))
        return
    options = Options(workers=workers, inline=inline, retry_failed=retry_failed, grace=grace)
    ending, results = start.run_file(wish, place, options, quiet=quiet, machine=as_json)
    data = describe.study(results, top=5)
    if as_json:
        _print_json({"ended": _word(ending), "reason": ending.paused, **data})
    elif not quiet:
        from tunebook.app import tables

        tables.console().print(tables.study(data, most=20))
        typer.echo(_farewell(ending, data, file))
    if ending.paused:
        from tunebook.app.text import lines

        advice = (
            "Mend the program and run again: failed trials are tried again when the code has "
            "changed, or with --retry-failed."
        )
        typer.echo(lines(f"{ending.paused}\n{advice}"), err=True)
    raise typer.Exit(_exit_code(ending))


@app.command()
def report(
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="A study [default: the latest].")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write one HTML file, with pictures.", metavar="FILE"),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write Markdown; - prints it.", metavar="FILE"),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", help="Write the pictures as SVG files here.", metavar="DIR"),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            help="Judge trials anew: last, best, mean:5, or a metric such as valid/loss:lower.",
            metavar="WHAT",
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", help="Another study, to set beside it.", metavar="STUDY"),
    ] = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """What a study shows: problems first, with what to do about them.

    It may still be running. Nothing is run again and nothing is written into the book.

    Example: tunebook report depth --html report.html
    """
    # Matrices are small here, and threads that spin for them beside a running study cost minutes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tunebook.app import places, reporting

    place = places.book_folder(folder)
    made = reporting.on_book(study, place, objective, compare, notice=_note)
    prints = markdown is not None and str(markdown) == "-"
    said = reporting.write(made, html, None if prints else markdown, pictures)
    if as_json:
        from tunebook.report import machine

        _print_json(machine.data(made))
    elif prints:
        from tunebook.report import markdown as documents

        typer.echo(documents.document(made, str(pictures) if pictures else None), nl=False)
    elif not said:
        from tunebook.app import tables
        from tunebook.report import terminal

        tables.console().print(terminal.screen(made))
    for line in said:
        typer.echo(line, err=as_json or prints)


@app.command()
def show(
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help="A study of the book, or STUDY/TRIAL.")
    ],
    trial: Annotated[
        int | None, typer.Argument(metavar="TRIAL", help="The number of a trial.")
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
    from tunebook.app import describe, places, start, tables, workflow

    if "/" in study and trial is None:
        study, trial = start.split_trial(study)
    results = workflow.results(study, places.book_folder(folder))
    if file:
        from tunebook import studyfile

        typer.echo(studyfile.write(results.study), nl=False)
    elif output and trial is not None:
        typer.echo(describe.printed(results[trial]) or "It has printed nothing.\n", nl=False)
    elif output:
        raise typer.BadParameter("--output needs the number of a trial")
    elif trial is None:
        _present(describe.study(results), tables.study, as_json)
    else:
        _present(describe.trial(results, results[trial]), tables.trial, as_json)


@app.command()
def compare(
    trials: Annotated[list[str], typer.Argument(metavar="STUDY/TRIAL", help="Two trials or more.")],
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show where trials differ, and what came of it.

    Example: tunebook compare depth/12 depth/7
    """
    from tunebook.app import describe, places, start, tables

    pairs = start.find_trials(trials, places.book_folder(folder))
    _present(describe.comparison(pairs), tables.comparison, as_json)


@app.command()
def book(folder: Folder = None, as_json: AsJson = False) -> None:
    """The tracking sheet: each study and its best result.

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
        int, typer.Option("--trials", help="Trials for each of the two settings.", metavar="N")
    ] = 15,
    quiet: Quiet = False,
) -> None:
    """Tune a real network on a small problem, in one or two minutes.

    Example: tunebook demo --trials 5
    """
    from tunebook.app.demo import run_demo

    raise typer.Exit(_exit_code(run_demo(folder, trials, quiet=quiet)))


def main() -> None:
    """The entry point: a user's mistake is told in a sentence, never by a traceback."""
    if sys.platform.startswith("win"):
        _leave("tunebook runs on Linux (and, untested, on macOS); on Windows use WSL.", MISTAKE)
    try:
        app(prog_name="tunebook")
    except TunebookError as error:
        _leave(f"Error: {error}", MISTAKE)
    except KeyboardInterrupt:
        _leave("Interrupted.", INTERRUPTED)


def _present(data: Any, render: Callable[[Any], Any], as_json: bool) -> None:
    if as_json:
        _print_json(data)
    else:
        from tunebook.app import tables

        tables.console().print(render(data))


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, allow_nan=False))


def _word(ending: Ending) -> str:
    return "paused" if ending.paused else "interrupted" if ending.interrupted else "done"


def _exit_code(ending: Ending) -> int:
    return {"done": DONE, "paused": PAUSED, "interrupted": INTERRUPTED}[_word(ending)]


def _farewell(ending: Ending, data: dict[str, Any], file: Path) -> str:
    if not ending.done:
        return f"\nTo continue: tunebook run {file}"
    broken = [row["trial"] for row in data["not_complete"] if row["status"] != "infeasible"]
    if broken:
        return (
            f"\nWhat went wrong: tunebook show {data['study']} {broken[0]}. What failed is tried "
            "again when the\ncode has changed, or with --retry-failed."
        )
    trial = f" {data['best'][0]['trial']}" if data["best"] else ""
    return f"\nMore: tunebook show {data['study']}{trial}; tunebook book"


def _note(text: str) -> None:
    """Tell someone who waits at a terminal what is going on."""
    if sys.stderr.isatty():
        typer.echo(text, err=True)


def _leave(text: str, code: int) -> NoReturn:
    from tunebook.app.text import lines

    typer.echo(lines(text), err=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
