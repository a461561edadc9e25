"""Attention to the first token against plain loops over eager's attentions, and by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.battery.plain_heads import plain_heads
from tests.core.tiny_decoders import (
    GPT2,
    HEADS,
    LAYERS,
    LLAMA,
    TEXTS,
    random_decoder,
    save_decoder,
)
from tests.core.tiny_models import write_card
from workflow_scripts.battery.first_token_sinks import (
    beginnings,
    heads_table,
    main,
    summary,
    to_first_token,
)
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.model import attention

IDS = np.random.default_rng(0).integers(1, 300, (3, 9))


def slowly(heads, layer: int, head: int) -> dict[str, float]:
    """The measures of one head on one text, query by query."""
    pattern, n = heads.pattern[layer, head], heads.pattern.shape[-1]
    first, total = 0.0, 0.0
    for query in range(n):
        for key in range(query + 1):
            moved = pattern[query, key] * heads.value[layer, head, key] @ heads.out[layer, head]
            norm = float(np.sqrt((moved**2).sum()))
            total += norm
            first += norm if key == 0 else 0.0
    weights = [pattern[query, 0] for query in range(n)]
    seconds = [pattern[query, 1] for query in range(1, n)]
    return {
        "attention": sum(weights) / n,
        "by_norm": first / total,
        "second": sum(seconds) / (n - 1),
    }


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_every_measure_equals_a_loop_over_eagers_attention(config) -> None:
    model = random_decoder(config)
    expected = [plain_heads(model, row) for row in IDS]
    found = to_first_token(attention.open_attention(model), IDS, "")
    for text, heads in enumerate(expected):
        for layer in range(LAYERS):
            for head in range(HEADS):
                for measure, value in slowly(heads, layer, head).items():
                    assert found[measure][text, layer, head] == pytest.approx(value, abs=1e-6)
    assert found["by_norm"].std() > 0.01  # the heads differ
    assert (np.abs(found["by_norm"] - found["attention"]) > 0.01).any()


def test_the_metric_counts_pairs_of_text_and_head_above_the_threshold() -> None:
    """Two texts of two heads: 0.5 and 0.2, 0.4 and 0.3, of which 0.3 is not above 0.3."""
    numbers = np.array([[[0.5, 0.2]], [[0.4, 0.3]]])
    found = {"text": {"attention": numbers, "by_norm": numbers / 2, "second": numbers}}
    rows = summary(found, 0.3, ["a", "b"], 100, 1).set_index("measure")
    assert rows.loc["sinks", "value"] == 0.5
    assert rows.loc["heads", "value"] == 0.5  # 0.45 and 0.25
    assert rows.loc["attention", "value"] == pytest.approx(0.35)
    # Both texts have the same means, so that nothing varies.
    row = rows.loc["norm_less_weight", ["value", "ci_low", "ci_high"]]
    assert row.tolist() == pytest.approx([-0.175] * 3)
    assert rows.loc["sinks", ["n", "n_documents"]].tolist() == [2, 2]
    of_heads = heads_table(found, 0.3, ["a", "b"], 100, 1)
    assert of_heads["above"].tolist() == [1, 0]
    assert of_heads["has_role"].tolist() == [True, False]
    assert of_heads["attention"].tolist() == pytest.approx([0.45, 0.25])


def test_only_the_first_token_is_replaced() -> None:
    made = beginnings(IDS, start=0, seed=1)
    assert list(made) == ["text", "start", "random"]
    for ids in made.values():
        assert (ids[:, 1:] == IDS[:, 1:]).all()
    assert (made["start"][:, 0] == 0).all()
    assert set(made["random"][:, 0]) <= set(IDS.ravel())
    assert (made["random"][:, 0] != IDS[:, 0]).any()


def test_the_tables_of_a_tiny_decoder(tmp_path: Path) -> None:
    """Uniform attention by hand, and the texts that are too short."""
    card = write_card(tmp_path / "attention", save_decoder(LLAMA, tmp_path / "model"))
    texts = (*TEXTS, "no")
    examples = [Example(str(n), str(n), "", (text,)) for n, text in enumerate(texts)]
    write_records(tmp_path / "corpus", examples)
    out = [tmp_path / name for name in ("sinks", "table", "heads")]
    limits = {"n_segments": 9, "n_tokens": 4, "threshold": 0.3, "bootstrap": 100, "device": "cpu"}
    main(card, tmp_path / "corpus", *out, **limits)
    uniform = pd.read_parquet(out[0])["uniform"]
    np.testing.assert_allclose(uniform, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert pd.read_csv(out[1])["too_short"].eq(1).all()
