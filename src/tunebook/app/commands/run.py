"""`tunebook run`: a study, to its end."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tunebook.app.commands.options import AsJson, Folder, Quiet
from tunebook.app.commands.printing import NO_RESULT, exit_code, print_json, word

if TYPE_CHECKING:
    from tunebook.running.loop import Ending


def _seconds(value: float | None) -> float | None:
    if value is not None and not 1 <= value < math.inf:
        raise typer.BadParameter(f"{value:g} is not a number of seconds from 1 on.")
    return value


File = Annotated[Path, typer.Argument(metavar="FILE", help="A study file.")]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-w", help="Trials at a time [default: what fits].", metavar="N"),
]
Trials = Annotated[
    int | None, typer.Option("--trials", help="Trials for each setting, in all.", metavar="N")
]
Inline = Annotated[
    bool, typer.Option("--inline", help="Run trials in this process, one by one (debuggers).")
]
Join = Annotated[
    bool, typer.Option("--join", help="Add workers to the process that runs this study.")
]
NewStudy = Annotated[
    str | None,
    typer.Option("--new-study", help="Run it as a child study of this name.", metavar="NAME"),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Try failed trials again.")]
Grace = Annotated[
    float,
    typer.Option("--grace", help="Seconds to save and leave after Ctrl-C.", metavar="S", min=0),
]
StallTimeout = Annotated[
    float | None,
    typer.Option(
        "--stall-timeout",
        help="End a trial that reports nothing for so long [default: only warn].",
        metavar="S",
        callback=_seconds,
    ),
]
ShareGpus = Annotated[
    bool, typer.Option("--share-gpus", help="Use GPUs that other processes use, too.")
]


def run(
    file: File,
    workers: Workers = None,
    trials: Trials = None,
    inline: Inline = False,
    join: Join = False,
    new_study: NewStudy = None,
    retry_failed: RetryFailed = False,
    grace: Grace = 30.0,
    stall_timeout: StallTimeout = None,
    share_gpus: ShareGpus = False,
    folder: Folder = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a study to its number of trials; run it again to continue.

    Ends with code 5 if all trials have ended and none has a result.

    Example: tunebook run study.yaml --workers 4
    """
    from tunebook.app import describe, places, start
    from tunebook.app.workflow import Options

    place = places.book_folder(folder)
    wish = start.Wish(file, trials, new_study)
    if join:
        typer.echo(start.join(wish, place, workers or 1))
        return
    options = Options(
        workers=workers,
        inline=inline,
        retry_failed=retry_failed,
        grace=grace,
        share_gpus=share_gpus,
        stall_timeout=stall_timeout,
    )
    ending, results = start.run_file(wish, place, options, quiet=quiet, machine=as_json)
    data = describe.study(results, top=5)
    if as_json:
        print_json({"ended": word(ending), "reason": ending.paused, **data})
    elif not quiet:
        from tunebook.app import tables

        tables.console().print(tables.study(data, most=20))
        typer.echo(_farewell(ending, data, file, places.book_option(folder)))
    raise typer.Exit(_code(ending, data))


def _code(ending: Ending, data: dict[str, Any]) -> int:
    """The exit code, and a sentence on the way if it is not the usual one."""
    if ending.paused:
        from tunebook.app.text import lines

        advice = (
            "Mend the program and run again: failed trials are tried again when the code has "
            "changed, or with --retry-failed."
        )
        typer.echo(lines(f"{ending.paused}\n{advice}"), err=True)
    if word(ending) == "done" and not data["best"]:
        outcomes = ", ".join(f"{count} {kind}" for kind, count in data["outcomes"].items())
        typer.echo(f"No trial has a result: {outcomes}.", err=True)
        return NO_RESULT
    return exit_code(ending)


def _farewell(ending: Ending, data: dict[str, Any], file: Path, where: str) -> str:
    if not ending.done:
        return f"\nTo continue: tunebook run {shlex.quote(str(file))}{where}"
    broken = [row["trial"] for row in data["not_complete"] if row["status"] != "infeasible"]
    if broken:
        return (
            f"\nWhat went wrong: tunebook show {data['study']} {broken[0]}{where}. What failed is "
            "tried again\nwhen the code has changed, or with --retry-failed."
        )
    trial = f" {data['best'][0]['trial']}" if data["best"] else ""
    return f"\nMore: tunebook show {data['study']}{trial}{where}; tunebook book{where}"
