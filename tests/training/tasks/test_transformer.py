"""The transformer: shapes, sizes, and that no place sees what comes after it."""

from __future__ import annotations

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from tunebook.core.errors import StudyError
from tunebook.training.tasks.transformer import Transformer

SYMBOLS, CONTEXT, WIDTH = 11, 6, 8
BLOCK = (2 * WIDTH + 3 * (WIDTH**2 + WIDTH) + WIDTH**2 + WIDTH) + (
    2 * WIDTH + WIDTH * 4 * WIDTH + 4 * WIDTH + 4 * WIDTH * WIDTH + WIDTH
)


def transformer(**options) -> Transformer:
    torch.manual_seed(0)
    shape = {"symbols": SYMBOLS, "context": CONTEXT, "width": WIDTH, "depth": 2, "heads": 2}
    return Transformer(**{**shape, **options})


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("tied", [True, False])
def test_sizes(depth: int, tied: bool) -> None:
    model = transformer(depth=depth, tied=tied)
    tables = SYMBOLS * WIDTH + CONTEXT * WIDTH
    head = 0 if tied else SYMBOLS * WIDTH
    assert (
        parameters_to_vector(model.parameters()).numel()
        == tables + depth * BLOCK + 2 * WIDTH + head
    )
    assert model(torch.randint(SYMBOLS, (3, CONTEXT))).shape == (3, CONTEXT, SYMBOLS)


@pytest.mark.parametrize("tied", [True, False])
def test_no_tensor_is_saved_twice(tied: bool) -> None:
    state = transformer(tied=tied).state_dict()
    assert len({tensor.data_ptr() for tensor in state.values()}) == len(state)


def test_tied_weights_serve_both_ends() -> None:
    model = transformer()
    x = torch.randint(SYMBOLS - 1, (2, CONTEXT))
    before = model(x)
    with torch.no_grad():
        model.symbols[-1] += torch.randn(WIDTH)
    after = model(x)
    assert torch.equal(after[..., :-1], before[..., :-1])
    assert not torch.isclose(after[..., -1], before[..., -1]).any()


@pytest.mark.parametrize("place", range(CONTEXT))
def test_no_place_sees_what_comes_after_it(place: int) -> None:
    model = transformer()
    x = torch.randint(SYMBOLS, (4, CONTEXT))
    changed = x.clone()
    changed[:, place] = (x[:, place] + 1) % SYMBOLS
    before, after = model(x), model(changed)
    torch.testing.assert_close(after[:, :place], before[:, :place])
    differs = (after[:, place:] - before[:, place:]).abs().amax(-1) > 1e-6
    assert differs.all()


def test_order_matters() -> None:
    model = transformer()
    one, other = model(torch.tensor([[1, 2, 3], [2, 1, 3]]))[:, -1]
    assert not torch.allclose(one, other)


def test_a_text_may_be_shorter_than_the_context() -> None:
    model = transformer()
    x = torch.randint(SYMBOLS, (2, CONTEXT))
    torch.testing.assert_close(model(x[:, :3]), model(x)[:, :3])


def test_dropout_acts_in_training_alone() -> None:
    model = transformer(dropout=0.5)
    x = torch.randint(SYMBOLS, (2, CONTEXT))
    assert not torch.equal(model(x), model(x))
    model.eval()
    assert torch.equal(model(x), model(x))
    assert torch.equal(model(x), transformer().eval()(x))


def test_the_width_is_divided_among_the_heads() -> None:
    with pytest.raises(StudyError, match="width must be a multiple of heads, got width 8 and 3"):
        transformer(heads=3)
