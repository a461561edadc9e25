"""Word vectors: GloVe files, gensim's downloader by a local directory, training."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.vectors import read_vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora import word_vectors


def run(tmp_path: Path, source: dict, **options: object):
    paths = {name: tmp_path / name for name in ("vectors", "words", "counts")}
    word_vectors.main(**paths, source=source, **options)
    counts = pd.read_csv(paths["counts"]).set_index("what")["n"].to_dict()
    return read_vectors(paths["vectors"], paths["words"]), counts


def test_glove(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("the 1 2 3\n. 0.5 0 -1\n. . 9 9 9\nThe 4 5 6\nthe 7 7 7\n")
    vectors, counts = run(tmp_path, {"path": str(tmp_path / "g.txt")})
    assert counts["words"] == "4" and counts["dimensions"] == "3"
    assert counts["lines read"] == "5" and counts["lines of an earlier word"] == "1"
    assert vectors.lookup(["the", "THE", "The", ". .", "cat"]).tolist() == [
        [1, 2, 3],
        [1, 2, 3],
        [4, 5, 6],
        [9, 9, 9],
        [0, 0, 0],
    ]
    assert "THE" in vectors and "cat" not in vectors


def test_words_with_blanks_as_in_the_largest_file(tmp_path: Path) -> None:
    """Those of glove.840B; numbers may be words too."""
    words = [".", ". . .", "at name@domain.com", ". . . . .", "3", "1/2", "\xa0", "a\x85b", "e"]
    lines = [f"{word} {k} -.5 +1.5e-1 2." for k, word in enumerate(words)]
    (tmp_path / "g.txt").write_text("\n".join(lines) + " \n", encoding="utf-8")
    found, matrix = word_vectors.from_glove(tmp_path / "g.txt", Counter())
    assert found == words
    expected = [[k, -0.5, 0.15, 2] for k in range(len(words))]
    np.testing.assert_array_equal(matrix, np.array(expected, np.float32))


def test_the_downloader_reads_data_and_runs_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local directory in the downloader's layout, through the same calls."""
    from gensim import downloader

    folder = tmp_path / "gensim-data/tiny-glove"
    folder.mkdir(parents=True)
    with gzip.open(folder / "tiny-glove.gz", "wt") as file:
        file.write("2 3\nthe 1 2 3\na 4 5 6\n")
    (folder / "__init__.py").write_text("raise RuntimeError('this file must not run')\n")
    listing = {"models": {"tiny-glove": {"file_name": "tiny-glove.gz", "parts": 1}}, "corpora": {}}
    monkeypatch.setattr(downloader, "BASE_DIR", str(tmp_path / "gensim-data"))
    monkeypatch.setattr(downloader, "_load_info", lambda *_, **__: listing)
    vectors, counts = run(tmp_path, {"download": "tiny-glove"})
    assert vectors.lookup(["a"]).tolist() == [[4, 5, 6]]
    assert counts["source"] == "tiny-glove"
    with pytest.raises(InputError, match="download: other: gensim cannot fetch it"):
        run(tmp_path, {"download": "other"})


def test_training_is_repeatable_and_learns_company(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(300):
        topic = rng.choice(["sea", "sky"])
        names = {"sea": ["ship", "wave", "fish"], "sky": ["bird", "cloud", "wind"]}[str(topic)]
        texts.append(" ".join(rng.choice(names, size=6)) + " .")
    examples = [Example(str(k), "d", "s", (text,)) for k, text in enumerate(texts)]
    write_records(tmp_path / "t.jsonl", examples)
    options = {"dimensions": 12, "epochs": 5, "texts": [tmp_path / "t.jsonl"]}
    vectors, counts = run(tmp_path, {"train": "made-up"}, **options)
    again, _ = run(tmp_path, {"train": "made-up"}, **options)
    np.testing.assert_array_equal(vectors.matrix, again.matrix)
    assert counts["source"] == "trained on made-up"
    ship, wave, cloud = vectors.lookup(["ship", "wave", "cloud"])
    assert ship @ wave > ship @ cloud
    with pytest.raises(InputError, match="no word occurs twice"):
        word_vectors.trained(["a b c"], 4, 1, 1)
