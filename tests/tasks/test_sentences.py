"""Files of labelled and rated sentences, their domains, and every way in which one can be wrong."""

from pathlib import Path

import pandas as pd
import pytest

from tests.tasks.test_glue_files import run
from workflow_scripts.core.data.tasks import TASKS, split_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.tasks.glue_files import read_sentences


def rated(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def count(counts: pd.DataFrame, split: str, what: str) -> int:
    return counts[(counts["split"] == split) & (counts["what"] == what)]["n"].item()


def test_labelled_lines(tmp_path: Path) -> None:
    path = tmp_path / "reviews.cor"
    lines = [f"__label__{'pos' if k % 2 else 'neg'} text \x97 {k}" for k in range(10)]
    path.write_text("\n".join(lines) + "\n", encoding="latin-1")
    source = {"path": str(path), "encoding": "cp1252"}
    table, _ = run(tmp_path, "sst2", source)
    assert len(split_of(table, "train")) == 6
    assert split_of(table, "dev")["text1"].tolist() == [f"text — {k}" for k in (1, 3, 6, 8)]
    assert split_of(table, "dev")["label"].tolist() == [1.0, 1.0, 0.0, 0.0]
    with pytest.raises(InputError, match=r"reviews.cor:1: byte 0x97 .* not UTF-8"):
        run(tmp_path, "sst2", {"path": str(path)})
    with pytest.raises(InputError, match="serves sst2 only"):
        run(tmp_path, "rte", source)
    path.write_text("__label__good text\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"reviews.cor:1: label '__label__good'"):
        run(tmp_path, "sst2", {"path": str(path)})


def test_ratings_become_labels(tmp_path: Path) -> None:
    rows = ["1_1\t0.5\tgood &amp; cheap", "1_2\t0.49\tso", "1_3\t-0.5\tbad", "1_4\t-0.1\tso so"]
    part = read_sentences(rated(tmp_path / "r.txt", *rows), TASKS["sst2"], "ratings")
    assert [(row["texts"], row["label"]) for row in part.rows] == [
        (["good & cheap"], 1.0),
        (["bad"], 0.0),
    ]
    assert part.excluded == {"rows with a rating near 0": 2}
    assert part.rows[1]["source"].endswith("r.txt:3")
    part = read_sentences(tmp_path / "r.txt", TASKS["sst2"], "ratings", min_rating=0.1)
    assert [row["label"] for row in part.rows] == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("2\t1.0", "r.txt:2: 2 columns"),
        ("1\t1.0\ta", "r.txt:2: id 1 is already in line 1"),
        ("2\t1.0\t ", "r.txt:2: an empty text"),
        ("2\t4.1\ta", "r.txt:2: rating '4.1'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: str, words: str) -> None:
    path = rated(tmp_path / "r.txt", "1\t2.0\tfine", row)
    with pytest.raises(InputError, match=words):
        read_sentences(path, TASKS["sst2"], "ratings")


def test_domains_are_development_sets_without_repeated_texts(tmp_path: Path) -> None:
    films = [f"{k}\t{(-1) ** k}\tfilm {k}" for k in range(10)] + ["10\t1\tFILM  1", "11\t0\tso"]
    rated(tmp_path / "films.txt", *films)
    rated(tmp_path / "tweets.txt", "1\t2\tFilm 2", "2\t-2\ttweet", "3\t2\ttweet", "4\t2\ttwo")
    tweets = {"path": str(tmp_path / "tweets.txt")}
    source = {"path": str(tmp_path / "films.txt"), "format": "ratings", "min_rating": 0.5}
    source["domains"] = {"tweets": tweets}
    table, counts = run(tmp_path, "sst2", source)
    assert table["split"].value_counts().to_dict() == {"train": 6, "dev": 4, "dev_tweets": 2}
    assert split_of(table, "dev_tweets")["text1"].tolist() == ["tweet", "two"]
    assert split_of(table, "dev_tweets")["id"].iloc[1] == "sst2-dev_tweets-000001"
    # The last row with a label repeats the second, a development row.
    assert count(counts, "train", "rows with a text of an earlier row") == 1
    assert count(counts, "train", "rows with a rating near 0") == 1
    assert count(counts, "train", "rows read") == 8
    assert count(counts, "dev_tweets", "rows with a text of an earlier row") == 2
    assert count(counts, "dev_tweets", "rows read") == 4
    assert not counts[["generated", "official"]].any(axis=None)
