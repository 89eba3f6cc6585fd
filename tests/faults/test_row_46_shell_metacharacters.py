"""Row 46: whatever text a parameter holds, the program gets that text, and no shell reads it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faults.bench import Bench
from strategies import arguments
from tunebook.core.commands import Command
from tunebook.execution.arguments import expand, in_hydra, variables

ECHO = """
import os, sys
out = [os.fsencode(a) for a in sys.argv[1:]] + [os.environb.get(b"TEXT", b"")]
sys.stdout.buffer.write(b"\\0".join(out))
"""
PYTHON = (sys.executable, "-S", "-E", "-c", ECHO.replace("{", "{{").replace("}", "}}"))
HOSTILE = "$(touch /tmp/x); `id` | cat > y && 'a' \"b\" \\ * ? ~ ! # \n {seed} {{x}} %PATH% ${HOME}"


def echoed(command: Command, config: dict[str, Any]) -> list[str]:
    """What a real program finds in its arguments, and in the variable TEXT."""
    given = expand(command, config, {"seed": "7"}, "params.json")
    done = subprocess.run(
        given,
        env=variables(command, config, "params.json"),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return [part.decode() for part in done.stdout.split(b"\0")]


@settings(max_examples=30, deadline=None)
@example([HOSTILE, "-rf", "--"])
@given(st.lists(arguments, min_size=3, max_size=3))
def test_row_46_arguments_arrive_as_they_are(texts: list[str]) -> None:
    config = dict(zip(("one", "two_b", "text"), texts, strict=True))
    named = Command((*PYTHON, "{one}", "--two={two_b}:{seed}", "{text}"))
    assert echoed(named, config) == [texts[0], f"--two={texts[1]}:7", texts[2], ""]
    equals = Command((*PYTHON, "{overrides}"), "equals")
    expected = [f"--{name}={text}" for name, text in config.items()]
    assert echoed(equals, config) == [*expected, ""]
    environment = Command((*PYTHON, "{one}"), "environment")
    assert echoed(environment, config) == [texts[0], texts[2]]


# A script of a study: what it was given, as it stands in /proc, where no library has touched it.
SCRIPT = """
    import json, os
    from pathlib import Path

    def texts(name):
        return Path("/proc/self", name).read_bytes().decode().split("\\0")[:-1]

    given = texts("cmdline")
    run_dir = Path(given[2])
    (run_dir / "given.json").write_text(json.dumps({
        "arguments": given[3:],
        "variables": dict(text.split("=", 1) for text in texts("environ")),
        "file": Path(os.environ.get("TUNEBOOK_PARAMS", os.devnull)).read_text(),
    }))
    print("error 0.5")
    """
VALUES = (HOSTILE, "; touch harmed #", "-rf", "$(touch harmed)`touch harmed`", "null", "")


def passed(style: str, config: dict[str, str], params: str) -> list[str]:
    """The arguments that `{overrides}` must become."""
    match style:
        case "dashes":
            # A value that begins with a dash would be taken for an option.
            pairs = [(f"--{name.replace('_', '-')}", text) for name, text in config.items()]
            return [part for n, t in pairs for part in ([f"{n}={t}"] if t[:1] == "-" else [n, t])]
        case "equals":
            return [f"--{name}={text}" for name, text in config.items()]
        case "hydra":
            # That Hydra reads this back is tested with its own parser, beside `in_hydra`.
            return [f"{name}={in_hydra(text)}" for name, text in config.items()]
        case "json":
            return [params]
    return []


@pytest.mark.parametrize("style", ["dashes", "equals", "hydra", "json", "environment"])
def test_row_46_what_the_script_of_a_study_is_given(bench: Bench, style: str) -> None:
    (bench.folder / "script.py").write_text(textwrap.dedent(SCRIPT))
    named = ["{run_dir}", "{text}", "--one={text}:{seed}", "$HOME; touch harmed"]
    overrides = [] if style == "environment" else ["{overrides}"]
    bench.write_study(
        scientific={"text": list(VALUES)},
        nuisance={},
        fixed={f"other_{number}": text for number, text in enumerate(VALUES)},
        trials=1,
        command=[sys.executable, "script.py", *named, *overrides],
        overrides=style,
        metrics={"pattern": r"^error (?P<error>\S+)"},
    )
    done = bench.run_study("--workers", "2")
    assert done.code == 0, done.err
    results = bench.results()
    assert [record.trial.config["text"] for record in results] == list(VALUES)
    for record, text in zip(results, VALUES, strict=True):
        folder = Path(record.attempts[0].folder)
        given = json.loads((folder / "run" / "given.json").read_text())
        config = {f"other_{number}": other for number, other in enumerate(VALUES)}
        params = str(folder / "params.json")
        assert given["arguments"] == [
            *(text, f"--one={text}:{record.trial.seed}", "$HOME; touch harmed"),
            *passed(style, config, params),
        ]
        seen = {n: t for n, t in given["variables"].items() if n.startswith("OTHER_")}
        by_variable = {name.upper(): other for name, other in config.items()}
        assert seen == (by_variable if style == "environment" else {})
        if style == "json":
            assert given["variables"]["TUNEBOOK_PARAMS"] == params
            assert json.loads(given["file"]) == config
    assert not (bench.folder / "harmed").exists()
