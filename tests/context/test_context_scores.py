"""Scores of key-value heads against plain loops over transformers' own attention."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tests.core.test_causal_engine import opened, some_tokens
from tests.core.test_streaming import by_mask
from tests.core.tiny_decoders import HEADS, KV_HEADS, LAYERS, LLAMA, random_decoder, save_llama
from workflow_scripts.context.context_scores import estimates, exact, repeated, table_of
from workflow_scripts.context.documents import opened as checked
from workflow_scripts.context.documents import sampled
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import Watcher, watching
from workflow_scripts.core.model.models import describe

SINKS, RECENT, GROUP = 2, 3, HEADS // KV_HEADS
TOKENS = some_tokens()[:2]
KEY_VALUE_HEADS = list(np.ndindex(LAYERS, KV_HEADS))


def patterns(ids: list[int]) -> np.ndarray:
    """Attention [layer, head, query, key] as transformers returns it."""
    model = random_decoder(LLAMA, attn_implementation="eager")
    with torch.no_grad():
        found = model(torch.tensor([ids]), output_attentions=True).attentions
    return torch.cat(found).numpy()


def is_hidden(query: int, key: int) -> bool:
    return SINKS <= key <= query - RECENT


def test_exact_loss_is_that_of_a_plain_mask() -> None:
    found = exact(opened(LLAMA), TOKENS, SINKS, RECENT)["exact"]
    assert found.shape == (len(TOKENS), LAYERS, KV_HEADS)
    for number, text in enumerate(TOKENS):
        recent = np.zeros((LAYERS, HEADS), int)
        plain = by_mask(LLAMA, text.ids, recent).mean()
        for layer, head in KEY_VALUE_HEADS:
            streaming = recent.copy()
            streaming[layer, head * GROUP : (head + 1) * GROUP] = RECENT
            cost = by_mask(LLAMA, text.ids, streaming).mean() - plain
            assert found[number, layer, head] == pytest.approx(cost, abs=1e-5)


class Mixed(Watcher):
    """Mixes the pattern of one key-value head with its streaming one, by a loop over queries."""

    def __init__(self, layer: int, head: int, share: float) -> None:
        self.layer, self.head, self.share = layer, head, share

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if layer != self.layer:
            return pattern
        mixed = pattern.clone()
        for head in range(self.head * GROUP, (self.head + 1) * GROUP):
            for query, row in enumerate(pattern[0, head]):
                seen = torch.tensor([not is_hidden(query, key) for key in range(len(row))])
                streaming = row * seen / (row * seen).sum()
                mixed[0, head, query] = row + self.share * (streaming - row)
        return mixed


def test_the_estimate_is_the_slope_at_no_streaming() -> None:
    model, step = opened(LLAMA), 1e-2  # norms run in float32
    found = estimates(model, TOKENS, SINKS, RECENT)["estimate"]
    for number, text in enumerate(TOKENS):
        ids = torch.from_numpy(text.ids).long()[None]
        for layer, head in KEY_VALUE_HEADS:
            losses = []
            for share in (step, -step):
                with torch.no_grad(), watching(model, Mixed(layer, head, share)):
                    logits = model(input_ids=ids).logits[0, :-1]
                losses.append(cross_entropy(logits, ids[0, 1:]).item())
            slope = (losses[0] - losses[1]) / (2 * step)
            assert found[number, layer, head] == pytest.approx(slope, abs=1e-4)
    assert np.abs(found).min() > 1e-4


def test_attention_outside_is_the_weight_on_hidden_tokens() -> None:
    found = estimates(opened(LLAMA), TOKENS, SINKS, RECENT)["outside"]
    for number, text in enumerate(TOKENS):
        pattern = patterns(text.ids[:-1].tolist())  # the last token predicts none
        for layer, head in KEY_VALUE_HEADS:
            sums = [
                sum(pattern[layer, each, query, key] for key in range(SINKS, query - RECENT + 1))
                for each in range(head * GROUP, (head + 1) * GROUP)
                for query in range(SINKS + RECENT, len(text) - 1)
            ]
            assert found[number, layer, head] == pytest.approx(np.mean(sums), abs=1e-6)


@pytest.mark.parametrize("start", [0, 1])
def test_kvzip_is_the_largest_weight_while_the_text_is_repeated(start: int) -> None:
    prompt = [7, 8, 9]
    found = repeated(opened(LLAMA), TOKENS, prompt, start)
    for number, text in enumerate(TOKENS):
        ids, n = text.ids.tolist(), len(text)
        pattern = patterns([*ids, *prompt, *ids[start:]])
        first, last = n + len(prompt) - 1, len(pattern[0, 0]) - 2  # predict the text's tokens
        for layer, head in KEY_VALUE_HEADS:
            of_group = pattern[layer, head * GROUP : (head + 1) * GROUP, first : last + 1]
            of_tokens = [of_group[..., key].max() for key in range(start, n)]
            assert found["kvzip"][number, layer, head] == pytest.approx(np.mean(of_tokens))
            assert found["kvzip_max"][number, layer, head] == pytest.approx(max(of_tokens))


def test_heads_of_a_group_share_one_row() -> None:
    values = np.arange(8.0).reshape(2, 2, 2)  # [document, layer, key-value head]
    retrieval = np.array([[0.1, 0.3, 0.2, 0.0], [0.0, 0.0, 0.5, 0.4]])
    frame = table_of({"exact": values}, {"retrieval": retrieval}, 2, 100, 1)
    assert frame["exact"].tolist() == [2, 2, 3, 3, 4, 4, 5, 5]
    assert frame["retrieval"].tolist() == [0.3, 0.3, 0.2, 0.2, 0, 0, 0.5, 0.5]
    assert frame["key_value_head"].tolist() == [0, 0, 1, 1] * 2
    assert (frame["exact_low"] < frame["exact"]).all() and (frame["n"] == 2).all()


def records(path: Path, documents: str) -> Path:
    text = "the river runs through the old town " * 4
    lines = [
        {"id": str(at), "document": name, "source": "", "texts": [text[: -8 if at else 12]]}
        for at, name in enumerate(documents)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_documents_are_long_enough_unseen_and_in_one_part(tmp_path: Path) -> None:
    directory = save_llama(tmp_path / "model")
    card = describe(directory, "tiny", {"path": str(directory)})
    corpus, seen = records(tmp_path / "a.jsonl", "abccdef"), records(tmp_path / "b.jsonl", "xd")
    scored, held_out = sampled(card, corpus, [seen], 24, 2, 2, 1)
    ids = {int(text.id) for text in [*scored, *held_out]}
    assert ids <= {1, 2, 5, 6} and len(ids) == 4 and len(scored) == 2
    assert {len(text) for text in [*scored, *held_out]} == {24}
    with pytest.raises(InputError, match=r"^config: context: 4 documents have a segment of 24"):
        sampled(card, corpus, [seen], 24, 2, 3, 1)
    with pytest.raises(InputError, match=r"^config: context: sinks and recent are 23 of 24 tokens"):
        checked(card, 24, 4, 19, "cpu")  # only the last query, which predicts nothing, sees less
