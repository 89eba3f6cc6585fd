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
from tunebook.core.errors import StudyError, did_you_mean

if TYPE_CHECKING:
    from tunebook.app.probing import Probed
    from tunebook.core.study import Asked

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


SweepSteps = Annotated[
    int | None,
    typer.Option(
        "--steps", help="Steps of the sweep's trials [default: at most 1000].", metavar="N", min=40
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds", help="Fresh seeds of each arm in the last comparison.", metavar="N", min=3
    ),
]


@_command("steps")
def steps(
    max_steps: Annotated[
        int | None,
        typer.Option(
            "--max-steps",
            help="Steps of each training of the sweep [default: the study's].",
            metavar="N",
            min=20,
        ),
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(
            "--loss",
            help="The training loss that counts as fitted [default: a training error of 0].",
            metavar="VALUE",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", help="Trainings at each learning rate.", metavar="N", min=1)
    ] = 2,
    longest: Annotated[
        int | None,
        typer.Option(
            "--longest",
            help="Steps of the longest training of the study's own [default: 8 times the guess].",
            metavar="N",
            min=1,
        ),
    ] = None,
) -> Mapping[str, Value]:
    """How many steps to train for.

    A first guess from what the training set takes to be fitted, then whether the study itself
    gains by more.

    Example: tunebook probe steps study.yaml --loss 0.01
    """
    return {"max_steps": max_steps, "loss": loss, "seeds": seeds, "longest": longest}


@_command("stability")
def stability(
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            help="Steps of each training [default: 500, or the study's if they are fewer].",
            metavar="N",
            min=20,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", help="Trainings at each learning rate.", metavar="N", min=2)
    ] = 2,
) -> Mapping[str, Value]:
    """Whether instability keeps the learning rate too low.

    It sees trainings above the best rate at every step, and tells of which kind the instability is.

    Example: tunebook probe stability study.yaml --steps 500
    """
    return {"steps": steps, "seeds": seeds}


@_command("warmup")
def warmup(steps: SweepSteps = None, seeds: Seeds = 5) -> Mapping[str, Value]:
    """The shortest warm-up that stabilises training.

    It makes higher learning rates stable, and is proposed only where that pays over fresh seeds.

    Example: tunebook probe warmup study.yaml
    """
    return {"steps": steps, "seeds": seeds}


@_command("clipping")
def clipping(
    steps: SweepSteps = None,
    seeds: Seeds = 5,
    off: Annotated[
        float | None,
        typer.Option(
            "--off",
            help="The value that means no clipping [default: null; a command may need 0].",
            metavar="VALUE",
        ),
    ] = None,
) -> Mapping[str, Value]:
    """The gradient norm to clip at, to stabilise training.

    It is proposed only where that pays over fresh seeds.

    Example: tunebook probe clipping study.yaml --off 0
    """
    return {"steps": steps, "seeds": seeds, "off": off}


@_command("variance")
def variance(
    seeds: Annotated[
        int, typer.Option("--seeds", help="Runs for each source of variance.", metavar="N", min=2)
    ] = 10,
    difference: Annotated[
        float | None,
        typer.Option(
            "--difference",
            help="The difference that is to be seen [default: a hundredth of what is left].",
            metavar="D",
            min=1e-300,
        ),
    ] = None,
) -> Mapping[str, Value]:
    """How much results vary with seeds, and how many to run.

    The best configuration once more with new seeds: the variance of each source of chance, and
    how many seeds a difference needs.

    Example: tunebook probe variance study.yaml --seeds 10 --difference 0.002
    """
    return {"seeds": seeds, "difference": difference}


@_command("batch-size")
def batch_size(
    smallest: Annotated[
        int | None,
        typer.Option("--smallest", help="The first size to try.", metavar="N", min=1),
    ] = None,
    largest: Annotated[
        int | None,
        typer.Option(
            "--largest", help="The last size to try [default: 65536].", metavar="N", min=1
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            help="Steps of each timed trial [default: a few seconds'].",
            metavar="N",
            min=8,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            help="The limit of a trial, such as 8GB [default: the study's, or 80% of the free].",
            metavar="SIZE",
        ),
    ] = None,
    to_goal: Annotated[
        bool,
        typer.Option(
            "--to-goal", help="Also train to a goal at several sizes, to find the critical one."
        ),
    ] = False,
    goal: Annotated[
        float | None,
        typer.Option(
            "--goal",
            help="The goal, a value of the objective [default: the knob target].",
            metavar="VALUE",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            help="Sizes to train to the goal at, such as 16,64,256 [default: four].",
            metavar="N,N,...",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", help="Runs to the goal at each size [default: 3].", metavar="N", min=1
        ),
    ] = None,
) -> Mapping[str, Value]:
    """Which batch sizes fit, how fast they are, which to take.

    Time per step and throughput of each, their bottleneck, and whether memory leaks; with
    --to-goal the critical batch size.

    Example: tunebook probe batch-size study.yaml --to-goal --goal 0.1
    """
    own = {"smallest": smallest, "largest": largest, "steps": steps, "memory": _memory(memory)}
    wanted = {"to_goal": to_goal or None, "goal": goal, "sizes": _sizes(sizes), "seeds": seeds}
    return {**own, **wanted}


def _memory(text: str | None) -> int | None:
    """`8GB` as bytes, read as a study file reads it."""
    from tunebook.studyfile.contents import memory_bytes

    try:
        return memory_bytes(int(text) if text.isdigit() else text) if text is not None else None
    except ValueError as error:
        raise typer.BadParameter(f"--memory: {error}") from None


def _sizes(text: str | None) -> str | None:
    """`16, 64` as `16,64`, each a batch size."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise typer.BadParameter(f"--sizes takes batch sizes such as 16,64,256, got {text!r}")
    return ",".join(parts)


def check_options(name: str, options: Mapping[str, Value]) -> None:
    """Refuse options that a probe does not have, or values that are none of theirs."""
    callback = next(c.callback for c in probe.registered_commands if c.name == name)
    shared = {"context", *inspect.signature(Common).parameters}
    own = {k: v for k, v in get_type_hints(callback).items() if k not in shared and k != "return"}
    for key, value in options.items():
        if key not in own:
            known = f"; it has {', '.join(own)}" if own else "; it has none"
            raise StudyError(
                f"the probe {name} has no option {key!r}{did_you_mean(key, own) or known}"
            )
        wanted = own[key]
        numbers = isinstance(value, int | float) and not isinstance(value, bool)
        whole = numbers and float(value).is_integer()  # type: ignore[arg-type]
        if wanted in (int, int | None) and not whole:
            raise StudyError(f"{key} of the probe {name} is a whole number, got {value!r}")
        if wanted in (float, float | None) and not numbers:
            raise StudyError(f"{key} of the probe {name} is a number, got {value!r}")


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


def _probe(name: str, options: Mapping[str, Value], given: Collection[str], common: Common) -> None:
    from tunebook.app import display, places, probing, reporting, start
    from tunebook.app.workflow import Options

    place = places.book_folder(common.folder)
    study = start.read_study(common.file)
    if common.output is not None and common.output.resolve() == common.file.resolve():
        raise StudyError(f"{common.output} is the study itself; name another file with --output")
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
    proposed = made.proposal
    wished = common.output or common.file.with_suffix(f".{name}.yaml")
    target = _free(wished, proposed) if proposed is not None else wished
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
