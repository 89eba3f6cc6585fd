"""Training programs that can be brought into another process: by name, or by value."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tunebook.core.errors import ProgramError, did_you_mean
from tunebook.core.protocols import Program, TrainFunction


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function of a file (`train.py:train`) or of a module (`package.module:train`)."""

    source: str
    function: str
    folder: str

    @property
    def reference(self) -> str:
        return f"{self.source}:{self.function}"

    @property
    def path(self) -> Path | None:
        """The file, where the program is one."""
        return Path(self.folder, self.source) if self.source.endswith(".py") else None

    def load(self) -> TrainFunction:
        module = self._module()
        found = getattr(module, self.function, None)
        if not callable(found):
            functions = [n for n, v in vars(module).items() if inspect.isfunction(v)]
            raise ProgramError(
                f"{self.source} has no function {self.function!r}"
                f"{did_you_mean(self.function, functions)}"
            )
        check_signature(found, self.reference)
        return found  # type: ignore[no-any-return]

    def _module(self) -> ModuleType:
        if self.path is None:
            _import_from(self.folder)
            return importlib.import_module(self.source)
        if not self.path.is_file():
            raise ProgramError(f"there is no file {self.source!r} in {self.folder}")
        # The file's own folder comes first, as when Python runs a script.
        _import_from(str(self.path.parent))
        name = self.path.stem if self.path.stem.isidentifier() else "tunebook_program"
        spec = importlib.util.spec_from_file_location(name, self.path)
        if spec is None or spec.loader is None:
            raise ProgramError(f"{self.source!r} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module


@dataclass(frozen=True, slots=True)
class PassedFunction:
    """A function by value, such as one of a notebook.

    Its bytes go through a pipe to our own child processes; they are never written to a file.
    """

    name: str
    content: bytes

    @property
    def reference(self) -> str:
        return self.name

    def load(self) -> TrainFunction:
        import cloudpickle

        function: TrainFunction = cloudpickle.loads(self.content)
        return function


def parse(reference: str, folder: Path) -> NamedFunction:
    """`train.py:train` or `package.module:train`, found from a folder on."""
    source, separator, function = reference.rpartition(":")
    if not separator or not source or not function.isidentifier():
        raise ProgramError(
            f"{reference!r} does not name a training function; write FILE.py:FUNCTION, "
            "such as train.py:train"
        )
    return NamedFunction(source, function, str(folder.resolve()))


def of_function(function: Callable[..., object]) -> Program:
    """A function in hand: by name where a fresh process can import it, else by value."""
    check_signature(function, getattr(function, "__qualname__", repr(function)))
    module = sys.modules.get(getattr(function, "__module__", ""))
    name = getattr(function, "__qualname__", "")
    importable = (
        module is not None
        and module.__name__ != "__main__"
        and getattr(module, name, None) is function
    )
    if importable and module is not None:
        return NamedFunction(module.__name__, name, str(Path.cwd()))
    import cloudpickle

    return PassedFunction(name or repr(function), cloudpickle.dumps(function))


def check_signature(function: Callable[..., object], reference: str) -> None:
    """A training function takes the run as its one argument."""
    try:
        inspect.signature(function).bind(object())
    except TypeError:
        raise ProgramError(
            f"{reference} must take one argument, the run: def {reference.rpartition(':')[2]}(run)"
        ) from None
    except ValueError:
        return


def to_json(program: Program) -> str:
    """A program and the import path it needs, for a process of our own."""
    here: dict[str, Any] = {"path": sys.path, "folder": str(Path.cwd())}
    match program:
        case NamedFunction(source, function, folder):
            here["named"] = [source, function, folder]
        case PassedFunction(name, content):
            here["passed"] = [name, base64.b64encode(content).decode()]
        case _:
            raise ProgramError(f"{program.reference} cannot be brought into another process")
    return json.dumps(here)


def from_json(text: str) -> Program:
    """The program that `to_json` described; sets this process's import path and folder."""
    here = json.loads(text)
    sys.path[:] = here["path"]
    os.chdir(here["folder"])
    if "named" in here:
        return NamedFunction(*here["named"])
    name, content = here["passed"]
    return PassedFunction(name, base64.b64decode(content))


def _import_from(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)
