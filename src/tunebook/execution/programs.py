"""Training programs that can be brought into another process: by name, or by value."""

from __future__ import annotations

import ast
import base64
import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tunebook.core import codec
from tunebook.core.errors import ProgramError, did_you_mean
from tunebook.core.protocols import Program, TrainFunction
from tunebook.execution import outcomes
from tunebook.execution.commands import CommandProgram


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function of a file (`train.py:train`) or of a module (`package.module:train`).

    With `by`, what is named is no function but a task: `by` names a function that makes the
    training function of a task.
    """

    source: str
    function: str
    folder: str
    by: str | None = None

    @property
    def reference(self) -> str:
        return f"{self.source}:{self.function}"

    @property
    def path(self) -> Path | None:
        """The file, where the program is one."""
        return Path(self.folder, self.source) if self.source.endswith(".py") else None

    @property
    def code(self) -> bytes | None:
        """What is written in the program's own file or module, if it can be found."""
        path = self.path
        if path is None:
            module = sys.modules.get(self.source)
            path = Path(getattr(module, "__file__", None) or "")
        return path.read_bytes() if path.is_file() else None

    def load(self) -> TrainFunction:
        with _importing(self.source):
            module = self._module()
            if self.by is not None:
                home, _, name = self.by.partition(":")
                trainer: Callable[[object], TrainFunction] = getattr(
                    importlib.import_module(home), name
                )
                return trainer(self._attribute(module, "task"))
        found = self._attribute(module, "function")
        check_signature(found, self.reference)
        return found  # type: ignore[no-any-return]

    def _attribute(self, module: ModuleType, kind: str) -> Any:
        found = getattr(module, self.function, None)
        if found is None or (kind == "function" and not callable(found)):
            functions = [n for n, value in vars(module).items() if inspect.isfunction(value)]
            near = did_you_mean(self.function, functions if kind == "function" else dir(module))
            raise ProgramError(f"{self.source} has no {kind} {self.function!r}{near}")
        return found

    def _module(self) -> ModuleType:
        if self.path is None:
            _import_from(self.folder)
            return importlib.import_module(self.source)
        _check_exists(self)
        # The file's own folder comes first, as when Python runs a script.
        _import_from(str(self.path.parent))
        return _execute(self.path)


@dataclass(frozen=True, slots=True)
class PassedFunction:
    """A function in hand that no module can be asked for, such as one of a notebook."""

    name: str
    function: TrainFunction

    @property
    def reference(self) -> str:
        return self.name

    @property
    def code(self) -> bytes | None:
        """The function's own source, or what Python made of it."""
        try:
            return inspect.getsource(self.function).encode()
        except (OSError, TypeError):
            made = getattr(self.function, "__code__", None)
            return None if made is None else made.co_code + repr(made.co_consts).encode()

    def load(self) -> TrainFunction:
        return self.function


@dataclass(frozen=True, slots=True)
class PickledFunction:
    """A passed function in another process.

    Its bytes go through a pipe to our own child processes; they are never written to a file.
    """

    name: str
    content: bytes

    @property
    def reference(self) -> str:
        return self.name

    def load(self) -> TrainFunction:
        import cloudpickle

        with _importing(self.name):
            function: TrainFunction = cloudpickle.loads(self.content)
        return function


def parse(reference: str, folder: Path) -> NamedFunction:
    """`train.py:train` or `package.module:train`, found from a folder on."""
    hint = "a training function; write FILE.py:FUNCTION, such as train.py:train"
    return NamedFunction(*_split(reference, hint), str(folder.resolve()))


def parse_task(reference: str, folder: Path, by: str) -> NamedFunction:
    """`package.module:task` or `tasks.py:task`, to be trained by a loop."""
    hint = "a task; write MODULE:TASK, such as tunebook.training.tasks:mnist1d"
    return NamedFunction(*_split(reference, hint), str(folder.resolve()), by)


def _split(reference: str, hint: str) -> tuple[str, str]:
    source, separator, name = reference.rpartition(":")
    if not separator or not source or not name.isidentifier():
        raise ProgramError(f"{reference!r} does not name {hint}")
    return source, name


