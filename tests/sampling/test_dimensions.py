"""Dimensions: one for each parameter in all settings, as few as can be."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from searchable import spaces
from tunebook.core.domains import Float
from tunebook.core.space import Parameter, Role, Space, conditions
from tunebook.sampling.dimensions import dimensions

UNIT = Float(0.0, 1.0)


@given(spaces())
def test_parameters_that_exist_together_have_different_dimensions(space: Space) -> None:
    found = dimensions(space)
    for setting in space.settings():
        taken = [found[parameter.name] for parameter in space.searched(setting)]
        assert len(set(taken)) == len(taken)
    assert found.keys() == {p.name for p in space if p.is_sampled}


@given(spaces())
def test_unconditional_parameters_come_first(space: Space) -> None:
    found = dimensions(space)
    plain = [p.name for p in space if p.is_sampled and not p.when]
    assert [found[name] for name in plain] == list(range(len(plain)))


@given(spaces())
def test_no_dimension_is_left_out(space: Space) -> None:
    taken = set(dimensions(space).values())
    assert taken == set(range(len(taken)))


@given(st.data(), spaces())
def test_a_parameter_of_one_setting_moves_no_other_setting(
    data: st.DataObject, space: Space
) -> None:
    arms = [p for p in space if p.makes_settings and not p.when]
    # It exists where every unconditional arm has its first value; placed anywhere in the list.
    when = conditions({p.name: p.source.values[:1] for p in arms})  # type: ignore[union-attr]
    added = Parameter("added", Role.NUISANCE, UNIT, when)
    place = data.draw(st.integers(0, len(space.parameters)))
    larger = Space((*space.parameters[:place], added, *space.parameters[place:]))
    homes = [s for s in larger.settings() if added in larger.searched(s)]
    assume(len(homes) == 1 < len(larger.settings()))
    before, after = dimensions(space), dimensions(larger)
    for setting in larger.settings():
        if setting not in homes:
            names = [p.name for p in larger.searched(setting)]
            assert [before[name] for name in names] == [after[name] for name in names]


def test_exclusive_parameters_share_dimensions() -> None:
    space = Space.of(
        scientific={"optimiser": ["adam", "sgd", "lion"]},
        nuisance={"a1": UNIT, "a2": UNIT, "s1": UNIT, "both": UNIT, "lr": UNIT, "decay": UNIT},
        when={
            "a1": {"optimiser": "adam"},
            "a2": {"optimiser": "adam"},
            "s1": {"optimiser": "sgd"},
            "both": {"optimiser": ["adam", "sgd"]},
        },
    )
    assert dimensions(space) == {"lr": 0, "decay": 1, "both": 2, "a1": 3, "a2": 4, "s1": 3}


def test_what_hangs_on_a_sampled_choice_has_a_dimension_of_its_own() -> None:
    space = Space.of(
        nuisance={"schedule": ["constant", "cosine"], "a": UNIT, "b": UNIT},
        when={"a": {"schedule": "constant"}, "b": {"schedule": "cosine"}},
    )
    assert dimensions(space) == {"schedule": 0, "a": 1, "b": 2}


def test_what_never_exists_takes_nothing_from_others() -> None:
    space = Space.of(
        nuisance={"never": UNIT, "a": UNIT},
        fixed={"wide": 1},
        when={"never": {"wide": 2}, "a": {"wide": 1}},
    )
    assert dimensions(space)["a"] == 0
