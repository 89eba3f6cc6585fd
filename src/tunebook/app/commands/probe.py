"""`tunebook probe`: small experiments that answer one question each."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from tunebook.app.commands.options import AsJson, Folder, Quiet
from tunebook.app.commands.printing import NO_RESULT, exit_code, print_json, word
from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.procedures.options import OPTIONS, Option

if TYPE_CHECKING:
    from tunebook.app.probing import Probed

probe = typer.Typer(
    help="Small experiments that answer one question each.\n\nThey run a study's program like any "
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


HELP: Final = {
    "steps": """How many steps to train for.

    A first guess from what the training set takes to be fitted, then whether the study itself
    gains by more.

    Example: tunebook probe steps study.yaml --loss 0.01
    """,
    "stability": """Whether instability keeps the learning rate too low.

    It sees trainings above the best rate at every step, and tells of which kind the instability is.

    Example: tunebook probe stability study.yaml --steps 500
    """,
    "warmup": """The shortest warm-up that stabilises training.

    It makes higher learning rates stable, and is proposed only where that pays over fresh seeds.

    Example: tunebook probe warmup study.yaml
    """,
    "clipping": """The gradient norm to clip at, to stabilise training.

    It is proposed only where that pays over fresh seeds.

    Example: tunebook probe clipping study.yaml --off 0
    """,
    "variance": """How much results vary with seeds, and how many to run.

    The best configuration once more with new seeds: the variance of each source of chance, and
    how many seeds a difference needs.

    Example: tunebook probe variance study.yaml --seeds 10 --difference 0.002
    """,
    "batch-size": """Which batch sizes fit, how fast they are, which to take.

    Time per step and throughput of each, their bottleneck, and whether memory leaks; with
    --to-goal the critical batch size.

    Example: tunebook probe batch-size study.yaml --to-goal --goal 0.1
    """,
}


def _command(name: str) -> Callable[..., None]:
    """The command of a probe: the file, the probe's own options, then those that all have."""
    hints = get_type_hints(Common, include_extras=True)
    common = {
        key: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[key])
        for key, parameter in inspect.signature(Common).parameters.items()
    }
    file, *others = common.values()

    def command(context: typer.Context, **values: Any) -> None:
        shared = Common(**{key: values.pop(key) for key in common})
        given = {key: value for key, value in values.items() if _was_given(context, key)}
        _probe(name, given, shared)

    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    shown = [context, file, *map(_parameter, OPTIONS[name]), *others]
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return command


def _parameter(option: Option) -> inspect.Parameter:
    """An option as typer reads it from a signature."""
    flag = f"--{option.name.replace('_', '-')}"
    shown = typer.Option(flag, help=option.help, metavar=option.metavar, min=option.least)
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.kind is bool else option.default,
        annotation=Annotated[option.kind if option.kind is bool else option.kind | None, shown],
    )


for _name, _help in HELP.items():
    probe.command(_name, help=_help)(_command(_name))


def _free(target: Path, content: str) -> Path:
    """The file to write, or one beside it where somebody has written something else into it."""
    number, place = 1, target
    while place.exists() and place.read_text(encoding="utf-8", errors="replace") != content:
        number += 1
        place = target.with_stem(f"{target.stem}-{number}")
    return place


def _was_given(context: typer.Context, key: str) -> bool:
    source = context.get_parameter_source(key)
    return source is not None and source.name != "DEFAULT"


def _probe(name: str, options: Mapping[str, Value], common: Common) -> None:
    from tunebook.app import asking, display, places, probing, reporting, start
    from tunebook.app.workflow import Options

    place = places.book_folder(common.folder)
    study = start.read_study(common.file)
    if common.output is not None and common.output.resolve() == common.file.resolve():
        raise StudyError(f"{common.output} is the study itself; name another file with --output")
    values = _values(common.given)
    asked = asking.ask(name, study, options, values, place, again=common.again)
    screen = display.choose(common.quiet, common.as_json)
    if not common.quiet and not common.as_json:
        typer.echo(f"Starts from {asked.source}.")
    program = start.program_of(study)
    limits = Options(workers=common.workers, retry_failed=common.retry_failed)
    made = probing.run(asked, program, place, limits, screen, study.file)
    if made.report is None or made.answer is None:
        _tell_unfinished(made, name, common)
        raise typer.Exit(exit_code(made.ending))
    proposed = made.proposal
    wished = common.output or common.file.with_suffix(f".{name}.yaml")
    target = _free(wished, proposed) if proposed is not None else wished
    said = reporting.write(made.report, common.html)
    if proposed is not None:
        start.write_text(target, proposed)
        run = f"tunebook run {shlex.quote(str(target))}{places.book_option(common.folder)}"
        said.append(f"Wrote {target}, the study with what is proposed. To run it: {run}")
    if common.as_json:
        from tunebook.report import machine

        proposal = str(target) if proposed else None
        begun = {"probe": name, "start": asked.source, "proposal": proposal}
        print_json({**begun, **machine.data(made.report)})
    elif not common.quiet:
        from tunebook.app import tables
        from tunebook.report import terminal

        terminal.print_to(tables.console(), made.report, places.book_option(common.folder))
        for line in said:
            typer.echo(line)
    outcomes = {kind for stage in made.report.whole.stages for kind in stage.outcomes}
    if outcomes and outcomes <= {"failed", "crashed", "cancelled"}:
        typer.echo(
            "No trial of the probe has a result: the program fails in all of them.", err=True
        )
        raise typer.Exit(NO_RESULT)


def _tell_unfinished(made: Probed, name: str, common: Common) -> None:
    from tunebook.app import places
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
    again = f"tunebook probe {name} {shlex.quote(str(common.file))}"
    typer.echo(f"To continue: {again}{places.book_option(common.folder)}", err=True)


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
