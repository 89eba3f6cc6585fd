"""YAML text becomes plain values with lines, or one clear sentence."""

from __future__ import annotations

import pytest

from tunebook.studyfile.document import load
from tunebook.studyfile.problems import Problems


def told(text: str) -> str:
    """What is said about a faulty text."""
    with pytest.raises(Problems) as caught:
        load(text)
    return str(caught.value.error("study"))


def test_every_key_and_item_has_its_line() -> None:
    document = load("a: 1\nb:\n  - x\n  - c: {d: 2,\n     e: 3}\n")
    assert document.content == {"a": 1, "b": ["x", {"c": {"d": 2, "e": 3}}]}
    assert document.lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "c"): 4,
        ("b", 1, "c", "d"): 4,
        ("b", 1, "c", "e"): 5,
    }


def test_a_place_that_is_missing_has_the_line_around_it() -> None:
    document = load("a: 1\nb:\n  c: 2\n")
    assert document.line(("b", "d")) == 2
    assert document.line(("z",)) == 1


@pytest.mark.parametrize(
    "text", ["\ufeffa: 1", "---\na: 1\n...\n", "a: 1\r\n", "%YAML 1.2\n---\na: 1", "{a: 1}"]
)
def test_other_ways_to_write_the_same(text: str) -> None:
    assert load(text).content == {"a": 1}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\n\n"])
def test_an_empty_file(text: str) -> None:
    assert told(text) == "study:1: the file is empty; begin with 'study: ' and a name"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "1: a study file holds 'key: value' lines, got ['a']"),
        ("a: 1\n---\nb: 2", "2: a file holds one study; put the next one into its own file"),
        ("a: 1\nb: 2\na: 3\n", "3: the key 'a' was given before, on line 1"),
        ("a: {b: 1,\n b: 2}", "2: the key 'b' was given before, on line 1"),
        ("a:\n\tb: 1\n", "2: a tab cannot indent or begin a value in YAML; use spaces"),
        ("a: 1\n1: a", "2: a key must be text, got 1; put it in quotes"),
        ("true: a", "1: a key must be text, got true; put it in quotes"),
        ("[a]: b", "1: a key must be text, got a list or a mapping"),
        ("a: 1\nb: \x00", "2: the character '\\x00' is not allowed"),
        ("a: 1\nb: \ud800", "2: the character '\\ud800' is not allowed"),
        ("%YAML 1.1\n---\na: no", "2: study files are YAML 1.2; remove the %YAML line"),
        (
            "a: b: c",
            "1: a ':' is not expected here; check the indentation, or put the text in quotes",
        ),
        (
            "a: [1, 2\nb: 3\n",
            "2: not valid YAML while parsing a flow sequence: expected ',' or ']', but got ':'",
        ),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    assert told(text) == f"study:{message}"


HOSTILE = {
    "large": ("a: 1\n" + "#" * 65536, "1: a study file may have 65536 bytes, got 65541"),
    "large in bytes": ("# " + "é" * 40_000, "1: a study file may have 65536 bytes, got 80002"),
    "deep lists": ("a: " + "[" * 60_000, "1: nested deeper than 50 levels"),
    "deep mappings": ("a: " + "{a: " * 10_000, "1: nested deeper than 50 levels"),
    "deep blocks": ("- " * 30_000, "1: nested deeper than 50 levels"),
    "many values": ("a: [" + "1," * 30_000 + "]", "1: a study file may have 10000 values"),
    "many digits": ("a:\n  " + "9" * 60_000, "2: a number may have 300 digits, got 60000"),
    "aliases": ("a: &x [1]\nb: [*x, *x]", "1: anchors and aliases are not read, got 'x'"),
    "an alias": ("a: *x", "1: anchors and aliases are not read, got 'x'"),
    "an alias as a key": ("*x : a", "1: anchors and aliases are not read, got 'x'"),
    "an object": (
        "a: !!python/object/apply:os.system [ls]",
        "1: tags are not read, got 'tag:yaml.org,2002:python/object/apply:os.system'; "
        "quotes make text",
    ),
    "a tagged file": (
        "!!map {a: 1}",
        "1: tags are not read, got 'tag:yaml.org,2002:map'; quotes make text",
    ),
    "a tagged key": ("!x a: 1", "1: tags are not read, got '!x'; quotes make text"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str) -> None:
    text, message = HOSTILE[name]
    assert told(text) == f"study:{message}"


@pytest.mark.parametrize("text", ['a: "\\UFFFFFFFF"', "%YAML 1" + "0" * 5000 + ".1\n---\na: 1"])
def test_bare_errors_of_the_parser_become_a_sentence(text: str) -> None:
    assert told(text).startswith("study:1: not valid YAML: a number in it is too large (")
