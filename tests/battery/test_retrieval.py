"""Retrieval scores against plain loops over eager's attentions, and needles in their texts."""

from pathlib import Path

import numpy as np
import pytest

from tests.battery.plain_heads import plain_heads
from tests.core.tiny_decoders import (
    GPT2,
    HEADS,
    LAYERS,
    LLAMA,
    TEXTS,
    byte_tokenizer,
    random_decoder,
    save_decoder,
)
from tests.core.tiny_models import write_card
from workflow_scripts.battery import retrieval
from workflow_scripts.battery.retrieval import (
    Haystack,
    copied,
    haystacks,
    make_needles,
    retrieved,
    scores,
    shares,
)
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention

RNG = np.random.default_rng(0)
ANSWER = np.array([11, 12, 13, 12, 14])
FILLER = RNG.integers(20, 300, 20)
TEXT = Haystack(
    np.concatenate([FILLER[:6], ANSWER, FILLER[6:], ANSWER]),
    6 + np.arange(5),
    25 + np.arange(5),
    0.3,
    "a",
)
EXAMPLES = [
    Example(f"text-{n}", f"/texts:{n}", "", (f"{TEXTS[n % 2]}. {TEXTS[(n + 1) % 2]}.",))
    for n in range(40)
]


def slowly(heads, text: Haystack, layer: int, head: int, shift: int) -> float:
    """The share of the answer's tokens that the head copies, step by step."""
    hits = []
    for step in range(len(text.answer)):
        query = text.answer[step] - 1
        weights = heads.pattern[layer, head, query]
        key = max(range(query + 1), key=lambda place: weights[place])
        token = text.ids[text.answer[(step + shift) % len(text.answer)]]
        hits.append(key in text.needle.tolist() and text.ids[key] == token)
    return float(np.mean(hits))


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_scores_equal_a_loop_over_eagers_attention(config) -> None:
    """Of random heads, few look into the needle: the random texts differ until some do."""
    texts = [TEXT]
    for _ in range(5):
        ids = TEXT.ids.copy()
        ids[TEXT.needle] = ids[TEXT.answer] = RNG.integers(1, 4, 5)
        texts.append(Haystack(ids, TEXT.needle, TEXT.answer, 0.3, "a"))
    model = random_decoder(config)
    expected = [plain_heads(model, text.ids) for text in texts]
    attention.open_attention(model)
    hits = 0.0
    for text, heads in zip(texts, expected, strict=True):
        keys, produced = retrieved(model, text)
        found = shares(keys, produced, text)
        for layer in range(LAYERS):
            for head in range(HEADS):
                own = slowly(heads, text, layer, head, 0)
                others = np.mean([slowly(heads, text, layer, head, s) for s in range(1, 5)])
                assert found["score"][layer, head] == pytest.approx(own)
                assert found["others"][layer, head] == pytest.approx(others)
                hits += own
    assert hits > 0


def test_a_head_that_copies_by_hand() -> None:
    """All right; none in the needle; one token to the left; the equal token counts elsewhere."""
    keys = np.stack([TEXT.needle, TEXT.answer - 1, TEXT.needle - 1, TEXT.needle[[0, 3, 2, 1, 4]]])
    keys = keys[:, None]  # [layer, head, answer token]
    assert copied(keys, TEXT).mean(-1).ravel().tolist() == [1, 0, 0, 1]
    produced = np.array([True, False, False, False, False])
    found = shares(keys, produced, TEXT)
    assert found["produced"].ravel().tolist() == [1, 0, 0, 1]
    assert found["others"][0, 0] == pytest.approx(2 / 5 / 4)  # 12 is there twice
    assert np.isnan(shares(keys, ~produced & produced, TEXT)["produced"]).all()


def test_a_head_has_the_role_that_beats_the_other_tokens() -> None:
    """Too weak, as good as the other tokens, and significantly worse."""
    one = {"score": np.array([[0.5, 0.05, 0.5, 0.5]]), "others": np.array([[0.1, 0.0, 0.5, 0.9]])}
    frame = scores([one | {"produced": one["score"]}] * 20, 0.1, 100, 1)
    assert frame["has_role"].tolist() == [True, False, False, False]
    assert frame["p_corrected"][3] < 0.001


def test_the_answer_stands_in_the_needle_and_at_the_end() -> None:
    tokenizer = byte_tokenizer()
    made = make_needles(5, seed=1)
    texts = haystacks(EXAMPLES, made, tokenizer, 60, [0])
    for needle, text, depth in zip(made, texts, np.linspace(0, 1, 5), strict=True):
        assert tokenizer.decode(text.ids[text.needle]) == needle.answer
        assert tokenizer.decode(text.ids[text.answer]) == needle.answer
        assert text.answer[-1] == len(text.ids) - 1
        assert needle.sentence in tokenizer.decode(text.ids[: text.needle[-1] + 2])
        assert abs(text.depth - depth) < 0.4
        assert text.ids[0] == 0
        length = len(tokenizer(needle.sentence + needle.question)["input_ids"])
        assert abs(len(text.ids) - (1 + 60 + length + len(text.answer))) <= 4
    assert len({text.segment for text in texts}) == 5
    with pytest.raises(InputError, match=r"battery\.retrieval.*longer corpus"):
        haystacks(EXAMPLES[:2], made, tokenizer, 60, [])


def test_more_tokens_than_positions_are_refused(tmp_path: Path) -> None:
    card = write_card(tmp_path / "attention", save_decoder(LLAMA, tmp_path / "model"))
    write_records(tmp_path / "corpus", EXAMPLES)
    out = [tmp_path / name for name in ("scores", "table", "needles")]
    limits = {"n_needles": 3, "n_tokens": 350, "threshold": 0.1, "bootstrap": 100}
    with pytest.raises(InputError, match=r"n_tokens.* positions; lower it"):
        retrieval.main(card, tmp_path / "corpus", *out, **limits)
