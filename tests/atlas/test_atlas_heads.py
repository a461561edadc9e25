"""The table of all heads: what the atlas's data say, read back as other tools read it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.atlas.made_up import made_up
from tests.atlas.plainly import as_list
from workflow_scripts.atlas import atlas_heads


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("heads")
    atlas = made_up(2, 3, n_models=2, n_translators=1)
    atlas["models"][1]["badges"] = [
        {"id": "induction", "heads": [1, 5]},
        {"id": "sink", "heads": [5]},
    ]
    (folder / "atlas.json").write_text(json.dumps(atlas), encoding="utf-8")
    atlas_heads.main(folder / "atlas.json", folder / "heads.csv", folder / "heads.parquet")
    return folder


def test_each_number_is_the_pages(study: Path) -> None:
    atlas = json.loads((study / "atlas.json").read_text(encoding="utf-8"))
    table = pd.read_csv(study / "heads.csv")
    seen = 0
    for measure in atlas["measures"]:
        rows = table[table["model"] == measure["model"]]
        unit = f" [{measure['unit']}]" if measure["unit"] else ""
        if measure["categories"]:
            expected = [measure["categories"][value] for value in measure["value"]]
            assert rows[measure["id"]].tolist() == expected
            continue
        for field in ("value", "low", "high", "n", "p", "label"):
            of = f" {field}" if field != "value" else ""
            name = f"{measure['id']}{of}{unit if field in ('value', 'low', 'high') else ''}"
            given = as_list(measure[field], len(rows))
            if all(cell is None for cell in given):
                assert name not in rows or rows[name].isna().all()
            elif field == "label":
                assert [str(cell).removeprefix("'") for cell in rows[name]] == given
            else:
                np.testing.assert_array_equal(rows[name], np.array(given, float), err_msg=name)
                seen += 1
    assert seen > 50


def test_heads_are_named_in_both_counts(study: Path) -> None:
    table = pd.read_csv(study / "heads.csv")
    assert len(table) == 6 + 6 + 12
    fifth = table[table["model"] == "tiny-2"].iloc[5]
    assert fifth["head"] == "2-3" and fifth["transformer_lens"] == "L1H2"
    assert (fifth["layer_from_0"], fifth["head_from_0"]) == (1, 2)
    assert table["roles"].dropna().tolist() == ["induction", "induction;sink"]
    translator = table[table["model"] == "translation.1"]
    assert translator["transformer_lens"].isna().all()
    kinds = ["encoder"] * 6 + ["encoder-decoder"] * 3 + ["decoder"] * 3
    assert translator["type"].tolist() == kinds and table["type"].count() == 12
    assert translator["head"].tolist()[5:10] == ["2-3", "1-1", "1-2", "1-3", "1-1"]


def test_both_formats_are_the_same(study: Path) -> None:
    table = pd.read_csv(study / "heads.csv")
    other = pd.read_parquet(study / "heads.parquet")
    texts = [name for name in table if table[name].dtype == object]
    table[texts] = table[texts].apply(lambda column: column.str.removeprefix("'"))
    pd.testing.assert_frame_equal(table, other, check_dtype=False)


def test_a_study_of_one_model_has_no_empty_columns(tmp_path: Path) -> None:
    (tmp_path / "atlas.json").write_text(json.dumps(made_up(2, 3)), encoding="utf-8")
    atlas_heads.main(tmp_path / "atlas.json", tmp_path / "heads.csv", tmp_path / "heads.parquet")
    table = pd.read_csv(tmp_path / "heads.csv")
    assert "type" not in table and "roles" not in table and not table.isna().all().any()
