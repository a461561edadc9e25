"""Tidy tables of arrays, CSV that spreadsheet programs read as what it is, and samples."""

import csv
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tables import sample, sample_by, sample_rows

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0"]
TEXTS = ["8-11", "-0.5", "-", "@-@", "'tis", "'", "", "a=b", " =1", "null", 'a "b", c', "a\nb"]


def test_tidy_names_every_cell() -> None:
    cells = np.arange(6).reshape(2, 3)
    frame = tables.tidy({"row": ["a", "b"], "column": range(3)}, cell=cells, n=[7, 8, 9], text="x")
    assert list(frame.columns) == ["row", "column", "cell", "n", "text"]
    assert frame.iloc[4].tolist() == ["b", 1, 4, 8, "x"]
    assert len(frame) == 6


def test_no_text_of_a_table_is_a_formula(tmp_path: Path) -> None:
    texts = FORMULAS + TEXTS
    values = np.linspace(-0.5, 1, len(texts))
    frame = pd.DataFrame({"=text": texts, "value": values, "n": -1})
    tables.write_csv(frame, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=text", "value", "n"]
    for text, row in zip(texts, rows, strict=True):
        assert row[0] == ("'" if text in FORMULAS else "") + text
    assert [row[1:] for row in rows] == [[f"{value:.6g}", "-1"] for value in values]
    read = tables.read_csv(tmp_path / "t.csv")
    assert_frame_equal(
        read.fillna(""), frame.astype({"=text": "object"}), check_dtype=False, rtol=1e-5
    )


def test_texts_that_are_numbers_or_truth_values_are_read_as_these(tmp_path: Path) -> None:
    tables.write_csv(pd.DataFrame({"n": ["007", ""], "t": ["True", "False"]}), tmp_path / "t.csv")
    read = tables.read_csv(tmp_path / "t.csv")
    assert read["n"][0] == 7 and np.isnan(read["n"][1])
    assert read["t"].tolist() == [True, False]
    as_texts = tables.read_csv(tmp_path / "t.csv", dtype=str)
    assert as_texts["n"][0] == "007" and as_texts["n"].isna().tolist() == [False, True]
    assert as_texts["t"].tolist() == ["True", "False"]


NAMED = {"name": "8-11", "layer": 7, "head": 10}


@pytest.mark.parametrize(
    ("rows", "written"),
    [
        ([NAMED], "name,layer,head,layer_from_0,head_from_0\n8-11,8,11,7,10\n"),
        ([{"head": "8-11"}, {}], "head,layer_from_0,head_from_0\n8-11,7,10\n,,\n"),
        ([{"layer": 7, "head": 10}], "layer,head\n7,10\n"),  # to be filled in, and read again
        ([{"head": "own"}], "head\nown\n"),  # of a language model
        ([{"head": np.nan, "n": 1}], "head,n\n,1\n"),
    ],
)
def test_what_people_download_counts_from_1_and_from_0(
    tmp_path: Path, rows: list[dict], written: str
) -> None:
    frame = pd.DataFrame(rows)
    tables.write_csv(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == written
    tables.write_csv(tables.read_csv(tmp_path / "t.csv"), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == written
    read = tables.count_from_0(tables.read_csv(tmp_path / "t.csv"))
    assert_frame_equal(read[[*frame]], frame, check_dtype=False)


def test_an_empty_column_of_texts_is_one_of_texts(tmp_path: Path) -> None:
    tables.write_csv(pd.DataFrame({"n": [1, 2], "note": [None, None]}), tmp_path / "t.csv")
    assert set(tables.read_csv(tmp_path / "t.csv", dtype=str).dtypes) == {
        pd.StringDtype(na_value=np.nan)
    }


def test_a_sample_keeps_the_order_and_follows_the_seed() -> None:
    items = list(range(100))
    sampled = sample(items, 10, seed=1)
    assert sampled == sorted(set(sampled)) and len(sampled) == 10
    assert sampled == sample(items, 10, seed=1) == sample_by(random.Random(1), items, 10)
    assert sampled != sample(items, 10, seed=2)


def test_rows_of_a_table() -> None:
    frame = pd.DataFrame({"a": range(50)})
    rows = sample_rows(frame, 5, seed=3)
    assert rows["a"].tolist() == sample(range(50), 5, seed=3)
    assert rows.index.tolist() == list(range(5))
    assert sample_rows(frame, 0, seed=3).equals(frame)
