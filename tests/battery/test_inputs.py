"""Random sequences, and running text in segments of one length."""

from pathlib import Path

import pytest

from tests.core.tiny_decoders import byte_tokenizer
from tests.core.tiny_models import SPECIAL, VOCABULARY, tokenizer
from workflow_scripts.battery.inputs import (
    encode,
    ordinary_tokens,
    read_segments,
    repeated,
    start_token,
)
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.errors import InputError


def test_a_sequence_has_different_ordinary_tokens_twice() -> None:
    """No special or added token, none twice in a copy; another seed gives others."""
    tiny = tokenizer()
    tiny.add_tokens(["<added>"])
    ordinary = ordinary_tokens(tiny)
    assert tiny.convert_ids_to_tokens(ordinary) == VOCABULARY[len(SPECIAL) :]
    ids = repeated(ordinary, start=2, n=20, length=30, seed=1)
    assert ids.shape == (20, 61)
    assert (ids[:, 0] == 2).all()
    for row in ids:
        assert row[1:31].tolist() == row[31:].tolist()
        assert len(set(row[1:31])) == 30
        assert set(row[1:]) <= set(ordinary)
    assert len({tuple(row) for row in ids}) == 20
    assert (ids == repeated(ordinary, 2, 20, 30, 1)).all()
    assert (ids != repeated(ordinary, 2, 20, 30, 2)).any()


def test_the_start_token_is_the_tokenizers_own_or_bos_or_eos() -> None:
    tiny = tokenizer()
    with pytest.raises(InputError, match="bos or eos"):
        start_token(tiny, None)
    tiny.add_special_tokens({"eos_token": "[SEP]"})
    assert start_token(tiny, None) == (3, "eos")
    tiny.add_special_tokens({"bos_token": "[MASK]"})
    assert start_token(tiny, None) == (4, "bos")
    assert start_token(tiny, 2) == (2, "tokenizer")


LONG = ("the river runs through the town", "a dog saw the small boat", "the cat saw the dog")


def test_the_first_text_of_each_document_in_their_order(tmp_path: Path) -> None:
    """Three texts of two documents, and one that is too short."""
    texts = [("a", "no"), ("b", LONG[0]), ("b", LONG[1]), ("c", LONG[2])]
    examples = [
        Example(str(number), document, "", (text,)) for number, (document, text) in enumerate(texts)
    ]
    write_records(tmp_path / "corpus", examples)
    tokenizer = byte_tokenizer()
    ids = [encode(text, tokenizer)[:4] for text in LONG]

    def read(n_segments: int, **options: bool) -> tuple[list, list[str], int]:
        found = read_segments(tmp_path / "corpus", tokenizer, n_segments, 4, "key", **options)
        return found.ids.tolist(), found.documents, found.too_short

    assert read(9) == (ids, ["b", "b", "c"], 1)
    assert read(9, one_per_document=True) == ([ids[0], ids[2]], ["b", "c"], 1)
    assert read(2) == ([ids[0], ids[2]], ["b", "c"], 1)
    with pytest.raises(InputError, match="no text has 99 tokens; lower key"):
        read_segments(tmp_path / "corpus", tokenizer, 9, 99, "key")
