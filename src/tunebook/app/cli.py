"""The command line: the commands in the order of its help, and how it ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from tunebook.app.commands.demo import demo
from tunebook.app.commands.export import export
from tunebook.app.commands.init import init
from tunebook.app.commands.printing import INTERRUPTED, MISTAKE
from tunebook.app.commands.probe import probe
from tunebook.app.commands.reading import book, compare, show
from tunebook.app.commands.recover import recover
from tunebook.app.commands.report import report
from tunebook.app.commands.run import run
from tunebook.core.errors import TunebookError

app = typer.Typer(
    name="tunebook",
    epilog="Begin with: tunebook demo. Exit codes: 0 done, 1 a mistake in what was asked, "
    "2 a wrong command line, 3 paused since the program breaks, 4 something of a damaged book was "
    "lost, 5 no trial has a result, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


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


for command in (init, run, report, show, compare, book, export, recover, demo):
    app.command()(command)
app.add_typer(probe, name="probe")


def main() -> None:
    """The entry point: a user's mistake is told in a sentence, never by a traceback."""
    if sys.platform.startswith("win"):
        _leave("tunebook runs on Linux (and, untested, on macOS); on Windows use WSL.", MISTAKE)
    try:
        try:
            app(prog_name="tunebook")
        finally:
            sys.stdout.flush()
    except TunebookError as error:
        _leave(f"Error: {error}", MISTAKE)
    except SystemExit as left:
        # Of Ctrl-C, typer makes an exit code, and says nothing.
        if left.__context__ and isinstance(left.__context__.__cause__, KeyboardInterrupt):
            _leave("Interrupted.", INTERRUPTED)
        raise
    except OSError as error:
        if not _output_fails():
            raise
        _leave(f"Error: cannot write the output: {error.strerror}", MISTAKE)


def _output_fails() -> bool:
    """Whether standard output is what cannot be written; if so, nothing is written there again."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        # What it still holds would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _leave(text: str, code: int) -> NoReturn:
    from tunebook.app.text import lines

    typer.echo(lines(text), err=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
