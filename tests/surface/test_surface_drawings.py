"""What Figure 1 draws."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core.test_cache import CARD, write
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.errors import InputError
from workflow_scripts.surface import surface_drawings

WITH_SEP = CARD | {"special": {"sep": 2}}
DECODER = {"bidirectional": False}


def frame(kind: str, measure: str, values: dict) -> pd.DataFrame:
    rows = [
        {"layer": layer, "head": head, kind: name, measure: number}
        for name, numbers in values.items()
        for (layer, head), number in np.ndenumerate(np.array(numbers))
    ]
    return pd.DataFrame(rows).assign(ci_low=0.0, ci_high=1.0, n=5, n_documents=2)


def strongest(cls: float, sep: float) -> pd.DataFrame:
    """A model of two heads: 1-1 attends to the next token, 1-2 to special tokens."""
    position = frame("target", "attention", {"next": [[0.9, 0.2]], "previous": [[0.1, 0.1]]})
    special = {"cls": [[0.0, cls]], "sep": [[0.0, sep]], "punctuation": [[0.3, 0.2]]}
    entropy = frame("query", "entropy", {"all": [[1.0, 2.0]], "cls": [[9.0, 0.0]]})
    return surface_drawings.strongest_heads(
        position, frame("target", "attention", special), entropy, threshold=0.5, broad=1.5
    )


def test_a_pattern_is_drawn_where_a_head_shows_it() -> None:
    rows = strongest(cls=0.6, sep=0.5)
    assert rows["pattern"].tolist() == [
        "broad", "next token", "previous token", "[CLS]", "[SEP]", "periods and commas",
    ]  # fmt: skip
    assert rows["shown"].tolist() == [True, True, False, True, False, False]
    assert rows["bound"].tolist() == [1.5] + 5 * [0.5]
    assert rows["unit"].tolist() == ["nats"] + 5 * ["share"]
    assert surface_drawings.to_draw(rows) == [
        (0, 1, "broad, 2.0 nats; [CLS], 60%"),
        (0, 0, "next token, 90%"),
    ]


def test_drawn_up_to_the_first_separator() -> None:
    tokens = {"ids": np.array([1, 5, 6, 2, 7, 2]), "segment": np.array([0, 0, 0, 0, 1, 1])}
    ends = surface_drawings.paragraph_ends(tokens, WITH_SEP)
    assert surface_drawings.drawn_tokens(ends, 48).tolist() == [0, 1, 2, 3]
    assert surface_drawings.drawn_tokens(ends, 3).tolist() == [0, 1, 3]
    assert surface_drawings.drawn_tokens(np.zeros(2, bool), 48).tolist() == [0, 1]


def test_a_decoders_first_paragraph_is_drawn() -> None:
    tokens = {"ids": np.array([5, 6, 2, 7]), "segment": np.array([0, 0, 1, 1])}
    ends = surface_drawings.paragraph_ends(tokens, DECODER)
    assert surface_drawings.drawn_tokens(ends, 48).tolist() == [0, 1]
    assert not surface_drawings.paragraph_ends({"segment": np.zeros(3)}, DECODER).any()


@pytest.mark.parametrize(("lengths", "chosen"), [([24, 3, 22, 40], 2), ([4, 3], 1)])
def test_a_short_paragraph_is_drawn_but_no_rest(
    lengths: list[int], chosen: int, tmp_path: Path
) -> None:
    write(tmp_path / "a.h5", lengths)
    with Cache(tmp_path / "a.h5", CARD) as cache:
        assert surface_drawings.choose_example(cache, DECODER, "") == chosen


def test_rows_hold_the_weights(tmp_path: Path) -> None:
    patterns = write(tmp_path / "a.h5", [5, 9])
    with Cache(tmp_path / "a.h5", CARD) as cache:
        kept = np.array([0, 1, 2, 5])
        rows = surface_drawings.draw(cache[1], [(1, 2, "t"), (0, 0, "u")], list("abcdefghi"), kept)
        with pytest.raises(InputError, match="no segment 'nothing'"):
            surface_drawings.choose_example(cache, WITH_SEP, "nothing")
        assert surface_drawings.choose_example(cache, WITH_SEP, cache.ids[1]) == 1
    assert len(rows) == 2 * 16
    row = rows[(rows.drawing == 0) & (rows["query"] == 3) & (rows.key == 1)].iloc[0]
    assert row["weight"] == pytest.approx(patterns[1][1, 2, 5, 1], abs=1e-3)
    assert (row["query_token"], row["key_token"]) == ("… f", "b")
    assert row["uniform"] == pytest.approx(1 / 9)  # over the whole segment
