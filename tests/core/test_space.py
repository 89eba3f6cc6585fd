"""Spaces: settings, what exists in them, configurations and their points."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import searchable
from strategies import spaces
from tunebook.core.domains import Choice, Float, Int, Value
from tunebook.core.errors import StudyError
from tunebook.core.space import (
    MOST_PARAMETERS,
    Derived,
    Fixed,
    Parameter,
    Role,
    Setting,
    Space,
    When,
    conditions,
)

UNIT = Float(0.0, 1.0)
OPTIMISERS = Space.of(
    scientific={"optimiser": ["adam", "sgd"], "nesterov": [False, True]},
    nuisance={
        "learning_rate": Float(1e-4, 1e-2, log=True),
        "one_minus_momentum": UNIT,
        "schedule": ["constant", "cosine"],
        "cosine.end": UNIT,
    },
    fixed={"batch_size": 128},
    derive={"momentum": "1 - one_minus_momentum"},
    when={
        "nesterov": {"optimiser": "sgd"},
        "one_minus_momentum": {"optimiser": "sgd"},
        "cosine.end": {"schedule": "cosine"},
    },
)
ADAM, PLAIN, NESTEROV = OPTIMISERS.settings()


def decode(setting: Setting, point: dict[str, float]) -> dict[str, Value]:
    return OPTIMISERS.decode(setting, point)


def test_settings_are_the_combinations_that_exist() -> None:
    assert [str(setting) for setting in OPTIMISERS.settings()] == [
        "optimiser=adam",
        "optimiser=sgd, nesterov=False",
        "optimiser=sgd, nesterov=True",
    ]
    assert [str(setting) for setting in Space.of(nuisance={"x": UNIT}).settings()] == ["all"]
    assert Space().settings() == (Setting(),)


def test_a_setting_may_hang_on_a_fixed_value() -> None:
    space = Space.of(
        scientific={"width": [1, 2]}, fixed={"wide": False}, when={"width": {"wide": True}}
    )
    assert space.settings() == (Setting(),)
    assert space.edit({"wide": Parameter("wide", Role.FIXED, Fixed(True))}).settings() == (
        Setting((("width", 1),)),
        Setting((("width", 2),)),
    )


def test_equal_settings_have_equal_keys() -> None:
    assert Setting((("blocks", 2), ("a", "x"))).key == '{"a":"x","blocks":2}'
    assert Setting((("a", "x"), ("blocks", 2.0))).key == '{"a":"x","blocks":2}'
    assert Setting((("blocks", True),)).key != Setting((("blocks", 1),)).key
    assert Setting((("blocks", 2.5),)).key == '{"blocks":2.5}'


def test_equal_settings_are_written_alike() -> None:
    assert str(Setting((("momentum", 0.0),))) == str(Setting((("momentum", 0),))) == "momentum=0"


def test_searched_leaves_out_what_cannot_exist() -> None:
    names = [[p.name for p in OPTIMISERS.searched(s)] for s in (ADAM, NESTEROV)]
    assert names == [
        ["learning_rate", "schedule", "cosine.end"],
        ["learning_rate", "one_minus_momentum", "schedule", "cosine.end"],
    ]


def test_what_hangs_on_something_that_does_not_exist_does_not_exist() -> None:
    space = Space.of(
        nuisance={"a": ["on", "off"], "b": ["on", "off"], "c": UNIT},
        fixed={"wide": 1},
        when={"a": {"wide": 2}, "b": {"a": "on"}, "c": {"b": ["on", "off"]}},
    )
    assert space.searched(Setting()) == ()
    assert space.decode(Setting(), {}) == {"wide": 1}


def test_decode_gives_the_configuration_of_a_point() -> None:
    point = {"learning_rate": 0.5, "schedule": 0.9, "cosine.end": 0.25}
    assert decode(ADAM, point) == {
        "batch_size": 128,
        "cosine.end": 0.25,
        "learning_rate": 0.001,
        "optimiser": "adam",
        "schedule": "cosine",
    }
    assert decode(NESTEROV, {**point, "one_minus_momentum": 0.25, "schedule": 0.0}) == {
        "batch_size": 128,
        "learning_rate": 0.001,
        "momentum": 0.75,
        "nesterov": True,
        "one_minus_momentum": 0.25,
        "optimiser": "sgd",
        "schedule": "constant",
    }


@given(st.data(), searchable.spaces())
def test_a_configuration_comes_back_from_its_point(data: st.DataObject, space: Space) -> None:
    setting = data.draw(st.sampled_from(space.settings()))
    point = {p.name: data.draw(searchable.units) for p in space.searched(setting)}
    config = space.decode(setting, point)
    assert space.decode(setting, {**point, **space.encode(config)}) == pytest.approx(config)
    searched = {n: v for n, v in config.items() if n in space.encode(config)}
    assert space.complete(setting, searched) == config
    assert setting.config.items() <= config.items()
    assert config.keys() <= set(space.names)


@given(spaces())
def test_parameters_are_ordered_by_role_and_then_by_what_they_need(space: Space) -> None:
    assert sorted(space, key=lambda p: list(Role).index(p.role)) == list(space)
    done: set[str] = set()
    for parameter in space.in_order:
        assert {condition.parameter for condition in parameter.when} <= done
        done.add(parameter.name)
    assert done == set(space.names)


@given(spaces(), spaces())
def test_a_difference_is_empty_for_equal_spaces_only(one: Space, other: Space) -> None:
    assert one.difference(one) == ()
    changed = one.difference(other)
    same_parameters = sorted(map(str, one)) == sorted(map(str, other))
    assert bool(changed) or (same_parameters and set(one.names) == set(other.names))
    assert len(changed) == len(other.difference(one))


def test_a_difference_has_a_line_for_each_change() -> None:
    before = Space.of(nuisance={"a": UNIT, "b": UNIT}, fixed={"c": 1})
    after = Space.of(nuisance={"a": Float(0.0, 2.0), "d": UNIT}, fixed={"c": 1})
    assert before.difference(after) == (
        "~ a: nuisance, 0 to 1 -> nuisance, 0 to 2",
        "- b: nuisance, 0 to 1",
        "+ d: nuisance, 0 to 1",
    )


def test_edit_replaces_adds_and_removes() -> None:
    space = Space.of(nuisance={"a": UNIT, "b": UNIT})
    wider = Parameter("a", Role.NUISANCE, Float(0.0, 2.0))
    added = Parameter("c", Role.FIXED, Fixed(1))
    edited = space.edit({"a": wider, "b": None, "c": added})
    assert edited.parameters == (wider, added)
    assert space.names == ("a", "b")


def test_parameters_by_name_and_role() -> None:
    assert OPTIMISERS["schedule"].source == Choice(("constant", "cosine"))
    assert "momentum" in OPTIMISERS
    assert "momentun" not in OPTIMISERS
    assert [p.name for p in OPTIMISERS.by_role(Role.FIXED)] == ["batch_size", "momentum"]
    assert [p.name for p in OPTIMISERS.by_role(Role.SCIENTIFIC)] == ["optimiser", "nesterov"]


def test_a_scientific_range_is_sampled() -> None:
    source = Parameter("any", Role.NUISANCE, Float(1e-6, 1e-2, log=True))
    space = Space.of(scientific={"decay": source})
    parameter = space["decay"]
    assert (parameter.role, parameter.makes_settings, parameter.is_sampled) == (
        Role.SCIENTIFIC,
        False,
        True,
    )
    assert space.settings() == (Setting(),)
    assert space.encode({"decay": 1e-4}) == {"decay": pytest.approx(0.5)}


def test_conditions_take_one_value_or_several() -> None:
    assert conditions({"a": 3, "b": [3, 4], "c": "relu", "d": None}) == (
        When("a", (3,)),
        When("b", (3, 4)),
        When("c", ("relu",)),
        When("d", (None,)),
    )


def test_conditions_keep_true_apart_from_one() -> None:
    assert not When("a", (1,)).holds({"a": True})
    assert When("a", (0, 1)).holds({"a": 1.0})
    assert not When("a", (None,)).holds({})


def test_parameters_as_text() -> None:
    texts = {name: str(OPTIMISERS[name]) for name in ("batch_size", "momentum", "nesterov")}
    assert texts == {
        "batch_size": "fixed, fixed at 128",
        "momentum": "fixed, derived as 1 - one_minus_momentum",
        "nesterov": "scientific, one of False, True, when optimiser is 'sgd'",
    }
    both = Parameter("x", Role.NUISANCE, UNIT, conditions({"a": [1, 2], "b": "c"}))
    assert str(both) == "nuisance, 0 to 1, when a is 1 or 2 and b is 'c'"


REFUSED: list[tuple[Callable[[], object], str]] = [
    (
        lambda: Parameter("1x", Role.NUISANCE, UNIT),
        "'1x' cannot name a parameter; "
        "use letters, digits, '_', '.' and '-', beginning with a letter",
    ),
    (
        lambda: Parameter("x", Role.NUISANCE, Fixed(1)),
        "x: a nuisance parameter cannot be fixed at 1",
    ),
    (lambda: Parameter("x", Role.FIXED, UNIT), "x: a fixed parameter cannot be 0 to 1"),
    (
        lambda: Parameter("x", Role.NUISANCE, UNIT, buckets=4),
        "x: buckets belong to scientific ranges, not to 0 to 1",
    ),
    (
        lambda: Parameter("x", Role.SCIENTIFIC, Choice((1, 2)), buckets=4),
        "x: buckets belong to scientific ranges, not to one of 1, 2",
    ),
    (
        lambda: Parameter("x", Role.SCIENTIFIC, UNIT, buckets=1),
        "x: buckets must be at least 2, got 1",
    ),
    (
        lambda: Space.of(nuisance={"x": 3}),  # type: ignore[dict-item]
        "x: expected a range or a list of values, got 3",
    ),
    (
        lambda: Space.of(nuisance={"x": "relu"}),
        "x: expected a range or a list of values, got 'relu'",
    ),
    (
        lambda: Space.of(nuisance={"x": UNIT}, fixed={"x": 1}),
        "a parameter may be named once, got x more than once",
    ),
    (
        lambda: Space.of(fixed={f"x{n}": n for n in range(MOST_PARAMETERS + 1)}),
        "a space may have 1000 parameters, got 1001",
    ),
    (
        lambda: Space.of(scientific={f"s{n}": list(range(10)) for n in range(12)}),
        "the values of the scientific parameters up to s4 make 100000 settings, and a study may "
        "compare 10000; ask about fewer parameters, or sample some as nuisance",
    ),
    (
        lambda: Space.of(derive={"x": "9**9**9**9"}),
        "cannot compute '9**9**9**9': the power is too large",
    ),
    (
        lambda: Space.of(nuisance={"dropout": UNIT}, when={"dropot": {"a": 1}}),
        "when: no parameter is named 'dropot'; did you mean 'dropout'?",
    ),
    (
        lambda: Space.of(nuisance={"x": UNIT, "blocks": [1, 2]}, when={"x": {"block": 1}}),
        "x depends on 'block', which is no parameter; did you mean 'blocks'?",
    ),
    (
        lambda: Space.of(nuisance={"x": UNIT}, derive={"y": "1 - z"}),
        "y depends on 'z', which is no parameter",
    ),
    (
        lambda: Space.of(nuisance={"x": UNIT, "y": UNIT}, when={"x": {"y": 1}}),
        "x exists when y has certain values, so y must be a choice or fixed; it is 0 to 1",
    ),
    (
        lambda: Space.of(scientific={"x": [1, 2]}, nuisance={"y": [1, 2]}, when={"x": {"y": 1}}),
        "x makes settings: it cannot depend on y, which is sampled",
    ),
    (
        lambda: Space.of(nuisance={"x": UNIT, "y": [1, 2]}, when={"x": {"y": [1, 3]}}),
        "x exists when y is 3, but y is one of 1, 2",
    ),
    (
        lambda: Space.of(nuisance={"x": [1], "y": [1]}, when={"x": {"y": 1}, "y": {"x": 1}}),
        "these parameters depend on one another in a circle: x, y",
    ),
    (
        lambda: Space.of(derive={"x": "y + 1", "y": "x - 1"}),
        "these parameters depend on one another in a circle: x, y",
    ),
    (lambda: OPTIMISERS["schedul"], "no parameter is named 'schedul'; did you mean 'schedule'?"),
    (
        lambda: OPTIMISERS.edit({"gone": None}),
        "cannot remove 'gone': no parameter has this name",
    ),
    (
        lambda: OPTIMISERS.edit({"a": Parameter("b", Role.FIXED, Fixed(1))}),
        "'a' cannot be replaced by 'b': names differ",
    ),
    (
        lambda: OPTIMISERS.complete(ADAM, {"one_minus_momentum": 0.1}),
        "'one_minus_momentum' is not searched in the setting optimiser=adam",
    ),
    (
        lambda: OPTIMISERS.complete(ADAM, {"learning_rat": 0.1}),
        "'learning_rat' is not searched in the setting optimiser=adam; "
        "did you mean 'learning_rate'?",
    ),
    (
        lambda: OPTIMISERS.complete(ADAM, {"learning_rate": 0.001}),
        "a configuration for the setting optimiser=adam lacks 'schedule'",
    ),
    (
        lambda: OPTIMISERS.complete(ADAM, {"learning_rate": 1.0, "schedule": "constant"}),
        "learning_rate: 1.0 does not lie in 0.0001 to 0.01 (log)",
    ),
    (lambda: Derived("f(x)"), "an expression cannot contain 'f(x)'; "),
    (lambda: Fixed([1]), "a value must be a number, text, true, false or null, got [1]"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "text"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_is_refused_and_how_it_is_said(make: Callable[[], object], text: str) -> None:
    with pytest.raises(StudyError) as caught:
        make()
    assert str(caught.value).startswith(text)
    assert str(caught.value) == text or text.endswith(("; ", "[1]"))


def test_an_error_of_a_space_names_the_parameter_at_fault() -> None:
    with pytest.raises(StudyError) as caught:
        Space.of(nuisance={"x": UNIT, "y": UNIT}, when={"x": {"y": 1}})
    assert caught.value.parameter == "x"


def test_the_same_space_however_it_was_listed() -> None:
    fixed = Parameter("a", Role.FIXED, Fixed(1))
    searched = Parameter("b", Role.NUISANCE, Int(1, 3))
    assert Space((fixed, searched)) == Space((searched, fixed))
    assert hash(Space((fixed, searched))) == hash(Space((searched, fixed)))
