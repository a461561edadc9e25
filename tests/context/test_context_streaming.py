"""Curves of streaming heads: their ends, bytes and areas."""

import numpy as np
import pytest
from transformers import Gemma3TextConfig, LlamaConfig

from tests.core.test_causal_engine import opened, some_tokens
from tests.core.test_streaming import by_mask
from tests.core.tiny_decoders import HEADS, KV_HEADS, LAYERS, LLAMA
from workflow_scripts.context import context_streaming
from workflow_scripts.context.context_streaming import (
    RANDOM,
    WINDOW,
    agreement,
    area,
    at_steps,
    by_order,
    compared,
    curve,
    longer_windows,
    orders,
    resampled,
    share_of_rise,
)
from workflow_scripts.context.documents import cache_bytes, full_lengths, token_scores
from workflow_scripts.context.figures import LOOKS

SINKS, RECENT = 2, 3
SCORES = {"exact": np.array([[3.0, 1.0], [0.0, 2.0]]), "kvzip": np.array([[0.0, 1.0], [2.0, 3.0]])}
COUNTS = [0, 1, 2, 3, 4]


def test_bytes_by_hand() -> None:
    recent = np.array([[0, 3], [20, 0]])  # of 10 tokens: 10 + (2 + 3) + 10 + 10
    assert cache_bytes(recent, 10, 2, 4) == 2 * 4 * 2 * 35


def test_a_layer_with_a_window_keeps_no_more() -> None:
    given = {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention"]}
    full = full_lengths(Gemma3TextConfig(num_hidden_layers=2, **given), 10)
    assert full.tolist() == [[6], [10]]
    assert full_lengths(LlamaConfig(num_hidden_layers=2), 10).tolist() == [[10], [10]]
    recent = np.array([[0, 3], [20, 0]])  # 6 + (2 + 3), then 10 + 10
    assert cache_bytes(recent, full, 2, 4) == 2 * 4 * 2 * 31
    # All heads keep 32 tokens at most: with a window of 8, 6 and 10 each. For 31 that is one less.
    steps = np.array([[[0, 0], [0, 0]], recent, [[1, 1], [1, 1]]])
    assert longer_windows(steps, full, 2)[0, :, 0, 0].tolist() == [8, 7, 1]


def test_orders_begin_with_the_lowest_score_and_random_ones_skip_steps() -> None:
    found = orders(SCORES, COUNTS, RECENT, 5, 1)
    one, two = found["exact"][0, 1], found["exact"][0, 2]
    assert one.tolist() == [[0, 0], [RECENT, 0]] and two.tolist() == [[0, RECENT], [RECENT, 0]]
    assert found[RANDOM].shape == (5, 3, LAYERS, KV_HEADS)
    assert (np.count_nonzero(found[RANDOM], axis=(2, 3)) == [0, 2, 4]).all()
    assert len(np.unique(found[RANDOM][:, 1], axis=0)) > 1


def test_each_variant_is_measured_where_its_order_and_step_are() -> None:
    found = orders(SCORES, COUNTS, RECENT, 3, 1)
    for name, measured in by_order(found, lambda variants: 2 * variants.sum(axis=2)).items():
        assert (measured == 2 * found[name].sum(axis=3)).all()
        assert len(at_steps(name, COUNTS)) == measured.shape[1]


def test_a_longer_window_has_as_many_bytes() -> None:
    steps = orders(SCORES, COUNTS, RECENT, 1, 1)["exact"][0]
    windows = longer_windows(steps, 14, SINKS)[0]
    # 4 heads keep 56, 47, 38, 29 or 20 tokens: 14, 11, 9, 7 or 5 each.
    assert windows[:, 0, 0].tolist() == [12, 9, 7, 5, RECENT] and windows.shape == steps.shape
    spent, given = (cache_bytes(each, 14, SINKS, 4) for each in (windows, steps))
    assert ((given - spent >= 0) & (given - spent < 4 * 2 * 4 * 2)).all()


def test_a_curve_begins_at_the_untouched_loss_and_ends_where_all_heads_stream() -> None:
    tokens = [text for text in some_tokens() if len(text) == 9]
    steps = orders(SCORES, COUNTS, RECENT, 1, 1)["exact"][0][[0, -1, 0]]
    found = token_scores(opened(LLAMA), tokens, steps, SINKS)
    assert (found[0] == found[2]).all()
    for number, text in enumerate(tokens):
        for step, recent in ((0, 0), (1, RECENT)):
            expected = by_mask(LLAMA, text.ids, np.full((LAYERS, HEADS), recent))
            assert found[step, number] == pytest.approx(expected, abs=1e-5)


def test_means_areas_and_the_rise_by_hand() -> None:
    values = np.array([[[2.0, 4.0], [2.5, 4.5], [3.0, 7.0]]])  # [order, step, document]
    means = resampled(values, 100, 1)
    assert means[0].tolist() == [3, 3.5, 5] and set(means[:, 0]) == {2, 3, 4}
    line = curve(means, 2)
    assert line["change"].tolist() == [0, 0.5, 2] and line["change_low"][0] == 0
    assert line["rise"].tolist() == pytest.approx([0, 50 / 3, 200 / 3])
    shares = np.array([0, 0.5, 1])
    assert area(means, shares)[0] == pytest.approx(0.5 * (0.25 + 1.25))
    assert share_of_rise(np.array([0, 0.01, 0.05]), 3.0, shares) == pytest.approx(0.75)
    assert np.isnan(share_of_rise(np.array([0, 0.01, 0.02]), 3.0, shares))


def test_agreement_by_hand() -> None:
    exact = np.arange(20.0).reshape(4, 5)
    score = exact.copy()
    score[3, 3] = -1  # the second costliest head has the lowest score
    found = agreement(score, exact, 100, 1)
    assert (found["missed"], found["missed_heads"], found["n_top"]) == (0.5, "4-4", 2)
    # Ranks move by 18 of one head and by 1 of those below it.
    assert found["rho"] == pytest.approx(1 - 6 * (18**2 + 18) / (20 * (20**2 - 1)))


def test_intervals_of_a_gain_hold_the_noise_of_documents_and_random_orders() -> None:
    rng, covered, true = np.random.default_rng(0), 0, 0.1
    for _ in range(150):
        noise = rng.normal(0, 1, (1, 1, 8))  # shared by all orders: paired
        steps = np.linspace(0, 1, 5)[None, :, None]
        of_documents = 1 + rng.normal(0, 0.3, (1, 1, 8))
        of_orders = 1 + rng.normal(0, 0.3, (20, 1, 1))
        found = {
            "exact": 3 + noise + 0.3 * steps * of_documents,
            WINDOW: 3 + noise + 0.3 * steps,
            RANDOM: 3 + noise + 0.5 * (steps * of_documents * of_orders)[:, ::2],
        }
        row = compared(found, SCORES, np.linspace(0, 1, 5), 200, 1).set_index("order").loc["exact"]
        covered += row["gain_low"] <= true <= row["gain_high"]
    assert covered / 150 >= 0.9
    same = compared(
        found | {"exact": found[WINDOW]}, SCORES, np.linspace(0, 1, 5), 200, 1
    ).set_index("order")
    assert same.loc["exact", ["window_gain", "window_gain_high"]].tolist() == [0, 0]


def test_every_order_has_a_line_in_the_figure() -> None:
    assert set(LOOKS) == {*context_streaming.SCORES, RANDOM, WINDOW}
