"""`tunebook probe`: small experiments that answer one question each."""

from __future__ import annotations

import difflib
import functools
import inspect
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from tunebook.app.commands.options import AsJson, Folder, Quiet
from tunebook.app.commands.printing import exit_code, print_json, word
from tunebook.core.domains import Value

if TYPE_CHECKING:
    from tunebook.app.probing import Probed
    from tunebook.core.study import Asked

probe = typer.Typer(
    help="Small experiments on a study's program that answer one question each. They run like any "
    "study, can be interrupted and continued, and stay in the book.",
    epilog="Example: tunebook probe stability study.yaml",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A study file.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A value to start from, such as lr=0.1 [default: the study's best trial so far, or "
        "the middle of its ranges].",
        metavar="NAME=VALUE",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-w", help="Trials at a time [default: what fits].", metavar="N"),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write the study with the proposed changes [default: FILE.PROBE.yaml].",
        metavar="FILE",
    ),
]
Html = Annotated[
    Path | None, typer.Option("--html", help="Write the report as HTML.", metavar="FILE")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Try trials that failed again.")]
Again = Annotated[bool, typer.Option("--again", help="Begin anew, beside what was done before.")]


@dataclass(frozen=True, slots=True)
class Common:
    """The options that every probe has."""

    file: File
    given: Set = None
    workers: Workers = None
    retry_failed: RetryFailed = False
    output: Output = None
    html: Html = None
    again: Again = False
    folder: Folder = None
    as_json: AsJson = False
    quiet: Quiet = False


def _command(name: str) -> Callable[[Callable[..., Mapping[str, Value]]], None]:
    """Make a command of a function that takes a probe's own options and returns those chosen."""

    def register(function: Callable[..., Mapping[str, Value]]) -> None:
        common = inspect.signature(Common).parameters
        own = inspect.signature(function, eval_str=True).parameters
        hints = get_type_hints(Common, include_extras=True)

        @functools.wraps(function)
        def command(context: typer.Context, **options: Any) -> None:
            shared = Common(**{key: options.pop(key) for key in common})
            given = {key for key in options if _was_given(context, key)}
            _probe(name, function(**options), given, shared)

        keyword = inspect.Parameter.KEYWORD_ONLY
        context = inspect.Parameter("context", keyword, annotation=typer.Context)
        parameters = [
            *(p.replace(kind=keyword, annotation=hints[key]) for key, p in common.items()),
            *(p.replace(kind=keyword) for p in own.values()),
        ]
        file, *others = parameters
        shown = [context, file, *others[len(common) - 1 :], *others[: len(common) - 1]]
        command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in shown}
        probe.command(name)(command)

    return register


@_command("variance")
def variance(
    seeds: Annotated[
        int, typer.Option("--seeds", help="Runs for each source of variance.", metavar="N", min=2)
    ] = 10,
) -> Mapping[str, Value]:
    """How much results vary with seeds alone, and how many seeds a difference needs.

    Example: tunebook probe variance study.yaml --seeds 10
    """
    return {"seeds": seeds}


def _was_given(context: typer.Context, key: str) -> bool:
    source = context.get_parameter_source(key)
    return source is not None and source.name != "DEFAULT"


def _probe(name: str, options: Mapping[str, Value], given: Collection[str], common: Common) -> None:
    from tunebook.app import display, places, probing, reporting, start
    from tunebook.app.workflow import Options

    place = places.book_folder(common.folder)
    study = start.read_study(common.file)
    known = {key: value for key, value in options.items() if value is not None}
    chosen = {key: value for key, value in known.items() if key in given}
    values = _values(common.given)
    asked = probing.ask(name, study, chosen, values, place, defaults=known, again=common.again)
    screen = display.choose(common.quiet, common.as_json)
    if not common.quiet and not common.as_json:
        typer.echo(f"Starts from {asked.source}.")
    program = start.program_of(study)
    limits = Options(workers=common.workers, retry_failed=common.retry_failed)
    made = probing.run(asked, program, place, limits, screen)
    if made.report is None or made.answer is None:
        _tell_unfinished(made, name, common)
        raise typer.Exit(exit_code(made.ending))
    proposed = probing.proposal(asked, made.answer, place)
    target = common.output or common.file.with_suffix(f".{name}.yaml")
    said = reporting.write(made.report, common.html)
    if proposed is not None:
        start.write_text(target, proposed)
        said.append(f"Wrote {target}, the study with what is proposed.")
    if common.as_json:
        from tunebook.report import machine

        edits = {"proposal": str(target) if proposed else None, "retune": made.answer.retune}
        print_json({"probe": name, "start": asked.source, **edits, **machine.data(made.report)})
    elif not common.quiet:
        _show(made, asked, proposed)
        for line in said:
            typer.echo(line)


def _show(made: Probed, asked: Asked, proposed: str | None) -> None:
    from tunebook.app import tables
    from tunebook.report import terminal

    if made.report is not None:
        tables.console().print(terminal.screen(made.report))
    if proposed is not None and asked.about.file:
        before = Path(asked.about.file).read_text(encoding="utf-8").splitlines()
        changes = list(difflib.unified_diff(before, proposed.splitlines(), n=1, lineterm=""))
        typer.echo("Proposed changes of the study:")
        for line in changes[2:]:
            typer.echo(f"  {line}")
    if made.answer is not None and made.answer.retune:
        typer.echo(f"To be tuned again after that: {', '.join(made.answer.retune)}")


def _tell_unfinished(made: Probed, name: str, common: Common) -> None:
    from tunebook.app.text import lines

    if common.as_json:
        print_json({"probe": name, "ended": word(made.ending), "reason": made.ending.paused})
    if made.ending.paused:
        typer.echo(lines(made.ending.paused), err=True)
        typer.echo(
            "Mend the program and probe again: failed trials are tried again when the code has "
            "changed, or with --retry-failed.",
            err=True,
        )
    typer.echo(f"To continue: tunebook probe {name} {shlex.quote(str(common.file))}", err=True)


def _values(given: list[str] | None) -> dict[str, Any]:
    """`lr=0.1` as a name and a value, read as a study file reads it."""
    from tunebook.studyfile.scalars import read_scalar

    found = {}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise typer.BadParameter(f"--set takes NAME=VALUE, got {text!r}")
        found[name] = read_scalar(value)
    return found
