"""Row 46: whatever text a parameter holds, the program gets that text, and no shell reads it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from strategies import arguments
from tunebook.core.commands import Command
from tunebook.execution.arguments import expand, variables

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
def test_arguments_arrive_as_they_are(texts: list[str]) -> None:
    config = dict(zip(("one", "two_b", "text"), texts, strict=True))
    named = Command((*PYTHON, "{one}", "--two={two_b}:{seed}", "{text}"))
    assert echoed(named, config) == [texts[0], f"--two={texts[1]}:7", texts[2], ""]
    equals = Command((*PYTHON, "{overrides}"), "equals")
    expected = [f"--{name}={text}" for name, text in config.items()]
    assert echoed(equals, config) == [*expected, ""]
    environment = Command((*PYTHON, "{one}"), "environment")
    assert echoed(environment, config) == [texts[0], texts[2]]
