"""The random sequences that the battery reads."""

import numpy as np
import pytest

from tests.core.tiny_models import SPECIAL, VOCABULARY, tokenizer
from workflow_scripts.battery.repeated_sequences import (
    check_length,
    ordinary_tokens,
    repeated,
    start_token,
)
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


@pytest.mark.parametrize(("length", "of"), [(41, "tokenizer"), (30, "positions")])
def test_a_length_that_does_not_fit_is_refused(length: int, of: str) -> None:
    card = {"name": "tiny", "max_positions": 60 if of == "positions" else 100}
    with pytest.raises(InputError, match=f"battery.length.*{of}"):
        check_length(length, 40, card)
    check_length(29, 40, card)


def test_copies_are_equal_tokens_in_other_sequences() -> None:
    """Sequences are sampled one by one: the first of 20 are those of 32."""
    ordinary = np.arange(5, 60)
    assert (repeated(ordinary, 2, 32, 10, 3)[:20] == repeated(ordinary, 2, 20, 10, 3)).all()
