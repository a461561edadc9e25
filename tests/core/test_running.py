"""Length-bucketed batches, and linear layers by oneDNN."""

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from tests.core.tiny_decoders import LLAMA, random_decoder
from workflow_scripts.core.model import running
from workflow_scripts.core.model.running import OneDNN, by_length, chunks_by_length, part_of


@pytest.mark.parametrize("batch_tokens", [1, 50, 128, 1000, 10**6])
def test_every_example_once_and_none_over_the_limit(batch_tokens: int) -> None:
    lengths = np.random.default_rng(1).integers(3, 128, size=200)
    batches = by_length(lengths, batch_tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= batch_tokens


def test_chunks_hold_every_example_once_neighbours_in_length_together() -> None:
    lengths = [5, 1, 9, 1, 3]
    assert [chunk.tolist() for chunk in chunks_by_length(lengths, 2)] == [[1, 3], [4, 0], [2]]


@given(st.lists(st.integers(1, 30)), st.integers(1, 100), st.integers(1, 9))
def test_parts_are_batched_as_the_whole(
    lengths: list[int], batch_tokens: int, n_parts: int
) -> None:
    """The batches of all parts, each formed of its examples alone, are those of the whole."""
    found = []
    for number in range(1, n_parts + 1):
        chosen = part_of(lengths, batch_tokens, f"{number}-of-{n_parts}")
        batches = by_length([lengths[index] for index in chosen], batch_tokens)
        found += [tuple(chosen[batch].tolist()) for batch in batches]
    whole = [tuple(batch.tolist()) for batch in by_length(lengths, batch_tokens)]
    assert sorted(found) == sorted(whole)


SHAPES = [(7, 16), (2, 3, 4, 8)]


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
    """The shapes that `linear_product` was asked for."""
    seen, original = [], running.linear_product

    def watched(states: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        seen.append(states.shape)
        return original(states, *rest)

    monkeypatch.setattr(running, "linear_product", watched)
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
def test_memory_is_used_again_and_given_back() -> None:
    code = (
        "from resource import RUSAGE_SELF, getrusage\n"
        "from workflow_scripts.core.model import running\n"
        "def faults(n=2**26):\n"
        "    before = getrusage(RUSAGE_SELF).ru_minflt; b'x' * n\n"
        "    return getrusage(RUSAGE_SELF).ru_minflt - before\n"
        "with running.memory_kept(): faults(), print(faults())\n"
        "print(faults())\n"
    )
    root = Path(__file__).parents[2]
    found = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=root)
    kept, afterwards = map(int, found.split())
    assert kept < 1000 < afterwards  # of the 16,384 pages of 64 MB


@pytest.mark.parametrize("onednn", [False, hasattr(torch.ops.mkldnn, "_linear_pointwise")])
def test_layers_run_again_in_a_backward_pass_and_give_its_gradients(
    onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ONEDNN", onednn)
    model, ids, calls, gradients = random_decoder(LLAMA).eval(), torch.arange(1, 9)[None], [], []
    model.model.layers[0].mlp.register_forward_pre_hook(lambda *given: calls.append(1))
    for again in (running.recomputed(model), OneDNN()):
        with again:
            model(ids, labels=ids).loss.backward()
        gradients.append(model.model.embed_tokens.weight.grad)
        model.zero_grad()
        calls.append(0)
    assert calls == [1, 1, 0, 1, 0]
    torch.testing.assert_close(*gradients)
