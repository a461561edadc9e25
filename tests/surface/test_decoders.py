"""The measures of running text on a decoder, whose tokens attend to no later ones."""

from math import log
from pathlib import Path

import numpy as np
import pytest

from tests.core.decoder_patterns import DECODER, POINT, pattern_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.measures.forms import Study, TableSet
from workflow_scripts.surface import entropy, relative_position, special_tokens
from workflow_scripts.surface.measures import behaviours, forms

LENGTHS = [12, 1, 5]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three tables of a decoder, and what they are made from."""
    folder = tmp_path_factory.mktemp("decoder") / "surface"
    folder.mkdir()
    rng = np.random.default_rng(9)
    texts = [
        Tokens(
            f"t{k}", rng.integers(1, 5, n, dtype=np.int32), np.arange(n, dtype=np.int32),
            np.zeros(n, np.int8), n,
        )
        for k, n in enumerate(LENGTHS)
    ]  # fmt: skip
    with CacheWriter(folder / "a.h5", texts, 2, 3, {"weights": DECODER["weights"]}) as writer:
        for index, length in enumerate(LENGTHS):
            writer.write(index, pattern_of(length, index))
    examples = [Example(id=text.id, document=text.id, texts=("a",), source="a:1") for text in texts]
    write_records(folder / "a.jsonl", examples)
    write_card(DECODER, folder / "model.json")
    read = (folder / "a.h5", folder / "a.jsonl", folder / "model.json")
    drawn = {"bootstrap": 100}
    relative_position.main(
        *read, folder / "position.parquet", folder / "above.csv", threshold=0.1, **drawn
    )
    special_tokens.main(*read, folder / "special_tokens.parquet", **drawn)
    entropy.main(*read, folder / "entropy.parquet", folder / "broad.csv", broad=0.5, **drawn)
    np.save(folder / "ids.npy", np.concatenate([text.ids for text in texts]))
    return folder


def plainly(study: Path, weigh: object) -> tuple[np.ndarray, float]:
    """The means over segments of `weigh(row, i, ids)`, a number for each query but the first.

    `row` has the weights of the query at position i, from 1; of each head, and of a uniform one.
    """
    ids = np.split(np.load(study / "ids.npy"), np.cumsum(LENGTHS)[:-1])
    heads, null = np.zeros((2, 3)), 0.0
    used = [k for k, length in enumerate(LENGTHS) if length > 1]
    for k in used:
        pattern = pattern_of(LENGTHS[k], k).astype(float)
        queries = range(2, LENGTHS[k] + 1)
        for layer, head in np.ndindex(2, 3):
            rows = [weigh(pattern[layer, head, i - 1, :i], i, ids[k]) for i in queries]
            heads[layer, head] += sum(rows) / len(rows) / len(used)
        rows = [weigh(np.full(i, 1 / i), i, ids[k]) for i in queries]
        null += sum(rows) / len(rows) / len(used)
    return heads, null


def points(row: np.ndarray, i: int, ids: np.ndarray) -> float:
    return sum(row[k] for k in range(1, i) if ids[k] == POINT)


def nats(row: np.ndarray, i: int, ids: np.ndarray) -> float:
    return -sum(weight * log(weight) for weight in row if weight > 0)


MEASURES = {
    ("position", "target", "previous", "attention"): lambda row, i, ids: row[i - 2],
    ("position", "target", "self", "attention"): lambda row, i, ids: row[i - 1],
    ("special_tokens", "target", "first", "attention"): lambda row, i, ids: row[0],
    ("special_tokens", "target", "punctuation", "attention"): points,
    ("entropy", "query", "all", "entropy"): nats,
    ("entropy", "query", "all", "relative"): lambda *given: nats(*given) / log(given[1]),
    ("entropy", "query", "all", "largest"): lambda row, i, ids: row.max(),
    ("entropy", "query", "all", "at_most_tenth"): lambda row, i, ids: float(
        row.max() <= np.float16(0.1) + 1e-4
    ),
}


@pytest.mark.parametrize("measure", MEASURES, ids=lambda key: key[-1] + "." + key[2])
def test_a_measure_and_its_null_are_those_of_plain_loops(
    study: Path, measure: tuple[str, str, str, str]
) -> None:
    table, key, name, column = measure
    frame = tables.read(study / f"{table}.parquet")
    frame = frame[frame[key] == name]
    heads, null = plainly(study, MEASURES[measure])
    np.testing.assert_allclose(frame[column].to_numpy().reshape(2, 3), heads, rtol=1e-5)
    uniform = "uniform" if column in ("attention", "entropy") else f"{column}_uniform"
    np.testing.assert_allclose(frame[uniform], null, rtol=1e-6)
    assert frame["n"].eq(2).all()  # a segment of one token has nothing to measure


def test_every_measure_of_a_decoder_stands_next_to_its_null(study: Path) -> None:
    """In the atlas; of encoders, the largest weight has none."""
    names = ("position", "special_tokens", "entropy")
    given = Study({"surface": "wikipedia"}, data={})
    made = list(forms(TableSet([study / f"{name}.parquet" for name in names]), given))
    assert len(made) == 7
    assert [form.id for form in made if form.null is None] == []
    (largest,) = (form for form in made if form.id == "largest.all")
    assert (largest.null.table.value, largest.rows.table.null_title) == (
        "largest_uniform",
        "uniform attention",
    )


def test_behaviours_of_a_decoder(study: Path) -> None:
    names = ("position", "special_tokens", "entropy")
    wide = behaviours(TableSet([study / f"{name}.parquet" for name in names]))
    assert {"previous", "self", "first", "punctuation", "broad"} <= set(wide)
    assert wide["broad"].between(0, 1).all()
