"""Attention to copies of a word and its null, against plain loops over all pairs of tokens."""

from pathlib import Path

import numpy as np
import pytest

from tests.core.caches import CARD
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.surface import same_word
from workflow_scripts.surface.measures import HEAD_KINDS, SAME_WORD

POINT = 3
SPELLED = [(5,), (6, 7), (6,), (8,), (9,), (POINT,)]  # words of one wordpiece, and of two
CLS, SEP = 1, 2


def text_of(name: str, words: list[int]) -> Tokens:
    pieces = [(piece, k) for k, word in enumerate(words) for piece in SPELLED[word]]
    ids, word = zip((CLS, -1), *pieces, (SEP, -1), strict=True)
    arrays = np.array(ids, np.int32), np.array(word, np.int32), np.zeros(len(ids), np.int8)
    return Tokens(name, *arrays, len(words))


def texts() -> list[Tokens]:
    """Four random ones, one without a repeated word, one whose only copy has no match."""
    rng = np.random.default_rng(4)
    words = [rng.integers(0, len(SPELLED), n).tolist() for n in (14, 9, 20, 11)]
    return [text_of(f"t{k}", each) for k, each in enumerate([*words, [0, 1, 3, 4], [0, 0]])]


def pattern_of(text: Tokens, decoder: bool, seed: int) -> np.ndarray:
    """Random attention of 2 layers of 3 heads; head 2-3 gives half of it to copies."""
    rng, length = np.random.default_rng(seed), len(text)
    weights = rng.random((2, 3, length, length)) ** 3
    for q, k in np.ndindex(length, length):
        if is_copy(text, q, k, decoder):
            weights[1, 2, q, k] += length / 4
    weights = np.tril(weights) if decoder else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float16)


def spelling(text: Tokens, k: int, decoder: bool) -> tuple[int, ...]:
    """The word of token k, or nothing if it counts for no word."""
    if text.word[k] < 0 or text.ids[k] == POINT or (decoder and text.word[k] == text.word[0]):
        return ()
    return tuple(text.ids[text.word == text.word[k]])


def is_copy(text: Tokens, q: int, k: int, decoder: bool) -> bool:
    one, other = (spelling(text, each, decoder) for each in (q, k))
    seen = k < q if decoder else True
    return seen and one == other != () and text.word[q] != text.word[k]


def plainly(text: Tokens, pattern: np.ndarray, decoder: bool) -> tuple[list[float], list[float]]:
    """Of a head [query, key]: for each query that counts the weight on copies, and its null."""
    tokens, on_copies, nulls = range(len(text)), [], []
    spelled = [spelling(text, k, decoder) for k in tokens]
    repeated = [any(is_copy(text, *sorted((k, j))[::-1], decoder) for j in tokens) for k in tokens]
    for q in tokens:
        found = []
        for k in (key for key in tokens if is_copy(text, q, key, decoder)):
            matched = [
                pattern[query, query + k - q]
                for query in tokens
                if query + k - q in tokens and repeated[query + k - q]
                if () != spelled[query] != spelled[query + k - q] != ()
            ]
            if matched:
                found.append((pattern[q, k], np.mean(matched, dtype=float)))
        if found:
            on_copies.append(sum(float(weight) for weight, _ in found))
            nulls.append(sum(null for _, null in found))
    return on_copies, nulls


@pytest.fixture(scope="module", params=[False, True], ids=["encoder", "decoder"])
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The folder of a table of two documents, and whether the model is a decoder."""
    folder, decoder = tmp_path_factory.mktemp("same") / "surface", request.param
    folder.mkdir()
    card = CARD | {"bidirectional": not decoder, "punctuation": [POINT]}
    made = texts()
    with CacheWriter(folder / "a.h5", made, 2, 3, {"weights": card["weights"]}) as writer:
        for index, text in enumerate(made):
            writer.write(index, pattern_of(text, decoder, index))
    examples = [Example(f"t{k}", f"d{k % 2}", ("a",), "a:1") for k in range(len(made))]
    write_records(folder / "a.jsonl", examples)
    write_card(card, folder / "model.json")
    paths = [folder / name for name in ("a.h5", "a.jsonl", "model.json", "same_word.parquet")]
    same_word.main(*paths, bootstrap=100)
    return folder, decoder


def test_weights_and_nulls_are_those_of_plain_loops(study: tuple[Path, bool]) -> None:
    folder, decoder = study
    frame = tables.read(folder / "same_word.parquet")
    assert len(frame) == 6
    for row in frame.itertuples():
        both = [
            plainly(text, pattern_of(text, decoder, k)[row.layer, row.head], decoder)
            for k, text in enumerate(texts())
        ]
        weights, nulls = (np.concatenate(each) for each in zip(*both, strict=True))
        assert row.n == len(weights) > 20
        assert row.n_documents == 2
        assert row.attention == pytest.approx(np.mean(weights), rel=1e-5)
        assert row.other == pytest.approx(np.mean(nulls), rel=1e-5)
        assert row.difference == pytest.approx(np.mean(weights) - np.mean(nulls), abs=1e-6)
        assert row.difference_low <= row.difference <= row.difference_high
    assert both[4][0] == both[5][0] == []


def test_the_head_that_copies_is_of_this_kind_alone(study: tuple[Path, bool]) -> None:
    found = TableSet([study[0] / "same_word.parquet"])[SAME_WORD]
    fits = HEAD_KINDS["same word"].fits
    kinds = [fits({"same_word_above_low": low}, 0) for low in found.difference_low]
    assert kinds == [False] * 5 + [True]
