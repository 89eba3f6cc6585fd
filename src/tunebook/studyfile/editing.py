"""Proposed changes, made in the text of a study file: its comments and its order stay."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ruamel.yaml.comments import CommentedMap

from tunebook.core.edits import Edit, SetBudget, SetParameter, edited
from tunebook.core.errors import StudyError
from tunebook.core.space import Fixed, Space
from tunebook.core.study import Study
from tunebook.studyfile.contents import whole
from tunebook.studyfile.layout import flow, read_again, write_again
from tunebook.studyfile.parsing import parse
from tunebook.studyfile.writing import source, write

_SECTIONS = ("scientific", "nuisance", "fixed", "derive")
_BUDGETS = ("max_steps", "max_examples", "max_seconds")
_COMMENT_WIDTH = 76


def edit_text(text: str, edits: Iterable[Edit], name: str | None = None) -> str:
    """The text of a study file with changes made in it, each below a comment that says why.

    With `name`, it is the file of a following study: that of `text` becomes its parent.
    """
    edits = tuple(edits)
    before = parse(text)
    after = edited(before, edits)
    if name is not None:
        after = after.child(name)
    content = read_again(text)
    if name is not None:
        content["study"] = name
        content.pop("parent", None)
        content.insert(1, "parent", before.name)
    for edit in edits:
        _apply(content, edit, after.space)
    made = write_again(content)
    for section in _SECTIONS:
        # A section that was left empty stays so: `null` in its place would be one more change.
        if re.search(rf"^{section}:[ \t]*(#.*)?$", text, re.MULTILINE):
            made = re.sub(rf"^{section}: null", f"{section}:", made, flags=re.MULTILINE)
    try:
        same = in_order(parse(made)) == in_order(after)
    except StudyError:
        same = False
    # Some files are laid out in ways that this does not foresee; what is written must be right.
    return made if same else write(after)


def _apply(content: CommentedMap, edit: Edit, space: Space) -> None:
    match edit:
        case SetBudget(budget, because):
            for key in _BUDGETS:
                if key != f"max_{budget.unit}":
                    content.pop(key, None)
            _put(content, f"max_{budget.unit}", whole(budget.amount), because)
        case SetParameter(name, _, because):
            parameter = space[name]
            home = "fixed" if isinstance(parameter.source, Fixed) else str(parameter.role)
            for section in _SECTIONS:
                if section != home and name in (content.get(section) or {}):
                    del content[section][name]
                    if not content[section]:
                        del content[section]
            if content.get(home) is None:
                content[home] = CommentedMap()
            _put(content[home], name, flow(source(parameter)), because)


def in_order(study: Study) -> Study:
    """A study whose parameters stand in one order, whatever section they came from."""
    parameters = sorted(study.space.parameters, key=lambda parameter: parameter.name)
    return replace(study, space=Space(tuple(parameters)))


def _put(section: CommentedMap, key: str, value: Any, because: str) -> None:
    section[key] = value
    if section.fa.flow_style():
        # A comment would break a mapping that is written on one line.
        section.fa.set_block_style()
    indent = 0 if key in _BUDGETS else 2
    lines = "\n".join(textwrap.wrap(because, _COMMENT_WIDTH - indent))
    section.yaml_set_comment_before_after_key(key, before=lines, indent=indent)
