"""Measures of heads, by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.atlas.made_up_tables import MadeUpModel, written
from tests.atlas.plainly import read
from workflow_scripts.atlas.atlas_data import about_data
from workflow_scripts.core.measures.forms import Study, Table, Tables, number, run_titles

HEADS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.fixture
def model(tmp_path: Path) -> MadeUpModel:
    return MadeUpModel(tmp_path, shape=(2, 2))


def measures(model: MadeUpModel, **options: Any) -> dict[str, Any]:
    """The measures of the atlas of a model's tables, by id."""
    atlas = read(written(model.folder.parent, model, **options))
    return {measure["id"]: measure for measure in atlas["measures"]}


def scores(rows: list[tuple]) -> pd.DataFrame:
    """Accuracies of heads: direction, layer, head, relation, accuracy, n; and low and high."""
    frame = pd.DataFrame(rows, columns=["direction", "layer", "head", "relation", "accuracy", "n"])
    return frame.assign(ci_low=frame["accuracy"] - 0.1, ci_high=frame["accuracy"] + 0.1)


def write_syntax(model: MadeUpModel) -> None:
    """Two relations, and the offsets' accuracies: 0.4 at dobj, 0.5 at det."""
    dobj, det = [0.70, 0.10, 0.45, 0.40], [0.55, 0.30, 0.60, np.nan]
    rows = []
    for (layer, head), of_dobj, of_det in zip(HEADS, dobj, det, strict=True):
        rows.append(("dependent_to_head", layer, head, "dobj", of_dobj, 30))
        rows.append(("head_to_dependent", layer, head, "dobj", 0.20, 30))
        rows.append(("dependent_to_head", layer, head, "det", of_det, 80))
        rows.append(("dependent_to_head", layer, head, "all", 0.99, 500))
    model.write("syntax/scores.parquet", scores(rows))
    offsets = [(1, "dobj", 0.1), (-2, "dobj", 0.4), (1, "det", 0.5), (-2, "det", 0.0)]
    offsets += [(1, "all", 0.3), (-2, "all", 0.1)]
    frame = pd.DataFrame(offsets, columns=["offset", "relation", "accuracy"])
    model.write("syntax/offsets.parquet", frame)


def test_a_relation_counts_in_each_heads_better_direction(model: MadeUpModel) -> None:
    write_syntax(model)
    dobj = measures(model)["syntax.dobj"]
    assert dobj["value"] == [70, 20, 45, 40]
    first, other = "dependent to head", "head to dependent"
    assert dobj["label"] == [first, other, first, first]
    assert dobj["low"] == [60, 10, 35, 30]
    assert (dobj["n"], dobj["null"]) == (30, 40)
    assert dobj["null_title"] == "best fixed offset, -2"
    assert "silver" in dobj["about"]


def test_the_best_relation_is_the_one_furthest_above_its_offset(model: MadeUpModel) -> None:
    write_syntax(model)
    best = measures(model)["syntax.best"]
    # Margins: dobj 30, -20, 5, 0; det 5, -20, 10, none. Of equals the first in the table.
    assert best["value"] == [30, -20, 10, 0]
    assert best["label"] == ["dobj", "dobj", "det", "dobj"]
    assert best["low"] == [20, -30, 0, -10]
    assert best["high"] == [40, -10, 20, 10]
    assert best["n"] == [30, 30, 80, 30]
    assert best["null"] == 0


def test_relations_with_few_words_are_left_out(model: MadeUpModel) -> None:
    write_syntax(model)
    assert {"syntax.dobj", "syntax.det"} <= measures(model, fewest=30).keys()
    few = measures(model, fewest=31)
    assert "syntax.dobj" not in few
    assert set(few["syntax.best"]["label"]) == {"det", None}


def test_the_class_of_maps_is_the_most_frequent_one(model: MadeUpModel) -> None:
    shares = {  # of vertical, diagonal, both, block, heterogeneous
        (0, 0): [0.5, 0.1, 0.1, 0.1, 0.2],
        (0, 1): [0.0, 0.4, 0.0, 0.4, 0.2],
        (1, 0): [0.0, 0.0, 0.0, 0.0, 1.0],
        (1, 1): [0.0, 0.0, 0.625, 0.375, 0.0],
    }
    classes = ["vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous"]
    rows = [
        {"layer": layer, "head": head, "class": name, "share": share}
        for (layer, head), of_head in shares.items()
        for name, share in zip(classes, of_head, strict=True)
    ]
    about = {"n": 8, "method": "network", "task": "sst2", "annotated_model": "minilm"}
    about |= {"annotated_stage": "pretrained"}
    before = pd.DataFrame(rows).assign(stage="pretrained", seed=0, **about)
    after = before.assign(stage="fine-tuned", seed=1, share=before["class"].eq("block") * 1.0)
    model.write("patterns/shares.parquet", pd.concat([before, after], ignore_index=True))
    found = measures(model)
    assert found["patterns.sst2.pretrained"]["value"] == [0, 1, 4, 2]
    assert found["patterns.sst2.pretrained"]["label"] == ["50%", "40%", "100%", "62%"]
    assert found["patterns.sst2.pretrained"]["n"] == 8
    assert found["patterns.sst2.1"]["value"] == [3, 3, 3, 3]
    assert found["patterns.sst2.1"]["state"] == "sst2.1"
    assert found["patterns.sst2.pretrained"]["categories"] == classes
    assert found["patterns.sst2.pretrained.vertical-diagonal"]["value"] == [10, 0, 0, 62.5]


