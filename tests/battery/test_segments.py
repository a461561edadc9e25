"""Running text in segments of one length."""

from pathlib import Path

import pytest

from tests.core.tiny_decoders import byte_tokenizer
from workflow_scripts.battery.texts import encode, read_segments
from workflow_scripts.core.data.examples import Example, write_examples
from workflow_scripts.core.errors import InputError

LONG = ("the river runs through the town", "a dog saw the small boat", "the cat saw the dog")


def test_the_first_text_of_each_document_in_their_order(tmp_path: Path) -> None:
    """Three texts of two documents, and one that is too short."""
    texts = [("a", "no"), ("b", LONG[0]), ("b", LONG[1]), ("c", LONG[2])]
    examples = [
        Example(str(number), document, "", (text,)) for number, (document, text) in enumerate(texts)
    ]
    write_examples(tmp_path / "corpus", examples)
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