def check_file(program: NamedFunction) -> None:
    """What can be told of a program without importing it: its file is there, and has the name."""
    if program.path is None:
        return
    _check_exists(program)
    try:
        nodes = list(ast.walk(ast.parse(program.path.read_bytes())))
    except (SyntaxError, ValueError, RecursionError):
        # Importing it will tell what is wrong, and where.
        return
    defined = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    names = {n.id for n in nodes if isinstance(n, ast.Name)} | {
        n.asname or n.name.partition(".")[0] for n in nodes if isinstance(n, ast.alias)
    }
    classes = {n.name for n in nodes if isinstance(n, ast.ClassDef)}
    if program.function not in defined | names | classes and "*" not in names:
        near = did_you_mean(program.function, defined)
        kind = "function" if program.by is None else "task"
        raise ProgramError(f"{program.source} has no {kind} {program.function!r}{near}")


def _check_exists(program: NamedFunction) -> None:
    if program.path is not None and not program.path.is_file():
        near = did_you_mean(program.source, [p.name for p in Path(program.folder).glob("*.py")])
        raise ProgramError(f"there is no file {program.source!r} in {program.folder}{near}")


def of_function(function: Callable[..., object]) -> Program:
    """A function in hand: by name where a fresh process can import it, else by value."""
    name = getattr(function, "__name__", type(function).__name__)
    check_signature(function, name)
    module = getattr(function, "__module__", "__main__")
    if module != "__main__" and getattr(sys.modules.get(module), name, None) is function:
        return NamedFunction(module, name, str(Path.cwd()))
    return PassedFunction(name, function)


def check_signature(function: Callable[..., object], reference: str) -> None:
    """A training function takes the run as its one argument, and runs when it is called."""
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        kind = "asynchronous" if inspect.iscoroutinefunction(function) else "a generator"
        raise ProgramError(
            f"{reference} is {kind}, so that calling it runs nothing; write a plain function"
        )
    try:
        inspect.signature(function).bind(object())
    except TypeError:
        name = getattr(function, "__name__", "train")
        raise ProgramError(
            f"{reference} must take one argument, the run: def {name}(run)"
        ) from None
    except ValueError:
        # Written in C: it does not say what it takes.
        return


def to_json(program: Program) -> str:
    """A program and the import path it needs, for a process of our own."""
    here: dict[str, Any] = {"path": import_path(), "folder": str(Path.cwd())}
    match program:
        case NamedFunction(source, function, folder, by):
            here["named"] = [source, function, folder, by]
        case PassedFunction():
            here["pickled"] = [program.name, base64.b64encode(_pickle(program)).decode()]
        case CommandProgram(command, folder):
            here["command"] = [codec.dumps(command), folder]
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
    if "command" in here:
        text, folder = here["command"]
        return CommandProgram(codec.loads(text), folder)
    name, content = here["pickled"]
    return PickledFunction(name, base64.b64decode(content))


def _pickle(program: PassedFunction) -> bytes:
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(program.function)
    except Exception as error:
        raise ProgramError(
            f"{program.name} cannot be brought into another process: {outcomes.in_words(error)}; "
            "make what it uses within it, or put it into a file and name that: train.py:train"
        ) from error
    return content


def import_path() -> list[str]:
    """Where this process imports from. What is no text there, such as a `Path`, has no effect."""
    return [entry for entry in sys.path if isinstance(entry, str)]


@contextmanager
def _importing(what: str) -> Iterator[None]:
    """Whatever the user's module raises, and where, in one sentence."""
    try:
        yield
    except (ProgramError, KeyboardInterrupt):
        raise
    except SystemExit as left:
        raise ProgramError(f"importing {what} ended with exit code {left.code}") from left
    except BaseException as error:
        text = f"{outcomes.in_words(error)}{outcomes.place(error)}"
        raise ProgramError(f"importing {what} failed: {text}") from error


def _execute(path: Path) -> ModuleType:
    """A file as a module, under its own name where that is free: its classes can be pickled."""
    known = sys.modules.get(path.stem)
    ours = known is None or getattr(known, "__file__", None) == str(path)
    free = ours and path.stem.isidentifier() and path.stem not in sys.stdlib_module_names
    name = path.stem if free else "tunebook_program"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ProgramError(f"{path.name!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import_from(folder: str) -> None:
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
