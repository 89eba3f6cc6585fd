"""Changes in the text of a study file: what it means afterwards, and what of it stays."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import budgets, choices, names, ranges, studies, texts, values
from tunebook.core.domains import Float, Value
from tunebook.core.edits import Edit, SetBudget, SetParameter, edited
from tunebook.core.errors import StudyError
from tunebook.core.space import Fixed
from tunebook.core.study import Budget, Study
from tunebook.studyfile.editing import edit_text, in_order
from tunebook.studyfile.parsing import parse
from tunebook.studyfile.writing import write


@st.composite
def edits_of(draw: st.DrawFn, study: Study) -> list[Edit]:
    """A few changes of parameters that a study has, or has not."""
    known = st.sampled_from(study.space.names) if study.space.names else names
    sources = st.one_of(st.builds(Fixed, values), ranges(), choices)
    one = st.builds(SetParameter, known | names, sources, texts)
    return draw(st.lists(one | st.builds(SetBudget, budgets, texts), max_size=3))


@settings(max_examples=60)
@given(st.data())
def test_the_text_means_the_edited_study(data: st.DataObject) -> None:
    study = data.draw(studies())
    edits = data.draw(edits_of(study))
    name = data.draw(st.sampled_from([None, "following"]))
    text = write(study)
    try:
        wished = edited(study, edits)
    except StudyError:
        with pytest.raises(StudyError):
            edit_text(text, edits, name)
        return
    wished = wished.child(name) if name else wished
    assert in_order(parse(edit_text(text, edits, name))) == in_order(wished)


FILE = """\
# The depth of the network.
study: depth
program: train.py:train
objective: {metric: error, better: lower}

scientific:
  blocks: [2, 3]  # deeper ones do not fit

# Tuned anew for every depth.
nuisance:
  learning_rate: {log: [1e-4, 1e-2]}  # a guess
  "no": {linear: [0, 1]}
fixed: {warmup: 0, name: "1e3"}
max_steps: 100  # a minute
"""


def changed(text: str, *edits: Edit, name: str | None = None) -> str:
    return edit_text(textwrap.dedent(text), edits, name)


def test_comments_order_and_quotes_stay() -> None:
    rate = SetParameter("learning_rate", Float(1e-4, 1e-1, log=True), "The best was at the edge.")
    assert changed(FILE, rate) == FILE.replace(
        "  learning_rate: {log: [1e-4, 1e-2]}  # a guess\n",
        "  # The best was at the edge.\n  learning_rate: {log: [0.0001, 0.1]} # a guess\n",
    )


def test_a_section_that_was_left_empty_stays_so() -> None:
    empty = FILE.replace(
        "scientific:\n  blocks: [2, 3]  # deeper ones do not fit\n", "scientific:\n"
    )
    made = changed(empty, SetParameter("warmup", Fixed(500), "Why."))
    assert "\nscientific:\n" in made
    assert "null" not in made
    said = empty.replace("scientific:", "scientific: null")
    assert "scientific: null" in changed(said, SetParameter("warmup", Fixed(500), "Why."))


def test_a_section_on_one_line_is_opened_for_the_reason() -> None:
    made = changed(FILE, SetParameter("warmup", Fixed(500), "It cures the instability."))
    assert 'fixed:\n  # It cures the instability.\n  warmup: 500\n  name: "1e3"\n' in made
    assert "# deeper ones do not fit" in made


def test_a_budget_replaces_one_of_another_kind() -> None:
    made = changed(FILE, SetBudget(Budget(60, "seconds"), "A minute is enough."))
    assert "max_steps" not in made
    assert "# A minute is enough.\nmax_seconds: 60\n" in made


def test_a_parameter_moves_into_another_section() -> None:
    made = changed(FILE, SetParameter("learning_rate", Fixed(0.01), "It is best."))
    assert "learning_rate: 0.01" in made.partition("fixed:")[2]
    assert "learning_rate" not in made.partition("fixed:")[0]
    assert '"no": {linear: [0, 1]}' in made


def test_a_section_that_becomes_empty_goes() -> None:
    text = FILE.replace('  "no": {linear: [0, 1]}\n', "")
    made = changed(text, SetParameter("learning_rate", Fixed(0.01), "It is best."))
    assert "nuisance" not in made
    assert parse(made).space["learning_rate"].source == Fixed(0.01)


def test_a_section_is_made_where_there_is_none() -> None:
    bare = "study: a\nobjective: {metric: error, better: lower}\n"
    made = changed(bare, SetParameter("clip", Fixed(1.0), "Outliers are cut."))
    assert made == f"{bare}fixed:\n  # Outliers are cut.\n  clip: 1.0\n"


def test_a_condition_stays() -> None:
    text = """\
    study: a
    objective: {metric: error, better: lower}
    scientific: {optimizer: [sgd, adam]}
    nuisance: {beta1: {linear: [0.8, 0.99], when: {optimizer: adam}}}
    """
    made = changed(text, SetParameter("beta1", Fixed(0.9), "It is best."))
    assert [str(when) for when in parse(made).space["beta1"].when] == ["optimizer is 'adam'"]
    assert "beta1: {value: 0.9, when: {optimizer: adam}}" in made


@pytest.mark.parametrize("value", ["no", "1e3", "null", "a: b", "# x", "", None, True, 1e-5])
def test_values_that_look_like_others_are_kept(value: Value) -> None:
    made = changed(FILE, SetParameter("name", Fixed(value), "Why."))
    assert parse(made).space["name"].source == Fixed(value)


def test_long_reasons_are_wrapped_and_strange_ones_stay_comments() -> None:
    reason = "word " * 30 + "\nstudy: other\n- a"
    made = changed(FILE, SetParameter("warmup", Fixed(1), reason))
    lines = [line for line in made.splitlines() if line.startswith("  # ")]
    assert len(lines) > 1
    assert all(len(line) <= 80 for line in lines)
    assert "study: other" in " ".join(lines)
    assert parse(made).name == "depth"


def test_a_following_study_names_its_parent() -> None:
    rate = SetParameter("learning_rate", Float(1e-4, 1e-1, log=True), "At the edge.")
    made = changed(FILE, rate, name="depth-2")
    assert "study: depth-2\nparent: depth\n" in made
    assert "# a guess" in made
    again = edit_text(made, [], "depth-3")
    assert "study: depth-3\nparent: depth-2\n" in again
    assert again.count("parent") == 1


def test_a_file_in_one_line_is_written_anew_rather_than_wrongly() -> None:
    text = "{study: a, objective: {metric: error, better: lower}, fixed: {x: 1}}"
    made = changed(text, SetParameter("x", Fixed(2), "Why."))
    assert parse(made).space["x"].source == Fixed(2)


def test_an_edit_that_breaks_the_study_is_refused() -> None:
    text = FILE.replace("{log: [1e-4, 1e-2]}", "{log: [1e-4, 1e-2], when: {blocks: 2}}")
    with pytest.raises(StudyError, match="so blocks must be a choice or fixed"):
        changed(text, SetParameter("blocks", Float(0, 1), "Why."))
