"""Sentence pairs from line-aligned files, and what is wrong with a pair of files."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from tests.bad_input.refused import refused
from workflow_scripts.translation import translation_pairs
from workflow_scripts.translation.translation_pairs import read_pairs

SOURCE, TARGET = "A dog.\nTwo men\trun.\nA cat.\n", "Ein Hund.\nZwei Männer rennen.\nEine Katze.\n"


def written(folder: Path, source: str, target: str, ending: str = "") -> list[Path]:
    paths = [folder / f"test.{language}{ending}" for language in ("en", "de")]
    for path, text in zip(paths, (source, target), strict=True):
        path.write_bytes(gzip.compress(text.encode()) if ending else text.encode())
    return paths


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_lines_are_each_others_translations(tmp_path: Path, ending: str) -> None:
    paths = written(tmp_path, SOURCE, TARGET, ending)
    assert list(read_pairs(*paths)) == [
        ("A dog.", "Ein Hund."),
        ("Two men\trun.", "Zwei Männer rennen."),
        ("A cat.", "Eine Katze."),
    ]


@pytest.mark.parametrize(
    ("source", "target", "place", "words"),
    [
        (SOURCE, "Ein Hund.\n", "en:2", "ends before this line, which"),
        (SOURCE, TARGET.replace("Zwei Männer rennen.", " "), "de:2", "an empty sentence; remove"),
    ],
)
def test_a_broken_pair_of_files_is_one_line(
    tmp_path: Path, source: str, target: str, place: str, words: str
) -> None:
    paths = written(tmp_path, source, target)
    refused(lambda: read_pairs(*paths), f"test.{place}:", words)


def test_one_file_is_split_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    lines = [f"s{number}\tt{number}" for number in range(20)]
    file.write_text("\n".join(lines) + "\n\n", "utf-8")
    splits = translation_pairs.read({"path": str(file)}, seed=1)
    assert splits["train"] == [(f"s{at}", f"t{at}") for at in (0, 5, 10, 15)]
    assert [pair[0] for pair in splits["validation"]][:4] == ["s1", "s3", "s6", "s8"]
    assert [pair[0] for pair in splits["test"]][:4] == ["s2", "s4", "s7", "s9"]
    file.write_text("a\tb\nno tab\n", "utf-8")
    refused(lambda: translation_pairs.read_one_file(file), "pairs.tsv:2: not a sentence, a tab")
    file.write_text("a\tb\n", "utf-8")
    refused(lambda: translation_pairs.read_one_file(file), "1 sentence pairs; give at least 20")


def study(folder: Path) -> dict:
    """A source with a domain; some sentences stand in several splits."""
    texts = {
        "train": ("A dog.\nA cat.\na  Dog.\n", "Ein Hund.\nEine Katze.\nein Hund.\n"),
        "validation": ("A bird.\nA cat.\n", "Ein Vogel.\nDie Katze.\n"),
        "test": ("A DOG.\nA bird.\nOh\n", "EIN HUND.\nEin Vogel.\nOh\n"),
        "chat": ("A cat.\n", "Eine Katze.\n"),
    }
    named = {}
    for split, pair in texts.items():
        (folder / split).mkdir()
        source, target = written(folder / split, *pair)
        named[split] = {"source": str(source), "target": str(target)}
    return named | {"domains": {"chat": named.pop("chat")}}


def test_the_tables_of_pairs_and_of_counts(tmp_path: Path) -> None:
    source = study(tmp_path)
    table, counts = tmp_path / "pairs.parquet", tmp_path / "pairs.counts.csv"
    training = tmp_path / "training.parquet"
    translation_pairs.main(table, source, 1, counts)
    pairs = pd.read_parquet(table)
    translation_pairs.main(training, source, 1, training=True)
    assert list(pairs.columns) == ["split", "id", "source", "target"]
    assert pairs["id"].tolist() == [
        *("train-1", "train-2", "train-3", "validation-1", "validation-2"),
        *("test-1", "test-2", "test-3", "chat-1"),
    ]
    assert pairs.iloc[4].tolist() == ["validation", "validation-2", "A cat.", "Die Katze."]
    pd.testing.assert_frame_equal(pd.read_parquet(training), pairs[:5])
    frame = pd.read_csv(counts)
    assert not frame.pop("generated").any()
    counted = {(split, what): n for split, what, n in frame.itertuples(index=False)}
    assert counted["train", "sentence pairs"] == 3
    assert counted["train", "words of the sources"] == 6
    assert counted["train", "words of the targets"] == 6
    assert counted["train", "pairs of an earlier line"] == 1
    assert counted["validation", "pairs also in train"] == 0
    assert counted["validation", "sources also in train"] == 1
    assert counted["test", "pairs also in train"] == 1
    assert counted["test", "pairs also in validation"] == 1
    assert counted["test", "targets that are their sources"] == 1
    assert counted["chat", "pairs also in train"] == 1
    assert counted["chat", "sources also in validation"] == 1
    assert ("train", "pairs also in test") not in counted
    assert [split for split, what in counted if what == "sentence pairs"] == [
        *("train", "validation", "test", "chat")
    ]


def test_pairs_as_pandas_quotes_them_are_counted() -> None:
    pairs = [('"She said ""no"" and left"', "Sie sagte nein"), ('He said "no"', "Er sagte nein")]
    counted = translation_pairs.count({"test": pairs})
    assert ("test", "pairs quoted as CSV, read as they are", 1) in counted


def test_what_is_trained_on_does_not_depend_on_what_is_tested(tmp_path: Path) -> None:
    """Byte for byte, so that fewer test pairs train nothing again."""
    sizes, table = {"train": 30, "validation": 8}, tmp_path / "training.parquet"
    translation_pairs.main(table, {"generate": sizes}, 1, training=True)
    trained_on = table.read_bytes()
    translation_pairs.main(table, {"generate": sizes | {"test": 20}}, 1, training=True)
    assert table.read_bytes() == trained_on
    assert len(pd.read_parquet(table)) == 38
