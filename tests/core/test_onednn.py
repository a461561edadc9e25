"""Linear layers by oneDNN give what PyTorch's own give, forward and backward."""

import pytest
import torch
from torch.nn import functional

from workflow_scripts.core.model import running
from workflow_scripts.core.model.running import OneDNN

SHAPES = [(1, 3), (7, 16), (2, 5, 8), (2, 3, 4, 8)]


def operands(shape: tuple[int, ...], out: int, bias: bool) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = [shape, (out, shape[-1]), (out,)][: 3 if bias else 2]
    return [torch.randn(size, generator=generator).requires_grad_() for size in shapes]


def values_and_gradients(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    copies = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    result = functional.linear(*copies)
    result.sin().sum().backward()
    return [result.detach(), *(copy.grad for copy in copies)]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """The shapes that `product` was asked for."""
    seen, original = [], running.linear_product

    def watched(states: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        seen.append(states.shape)
        return original(states, *rest)

    monkeypatch.setattr(running, "product", watched)
    return seen


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("out", [1, 6])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_the_product_in_double_precision(
    shape: tuple[int, ...], out: int, bias: bool, calls: list
) -> None:
    tensors = operands(shape, out, bias)
    expected = values_and_gradients([tensor.double() for tensor in tensors])
    assert calls == []
    with OneDNN():
        actual = values_and_gradients(tensors)
    assert len(calls) == (3 if running.ONEDNN else 0)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one.double(), other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "view",
    [
        lambda states: states.transpose(0, 1),
        lambda states: states[:, ::2],
        lambda states: states[:1].expand(4, -1, -1),
    ],
    ids=["transposed", "strided", "repeated"],
)
def test_views_are_read_as_what_they_show(view) -> None:
    states, weight, bias = operands((3, 4, 8), 6, bias=True)
    with torch.inference_mode():
        expected = functional.linear(view(states), weight, bias)
        with OneDNN():
            actual = functional.linear(view(states), weight, bias)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)


def test_frozen_weights_get_no_gradient() -> None:
    states, weight, bias = operands((7, 16), 6, bias=True)
    weight.requires_grad_(False)
    with OneDNN():
        functional.linear(states, weight, bias).sum().backward()
    assert weight.grad is None
    torch.testing.assert_close(states.grad, weight.sum(0).expand(7, -1))
    torch.testing.assert_close(bias.grad, torch.full((6,), 7.0))
