"""A coordinator to be killed: `tunebook run` that forgives any number of crashes."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from tunebook.app import display, workflow
from tunebook.app.commands.printing import exit_code
from tunebook.core.domains import Choice, Float
from tunebook.core.errors import TunebookError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Parameter, Role, Space
from tunebook.core.study import Study
from tunebook.core.trials import RetryPolicy
from tunebook.execution import programs
from tunebook.running import patience, room
from tunebook.running.breaker import Breaker

_ENDLESS = 10**9
ARMS = ("saves", "begins anew")
SPACE = Space(
    (
        Parameter("arm", Role.SCIENTIFIC, Choice(ARMS)),
        Parameter("x", Role.NUISANCE, Float(0.0, 1.0)),
    )
)


def study(trials: int) -> Study:
    """Two settings with so many trials each."""
    return Study("siege", SPACE, Objective(Metric("error")), trials=trials)


def main(book: str, trials: str, workers: str) -> int:
    """Run the study; the exit code is that of the command line."""
    program = programs.parse("program.py:train", Path(__file__).parent)
    # Kills are no fault of the program: they must neither use up its attempts nor pause the study.
    workflow.RetryPolicy = partial(RetryPolicy, crashes=_ENDLESS)  # type: ignore[assignment, misc]
    workflow.Breaker = partial(Breaker, most=_ENDLESS)  # type: ignore[assignment, misc]
    patience.LOCKED_SECONDS = float(os.environ.get("FAULTS_LOCKED_SECONDS", "600"))
    room.LEAST_BYTES = int(os.environ.get("FAULTS_LEAST_BYTES", room.LEAST_BYTES))
    options = workflow.Options(workers=int(workers))
    screen = display.choose(quiet=False, machine=False)
    try:
        ending, _ = workflow.run(study(int(trials)), program, Path(book), options, screen)
    except TunebookError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return exit_code(ending)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
