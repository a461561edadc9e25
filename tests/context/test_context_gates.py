"""Learnt gates: patterns that are mixed by hand, and a head that a key's recall needs."""

import numpy as np
import pytest
import torch

from tests.context.test_context_scores import GROUP, RECENT, SINKS, TOKENS, is_hidden
from tests.core.test_causal_engine import opened
from tests.core.tiny_decoders import KV_HEADS, LAYERS, LLAMA
from workflow_scripts.context import context_gates
from workflow_scripts.context.context_gates import RATE, Gated, learnt, states
from workflow_scripts.core.model.attention import watching


def test_patterns_are_mixed_by_hand() -> None:
    pattern = torch.rand(1, KV_HEADS * GROUP, 7, 7).tril()
    pattern = pattern / pattern.sum(-1, keepdim=True)
    gates = torch.rand(LAYERS, KV_HEADS)
    mixed = Gated(gates, SINKS, RECENT).pattern(1, pattern, torch.ones(1, 7))
    for head, query in np.ndindex(pattern.shape[1], 7):
        row, gate = pattern[0, head, query], gates[1, head // GROUP]
        seen = row * torch.tensor([not is_hidden(query, key) for key in range(7)])
        expected = gate * row + (1 - gate) * seen / seen.sum()
        torch.testing.assert_close(mixed[0, head, query], expected)


@torch.no_grad()
def test_without_streaming_nothing_changes() -> None:
    model, text = opened(LLAMA), TOKENS[0]
    plain = states(model, text, 2)
    for gate, recent, changes in [(1, RECENT, False), (0, len(text), False), (0, RECENT, True)]:
        with watching(model, Gated(torch.full((LAYERS, KV_HEADS), gate), SINKS, recent)):
            change = (states(model, text, 2) - plain).square().mean()
        assert change > 1e-6 if changes else change < 1e-12


def test_gates_close_but_where_the_hidden_states_need_them(monkeypatch: pytest.MonkeyPatch) -> None:
    n, texts, lengths = 40, [TOKENS[0]] * 40, [2] * 40
    unneeded = learnt(opened(LLAMA), texts, lengths, SINKS, len(TOKENS[0]))  # nothing is hidden
    # Adam moves by the rate against a constant slope: 1/8 to 8/8, 25 whole steps, 7/8 to 1/8.
    assert unneeded == pytest.approx(1 - RATE * (4.5 + n - 15 + 3.5), abs=1e-4)
    monkeypatch.setattr(
        context_gates, "REGULARISATION", 1e-6
    )  # a random model's states vary little
    needed = learnt(opened(LLAMA), texts, lengths, SINKS, RECENT)
    assert (needed >= unneeded - 1e-3).all() and needed.max() > 0.6