def test_a_head_without_a_row_is_null(model: MadeUpModel) -> None:
    frame = pd.DataFrame({"layer": [0, 1], "head": [1, 0], "x": [0.5, 2.0]})
    model.write("some/table.parquet", frame)
    found = Tables(read(model.card), model.folder, model.products)
    rows = found.select(Table("some/table.parquet", "x").rows())
    assert found.per_head(rows, "x") == [None, 0.5, 2.0, None]


def test_generated_and_silver_data_are_named(model: MadeUpModel) -> None:
    model.everything()
    found = measures(model)
    assert "generated" in found["coreference.words.all"]["about"]
    assert "silver" in found["syntax.all"]["about"]
    assert "generated" in found["disabling.sst2.1.head.zero.dev"]["about"]
    assert "generated" not in found["disabling.stsb.1.head.zero.dev"]["about"]
    assert "not real text" not in found["entropy.all"]["about"]
    kinds = found["behaviour.stratum"]
    notes = dict(zip(kinds["categories"], kinds["category_notes"], strict=True))
    assert {kind: note for kind, note in notes.items() if note} == {
        "syntactic": "silver",
        "coreference": "generated data",
    }


def test_the_baseline_of_antecedents_is_the_better_of_two_simple_rules(model: MadeUpModel) -> None:
    model.coreference()
    path = model.products[-1]
    rules = pd.read_parquet(path).set_index(["system", "type"])
    rules.loc[("nearest", "pronoun"), "accuracy"] = 0.35
    rules.loc[("head_match", "pronoun"), "accuracy"] = 0.31
    rules.loc[("rules", "pronoun"), "accuracy"] = 0.9
    rules.loc[("nearest", "nominal"), "accuracy"] = 0.1
    rules.loc[("head_match", "nominal"), "accuracy"] = 0.6
    rules.reset_index().to_parquet(path)
    found = measures(model)
    pronoun, nominal = (found[f"coreference.words.{kind}"] for kind in ("pronoun", "nominal"))
    assert (pronoun["null"], pronoun["null_title"]) == (35, "nearest mention")
    assert (nominal["null"], nominal["null_title"]) == (
        60, "nearest mention with the same head word",
    )  # fmt: skip
    words = "the nearest mention (10.0%) and the nearest mention with the same head word (60.0%)"
    assert words in nominal["about"]


def test_what_has_no_example_is_named(model: MadeUpModel) -> None:
    model.everything()
    atlas = read(written(model.folder.parent, model))
    (message,) = atlas["left_out"]
    assert "Coreference accuracy, names" in message
    assert "Attention from verbs to their subjects, STS-B" in message
    ids = {measure["id"] for measure in atlas["measures"]}
    assert not {name for name in ids if name.startswith(("links.stsb", "shared.sst2"))}
    assert {"links.sst2.1.verb-subject", "shared.stsb.2.copy"} <= ids


def test_effects_are_in_points_with_corrected_p_values(model: MadeUpModel) -> None:
    model.ablation(["mnli"], [3])
    frame = pd.read_parquet(model.products[0])
    chosen = frame[(frame["unit"] == "head") & (frame["mode"] == "uniform")]
    chosen = chosen[chosen["split"] == "dev_mismatched"].sort_values(["layer", "head"])
    found = measures(model)["disabling.mnli.3.head.uniform.dev_mismatched"]
    assert found["value"] == pytest.approx(100 * chosen["effect"], rel=1e-5)
    assert found["p"] == pytest.approx(chosen["p_corrected"], rel=1e-5)
    assert (found["paper"], found["title"]) == (
        "kovaleva2019",
        "Head disabled (uniform), MNLI, mismatched",
    )
    assert (found["state"], found["task"], found["null"]) == ("mnli.3", "mnli", 0)


def test_the_documents_of_a_text_are_stated() -> None:
    study = Study({"surface": "wiki"}, {}, 1)
    assert about_data(study, {"wiki": 12}) == ["Running text: wiki (real), 12 documents."]
    assert about_data(study, {"wiki": np.int64(3)}) == [  # as pandas reads it
        "Running text: wiki (real), 3 documents: intervals over fewer than 10 are too narrow."
    ]


def test_numbers_have_six_digits() -> None:
    assert number(0.123456789, 100) == 12.3457
    assert number(1.23456789e-9) == 1.23457e-9
    assert number(np.float32(0.5)) == 0.5
    assert number(np.nan, 100) is number(None) is None


def test_names_of_tables_state_task_and_seed() -> None:
    links = Table("finetuning/<task>.<seed>.links.parquet", "attention")
    names = ["finetuning/sst2.1.links.parquet", "finetuning/sst2.10.links.parquet"]
    names += ["finetuning/cola.1.links.parquet"]
    tables = [links.at(name) for name in names]
    assert [table.file for table in tables] == names
    assert [title for _, title, _ in run_titles(tables)] == [
        "SST-2, seed 1",
        "SST-2, seed 10",
        "CoLA",
    ]
    assert run_titles(tables)[1][2] == {"task": "sst2", "state": "sst2.10"}
    for name in (
        "finetuning/sst2.1.links.csv",
        "finetuning/sst2.links.parquet",
        "sst2.1.links.parquet",
    ):
        assert links.at(name) is None, name
