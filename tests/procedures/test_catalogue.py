"""The probes by name."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tunebook.app.commands.probe import probe as commands
from tunebook.core.errors import UnknownName
from tunebook.core.knobs import Knobs
from tunebook.procedures.catalogue import PROBES, named
from tunebook.procedures.needs import MAX_STEPS


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_says_what_it_asks_and_needs(name: str) -> None:
    probe = named(name)
    assert probe.name == name
    assert probe.question.endswith("?")
    known = {field.name for field in fields(Knobs)} | {MAX_STEPS}
    assert {need.knob for need in probe.needs} <= known
    # They are read within a sentence.
    assert all(need.use and not need.use.endswith(".") for need in probe.needs), probe.needs


def test_every_probe_is_a_command() -> None:
    assert {command.name for command in commands.registered_commands} == set(PROBES)


def test_a_misspelt_name_is_mended() -> None:
    with pytest.raises(UnknownName, match=r"no probe is named 'varience'; did you mean 'variance'"):
        named("varience")
    with pytest.raises(UnknownName, match=r"no probe is named 'x'; there are .*variance"):
        named("x")
