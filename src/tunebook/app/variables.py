"""The variables that a script reads from its environment, found in its source.

The source is read, never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tunebook.app.constants import constant
from tunebook.app.help_text import value_of
from tunebook.core.commands import RESERVED_VARIABLES, variable_of
from tunebook.core.domains import Value
from tunebook.core.masking import is_secret
from tunebook.studyfile.roles import Found

_SHELL = re.compile(rb"#!.*\b(?:ba|da|k|z)?sh\b")
_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")
# $LR, ${LR}, ${LR:-0.1}, ${LR:=0.1}
_READ = re.compile(r"\$(?:\{([A-Z][A-Z0-9_]*)(?::?[-=]([^}]*))?|([A-Z][A-Z0-9_]*))")
_SET = re.compile(
    r"(?:^|[;&\s])(?:([A-Z][A-Z0-9_]*)=|(?:for|read(?: -r)?) ([A-Z][A-Z0-9_]*)\b)", re.M
)
# A variable is no parameter if a text such as this under its name would be kept from others.
_LIKE_A_SECRET = "0123456789abcdef" * 2
_ANSWERS = re.compile(r"help|getopts?|\$@|\$\*|\$\{@|\$\{\*")
# Of the machine, the shell, awk and a batch system; what looks like a secret is passed by no study.
_OTHERS = re.compile(
    r"HOME|PATH|PWD|OLDPWD|USER|LOGNAME|SHELL|LANG|TERM|TMPDIR|HOSTNAME|UID|EUID|IFS|RANDOM|SECONDS"
    r"|LINENO|PPID|OPTARG|OPTIND|NF|NR|FS|OFS|PYTHONPATH|LD_LIBRARY_PATH|VIRTUAL_ENV"
    r"|(?:CUDA|NVIDIA|NCCL|SLURM|PBS|BASH|LC|XDG|CONDA|TUNEBOOK)_.*"
)


def shell_script(command: Sequence[str]) -> Path | None:
    """The shell script of a command, where it is one."""
    for path in (Path(word) for word in command):
        if path.is_file() and (path.suffix in _SUFFIXES or _SHELL.match(_start(path))):
            return path
    return None


def answers_help(script: Path) -> bool:
    """Whether a shell script may know `--help`: it speaks of it, or hands its arguments on."""
    return _ANSWERS.search(_text(script)) is not None


def read_by_shell(script: Path) -> dict[str, Found]:
    """The variables that a shell script reads and has not set, each as a parameter."""
    text = _text(script)
    known = {one or other for one, other in _SET.findall(text)}
    found: dict[str, Value] = {}
    for braced, default, bare in _READ.findall(text):
        name = braced or bare
        if name not in known or default:
            found[name] = found.get(name) if not default else value_of(default)
    return dict(_parameters(found))


def read_by_python(script: Path) -> dict[str, Found]:
    """Those of `os.environ["LR"]`, `os.environ.get("LR", "0.1")` and `os.getenv("LR", "0.1")`."""
    try:
        tree = ast.parse(script.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return {}
    found: dict[str, Value] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=place, slice=ast.Constant(value=str(name))):
                if _is_environment(place):
                    found.setdefault(name, None)
            case ast.Call(
                func=ast.Attribute(value=place, attr="get" | "getenv" as called),
                args=[ast.Constant(value=str(name)), *defaults],
            ) if called == "getenv" or _is_environment(place):
                default = constant(defaults[0]) if defaults else None
                found[name] = value_of(default) if isinstance(default, str) else default
    return dict(_parameters(found))


def _is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="environ") | ast.Attribute(attr="environ"):
            return True
    return False


def _parameters(found: dict[str, Value]) -> Iterator[tuple[str, Found]]:
    for variable, default in found.items():
        name = variable.lower()
        own = variable_of(name) == variable and variable not in RESERVED_VARIABLES
        if own and not _OTHERS.fullmatch(variable) and not is_secret(variable, _LIKE_A_SECRET):
            yield variable, Found(name, default, required=default is None)


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(100)
    except OSError:
        return b""


def _text(path: Path) -> str:
    """A script without its comments."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))
