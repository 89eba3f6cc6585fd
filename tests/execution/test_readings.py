"""Row 25: what a program may log, and what it is told when it logs something else."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.errors import UnknownName
from tunebook.execution import readings


class Torn:
    """Neither a number nor anything that can be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.5, 0.5),
        (3, 3.0),
        (True, 1.0),
        (1e400, math.inf),
        (-math.inf, -math.inf),
        (5e-324, 5e-324),
        (Fraction(1, 4), 0.25),
        (Decimal("0.1"), 0.1),
        (np.float16(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.int64(7), 7.0),
        (np.uint8(7), 7.0),
        (np.bool_(True), 1.0),
        (np.array(0.5), 0.5),
        (np.array([0.5]), 0.5),
        (np.array([[7]]), 7.0),
    ],
)
def test_row_25_numbers_of_every_kind(value: object, number: float) -> None:
    assert readings.metric_value("loss", value) == number
    assert type(readings.metric_value("loss", value)) is float


@pytest.mark.parametrize("value", [math.nan, np.float32("nan"), np.array(np.nan), Decimal("nan")])
def test_row_25_nan_is_a_number(value: object) -> None:
    assert math.isnan(readings.metric_value("loss", value))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None (NoneType)"),
        ("0.5", "'0.5' (str)"),
        (b"0.5", "b'0.5' (bytes)"),
        (bytearray(b"1"), "bytearray(b'1') (bytearray)"),
        (1 + 2j, "(1+2j) (complex)"),
        (np.complex64(1 + 2j), "np.complex64(1+2j) (complex64)"),
        (np.array(1j), "array(0.+1.j) (ndarray)"),
        (np.str_("1"), "np.str_('1') (str_)"),
        (np.array("1"), "array('1', dtype='<U1') (ndarray)"),
        (np.array([1.0, 2.0]), "array([1., 2.]) (ndarray)"),
        (np.array([]), "array([], dtype=float64) (ndarray)"),
        ([0.5], "[0.5] (list)"),
        (range(10**6), "range(0, 1000000) (range)"),
        (10**400, f"1{'0' * 17}...{'0' * 19} (int)"),
        pytest.param(10**5000, "a very long number (int)", id="a very long number"),
        (Decimal("snan"), "Decimal('sNaN') (Decimal)"),
    ],
)
def test_row_25_what_is_no_number_is_named(value: object, shown: str) -> None:
    with pytest.raises(TypeError) as raised:
        readings.metric_value("loss", value)
    assert str(raised.value) == f"the metric 'loss' must be a number, got {shown}"


def test_row_25_tensors() -> None:
    torch = pytest.importorskip("torch")
    assert readings.number(torch.tensor(0.5)) == 0.5
    assert readings.number(torch.tensor([[7]])) == 7.0
    assert readings.number(torch.tensor(True)) == 1.0
    assert readings.number(torch.tensor(0.5, dtype=torch.bfloat16, requires_grad=True)) == 0.5
    assert readings.number(torch.tensor([1.0, 2.0])) is None
    assert readings.number(torch.tensor(1j)) is None
    assert math.isnan(readings.metric_value("loss", torch.tensor(math.nan)))
    with pytest.raises(TypeError, match=r"'loss' must be a number, got tensor\(\[1., 2.\]\)"):
        readings.metric_value("loss", torch.tensor([1.0, 2.0]))


def test_the_accelerator_s_own_error_is_not_hidden() -> None:
    class Broken:
        def item(self) -> float:
            raise RuntimeError("CUDA error: out of memory")

    with pytest.raises(RuntimeError, match="CUDA error: out of memory"):
        readings.metric_value("loss", Broken())


@given(st.floats(allow_nan=False))
def test_every_float_is_kept_exactly(value: float) -> None:
    assert readings.number(value) == value
    assert readings.number(np.float64(value)) == value


@pytest.mark.parametrize("step", [0, 3, 3.0, np.int64(3), np.array(3), True, 2**63 - 1])
def test_whole_steps(step: object) -> None:
    assert readings.whole_step(step) == step
    assert type(readings.whole_step(step)) is int


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (-1, "-1"),
        (1.5, "1.5"),
        ("3", "'3'"),
        (None, "None"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (2**63, "9223372036854775808"),
        (2.0**63, "9.223372036854776e+18"),
        pytest.param(10**5000, "a very long number", id="a very long number"),
        (np.array([1, 2]), "array([1, 2])"),
        (3j, "3j"),
    ],
)
def test_row_25_other_steps_are_refused(step: object, shown: str) -> None:
    with pytest.raises(ValueError) as raised:
        readings.whole_step(step)
    assert str(raised.value) == f"a step must be a whole number from 0 on, got {shown}"


@given(st.integers(0, readings.LARGEST_STEP))
def test_every_step_is_kept_exactly(step: int) -> None:
    assert readings.whole_step(step) == step


@pytest.mark.parametrize(("name", "shown"), [(1, "1"), (None, "None"), (b"a", "b'a'"), ("", "''")])
def test_row_25_a_name_is_text(name: object, shown: str) -> None:
    with pytest.raises(TypeError) as raised:
        readings.check_name(name)
    assert str(raised.value) == f"a metric's name must be text, got {shown}"


def test_what_cannot_be_shown_is_named_by_its_type() -> None:
    assert readings.shown(Torn()).startswith("<Torn instance at 0x")
    assert len(readings.shown(list(range(10**5)))) <= 60


def test_a_parameter_that_a_trial_lacks_is_told_with_the_nearest() -> None:
    params = {"learning_rate": 0.1}
    assert readings.parameter(params, "learning_rate") == 0.1
    with pytest.raises(UnknownName, match="no parameter 'learning_rte'; did you mean 'learning_r"):
        readings.parameter(params, "learning_rte")
