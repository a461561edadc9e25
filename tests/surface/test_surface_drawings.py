"""What Figure 1 draws."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core.test_cache import write
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.head_labels import label, parse
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.surface import surface_drawings


def frame(kind: str, measure: str, values: dict) -> pd.DataFrame:
    rows = [
        {"layer": layer, "head": head, kind: name, measure: number}
        for name, numbers in values.items()
        for (layer, head), number in np.ndenumerate(np.array(numbers))
    ]
    return pd.DataFrame(rows)


def test_strongest_heads_are_all_different() -> None:
    position = frame("target", "attention", {"next": [[0.9, 0.2]], "previous": [[0.1, 0.1]]})
    special = frame("target", "attention", {"sep": [[0.0, 0.5]], "punctuation": [[0.3, 0.2]]})
    entropy = frame("query", "entropy", {"all": [[1.0, 2.0]], "cls": [[9.0, 0.0]]})
    for table in (position, special, entropy):
        extra = table.assign(layer=1)
        for column in ("attention", "entropy"):
            if column in extra:
                extra[column] /= 10
        table.loc[len(table)] = extra.iloc[0]
    chosen = surface_drawings.strongest_heads(position, special, entropy)
    assert chosen[0] == (0, 1, "broad, 2.0 nats")
    assert chosen[1] == (0, 0, "next token, 90%")
    assert len({(layer, head) for layer, head, _ in chosen}) == len(chosen)


def test_drawn_up_to_the_first_separator() -> None:
    ids = np.array([1, 5, 6, 2, 7, 2])
    assert surface_drawings.drawn_length(ids, 2, 48) == 4
    assert surface_drawings.drawn_length(ids, 2, 3) == 3
    assert surface_drawings.drawn_length(np.array([1, 5]), 2, 48) == 2


def test_rows_hold_the_weights(tmp_path: Path) -> None:
    patterns = write(tmp_path / "a.h5", [5, 9])
    with Cache(tmp_path / "a.h5") as cache:
        rows = surface_drawings.draw(cache[1], [(1, 2, "t"), (0, 0, "u")], list("abcdefghi"), 4)
        with pytest.raises(InputError, match="no segment 'nothing'"):
            surface_drawings.choose_example(cache, 2, "nothing")
        assert surface_drawings.choose_example(cache, 2, cache.ids[1]) == 1
    assert len(rows) == 2 * 16
    row = rows[(rows.drawing == 0) & (rows["query"] == 3) & (rows.key == 1)].iloc[0]
    assert row["weight"] == pytest.approx(patterns[1][1, 2, 3, 1], abs=1e-3)
    assert (row["query_token"], row["key_token"]) == ("d", "b")


@pytest.mark.parametrize("name", ["0-1", "1-0", "1", "a-b", "3-1", "2-5", "1-2-3"])
def test_wrong_heads(name: str) -> None:
    with pytest.raises(InputError, match=name):
        parse(name, n_layers=2, n_heads=4)


def test_labels_there_and_back() -> None:
    assert label(7, 10) == "8-11"
    for layer, head in np.ndindex(3, 4):
        assert parse(label(layer, head), 3, 4) == (layer, head)
