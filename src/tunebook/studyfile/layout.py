"""How a study file looks: sections in blocks, what belongs to one parameter on one line."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from tunebook.studyfile.scalars import looks_like_a_number

# Far beyond any line: breaking lines does not keep every text.
_WIDTH = 1_000_000
_IN_BLOCKS = ("scientific", "nuisance", "fixed", "derive", "knobs", "baseline")

_IN_LINES = ("command", "infeasible_exit_codes")


class _Representer(RoundTripRepresenter):
    """`null` rather than an empty place, which looks like a mistake; 1e-5 rather than 1e-05."""

    def represent_none(self, data: None) -> Any:
        return self.represent_scalar("tag:yaml.org,2002:null", "null")

    def represent_float(self, data: float) -> Any:
        text = re.sub(r"e([-+])0", r"e\1", repr(data))
        return self.represent_scalar("tag:yaml.org,2002:float", text)


_Representer.add_representer(type(None), _Representer.represent_none)
_Representer.add_representer(float, _Representer.represent_float)


def dump(content: Mapping[str, Any]) -> str:
    """The text of a study file.

    >>> print(dump({"study": "depth", "nuisance": {"dropout": {"linear": [0, 0.5]}}}), end="")
    study: depth
    nuisance:
      dropout: {linear: [0, 0.5]}
    """
    blocks = {key: _section(key, part) for key, part in content.items()}
    return write_again(CommentedMap(blocks))


def inline(value: Any) -> str:
    """A value, or a list or mapping of values, within a line of YAML.

    >>> inline([0.5, "relu", "1", None])
    '[0.5, relu, "1", null]'
    """
    return write_again(CommentedMap({"_": flow(value)})).removeprefix("_: ").rstrip("\n")


def read_again(text: str) -> CommentedMap:
    """The content of a study file together with its comments, for `write_again`."""
    content: CommentedMap = _yaml().load(text)
    return content


def write_again(content: CommentedMap | CommentedSeq) -> str:
    """The text of a study file, with the comments that came with its content."""
    text = io.StringIO()
    _yaml().dump(content, text)
    return text.getvalue()


def _yaml() -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.Representer, yaml.width = _Representer, _WIDTH
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _section(key: str, part: Any) -> Any:
    if key in _IN_BLOCKS:
        return CommentedMap({_text(name): flow(content) for name, content in part.items()})
    if isinstance(part, list) and key not in _IN_LINES:
        return CommentedSeq(map(flow, part))
    if key == "sampling" and isinstance(part, dict) and "configs" in part:
        return CommentedMap({**part, "configs": CommentedSeq(map(flow, part["configs"]))})
    return _literal(part) if isinstance(part, str) else flow(part)


def flow(content: Any) -> Any:
    """A value as it is written within one line."""
    if isinstance(content, str):
        return _text(content)
    if not isinstance(content, dict | list | tuple):
        return content
    node = (
        CommentedMap({_text(key): flow(part) for key, part in content.items()})
        if isinstance(content, dict)
        else CommentedSeq(map(flow, content))
    )
    node.fa.set_flow_style()
    return node


def _literal(text: str) -> Any:
    """Several lines as they are, where YAML can keep them so."""
    lines = text.split("\n")
    clean = all(line.isprintable() and line == line.rstrip() for line in lines)
    if len(lines) > 1 and clean and lines[0][:1].strip():
        return LiteralScalarString(text)
    return _text(text)


def _text(text: str) -> Any:
    # In double quotes every text is kept; left to itself, the library writes some (`?a`) bare that
    # it cannot read.
    bare = re.match(r"\w", text) and text.isprintable() and not looks_like_a_number(text)
    return text if bare else DoubleQuotedScalarString(text)
