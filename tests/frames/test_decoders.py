"""Frame links of a decoder, from the later side to the earlier one, against plain loops."""

from pathlib import Path

import numpy as np
import pytest

from tests.core.decoder_patterns import DECODER, HEADS, LAYERS, pieces, write_cache
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_links
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.measures.forms import Study, Tables
from workflow_scripts.corpora import frames_corpus
from workflow_scripts.frames import (
    figures,
    frame_drawings,
    frame_scores,
    measures,
)
from workflow_scripts.frames.frame_scores import controls


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated sentences, of words of several pieces, and random attention to earlier tokens."""
    folder = tmp_path_factory.mktemp("decoder") / "small" / "frames"
    folder.mkdir(parents=True)
    files = {name: folder / name for name in ("sentences", "annotation", "counts")}
    frames_corpus.main(**files, source={"generate": 12}, name="s", filters="paper")
    links = read_links(folder / "annotation")
    words = [pieces(sentence.words, seed) for seed, sentence in enumerate(links)]
    ids = [sentence.id for sentence in links]
    np.savez(folder / "patterns.npz", *write_cache(folder / "cache.h5", words, ids))
    write_card(DECODER, folder / "model.json")
    read = {"attention": folder / "cache.h5", "model": folder / "model.json"}
    read |= {"annotation": folder / "annotation", "scores": folder / "scores.parquet"}
    frame_scores.main(**read, corpus=folder / "sentences", bootstrap=100, permutations=100)
    frame_drawings.main(**read, drawings=folder / "drawings", percentile=80)
    return folder


def sides(one: tuple[int, ...], other: tuple[int, ...], first: int) -> tuple | None:
    """The words that ask and those that answer."""
    asking, answering = (one, other) if min(one) > max(other) else (other, one)
    return (asking, answering) if min(asking) > max(answering) and first not in answering else None


def between(pattern: np.ndarray, word: list[int], pair: tuple) -> np.ndarray:
    """The largest mean attention from a later word's last token to an earlier word's tokens."""
    last, cells = {w: t for t, w in enumerate(word)}, []
    for later in pair[0]:
        for earlier in pair[1]:
            tokens = [t for t, w in enumerate(word) if w == earlier]
            cells.append(pattern[:, :, last[later], tokens].astype(float).mean(axis=-1))
    return np.max(cells, axis=0)


def test_scores_are_those_of_plain_loops(study: Path) -> None:
    links = read_links(study / "annotation")
    values, differences, n_links, counted = [], [], 0, 0
    nulls = []
    for seed, pattern in enumerate(np.load(study / "patterns.npz").values()):
        sentence, word = links[seed], pieces(links[seed].words, seed)
        last = {w: t for t, w in enumerate(word)}
        per_link, per_null, above = [], [], []
        for element in sentence.elements:
            n_links += 1
            found = sides(sentence.target, element.words, word[0])
            if found is None:
                continue
            counted += 1
            asks = [last[w] for w in found[0]]
            keys = [t for t, w in enumerate(word) if w in found[1]]
            per_link.append(np.max([[pattern[:, :, q, k] for k in keys] for q in asks], (0, 1)))
            per_null.append(max(1 / (q + 1) for q in asks))
            moved = [sides(*pair, word[0]) for pair in controls(sentence, element)]
            moved = [pair for pair in moved if pair is not None]
            if moved:
                others = np.mean([between(pattern, word, pair) for pair in moved], axis=0)
                above.append(between(pattern, word, found) - others)
        if per_link:
            values.append(np.mean(per_link, axis=0, dtype=float))
            nulls.append(np.mean(per_null))
        if above:
            differences.append(np.mean(above, axis=0))
    frame = tables.read(study / "scores.parquet")
    assert set(frame["direction"]) == {"either"}
    means = frame["attention"].to_numpy().reshape(LAYERS, HEADS)
    np.testing.assert_allclose(means, np.mean(values, axis=0), rtol=1e-5)
    compared = frame["difference"].to_numpy().reshape(LAYERS, HEADS)
    np.testing.assert_allclose(compared, np.mean(differences, axis=0), atol=1e-5)
    np.testing.assert_allclose(frame["uniform"], np.mean(nulls))
    np.testing.assert_allclose(frame["coverage"], counted / n_links)
    assert 0 < counted < n_links
    assert frame["n"].eq(len(values)).all()
    assert frame["n_compared"].eq(len(differences)).all()


def test_coverage_stands_with_every_number(study: Path, tmp_path: Path) -> None:
    made = {"table": tmp_path / "table.csv", "controls": tmp_path / "controls.csv"}
    figures.kovaleva2019_frames(study / "scores.parquet", **made, percentile=80, generated=True)
    for path in made.values():
        assert tables.read_csv(path)[["uniform", "coverage"]].notna().all(axis=None)
    found = Tables(DECODER, study.parent, [study / "scores.parquet"])
    forms = list(measures.forms(found, Study({"frames": "roles"}, {})))
    assert [form.id for form in forms] == ["frames.either.above", "frames.either"]
    assert all("% of the links" in form.about for form in forms)


def test_the_figure_of_a_decoder_has_one_direction(study: Path, tmp_path: Path) -> None:
    out = {kind: tmp_path / f"figure.{kind}" for kind in ("svg", "pdf", "png")}
    read = (study / "scores.parquet", study / "drawings")
    figures.kovaleva2019_fig3(*read, **out, percentile=80, generated=True)
    assert out["png"].read_bytes().startswith(b"\x89PNG")
