"""tunebook: the Deep Learning Tuning Playbook as a program.

Names are imported when they are first used, so that `import tunebook` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tunebook.app.api import load as load
    from tunebook.app.api import probe as probe
    from tunebook.app.api import read as read
    from tunebook.app.api import report_on as report_on
    from tunebook.app.api import run as run
    from tunebook.app.tracking import init as init
    from tunebook.app.tracking import log as log
    from tunebook.core.commands import Command as Command
    from tunebook.core.domains import Choice as Choice
    from tunebook.core.domains import Float as Float
    from tunebook.core.domains import Int as Int
    from tunebook.core.errors import TunebookError as TunebookError
    from tunebook.core.knobs import Knobs as Knobs
    from tunebook.core.objective import Constraint as Constraint
    from tunebook.core.objective import Metric as Metric
    from tunebook.core.objective import Objective as Objective
    from tunebook.core.protocols import Run as Run
    from tunebook.core.results import Results as Results
    from tunebook.core.space import Space as Space
    from tunebook.core.study import Budget as Budget
    from tunebook.core.study import Divergence as Divergence
    from tunebook.core.study import Resources as Resources
    from tunebook.core.study import Sampling as Sampling
    from tunebook.core.study import Study as Study

__version__ = "0.1.0"

_HOMES = {
    "Budget": "tunebook.core.study",
    "Choice": "tunebook.core.domains",
    "Command": "tunebook.core.commands",
    "Constraint": "tunebook.core.objective",
    "Divergence": "tunebook.core.study",
    "Float": "tunebook.core.domains",
    "Int": "tunebook.core.domains",
    "Knobs": "tunebook.core.knobs",
    "Metric": "tunebook.core.objective",
    "Objective": "tunebook.core.objective",
    "Resources": "tunebook.core.study",
    "Results": "tunebook.core.results",
    "Run": "tunebook.core.protocols",
    "Sampling": "tunebook.core.study",
    "Space": "tunebook.core.space",
    "Study": "tunebook.core.study",
    "TunebookError": "tunebook.core.errors",
    "init": "tunebook.app.tracking",
    "load": "tunebook.app.api",
    "log": "tunebook.app.tracking",
    "probe": "tunebook.app.api",
    "read": "tunebook.app.api",
    "report_on": "tunebook.app.api",
    "run": "tunebook.app.api",
}

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tunebook' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
