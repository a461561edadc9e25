"""Attention to words that both sentences share, by hand and against loops."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.finetuning.builders import caches
from tests.parsed_rules import parsed
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.trees import read_trees
from workflow_scripts.finetuning import figures, map_measures


def test_which_words_are_shared() -> None:
    words = "The cat saw the dog . A Cat , the end .".split()
    numbers = map_measures.shared_spellings(words, 6)
    groups = [{words[k].lower() for k in np.flatnonzero(numbers == n)} for n in set(numbers) - {-1}]
    assert sorted(map(sorted, groups)) == [["cat"], ["the"]]
    assert (numbers == numbers[0]).sum() == 3  # The, the, the
    assert (map_measures.shared_spellings(["one", "text"], 2) == -1).all()


def test_tasks_of_one_sentence_have_no_shared_words() -> None:
    inputs = parsed()[1].rules["kovaleva2019_shared"].input
    paired = {name for name, task in TASKS.items() if len(task.texts) == 2}
    assert {Path(path).name.partition(".")[0] for path in inputs} == paired


def test_attention_to_copies_by_hand() -> None:
    # [CLS] cat sat [SEP] cat ran [SEP]
    ordinary = np.array([0, 1, 1, 0, 1, 1, 0], dtype=bool)
    segment = np.array([0, 0, 0, 0, 1, 1, 1])
    spelling = np.array([-1, 0, -1, -1, 0, -1, -1])
    pattern = np.zeros((1, 1, 7, 7))
    pattern[0, 0, 1] = [0.1, 0.1, 0.1, 0.1, 0.4, 0.1, 0.1]  # cat: 0.4 to cat, 0.1 to ran
    pattern[0, 0, 4] = [0.2, 0.2, 0.3, 0.3, 0.0, 0.0, 0.0]  # cat: 0.2 to cat, 0.3 to sat
    copies, others = map_measures.to_copies(pattern, spelling, segment, ordinary)
    assert copies[0, 0] == pytest.approx((0.4 + 0.2) / 2)
    assert others[0, 0] == pytest.approx((0.1 + 0.3) / 2)
    shared, rest = map_measures.to_shared(pattern, spelling, ordinary)
    assert shared[0, 0] == pytest.approx((0.1 + 0.2 + 0.4) / 7 / 2)  # columns 1 and 4
    assert rest[0, 0] == pytest.approx((0.1 + 0.3 + 0.1) / 7 / 2)  # columns 2 and 5
    nothing = np.full(7, -1)
    assert map_measures.to_copies(pattern, nothing, segment, ordinary) is None
    assert map_measures.to_shared(pattern, nothing, ordinary) is None


def test_a_uniform_head_has_no_excess() -> None:
    pattern = np.full((2, 3, 9, 9), 1 / 9)
    ordinary = np.array([0, 1, 1, 1, 0, 1, 1, 1, 0], dtype=bool)
    segment = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    spelling = np.array([-1, 0, 0, -1, -1, -1, 0, -1, -1])  # a word of two pieces, then of one
    for both in (
        map_measures.to_copies(pattern, spelling, segment, ordinary),
        map_measures.to_shared(pattern, spelling, ordinary),
    ):
        np.testing.assert_allclose(both[0], both[1])


def test_the_table_against_a_loop(study: dict[str, Path], frames: dict[str, pd.DataFrame]) -> None:
    frame = frames["shared"].set_index(["stage", "measure", "layer", "head"])
    trees = read_trees(study["annotation"])
    layer, head = 2, 1
    for stage, examples in zip(("pretrained", "fine-tuned"), caches(study), strict=True):
        copies, others = [], []
        for example, tree in zip(examples, trees, strict=True):
            weights = example.pattern[layer, head].astype(float)
            words = {k: tree.words[w] for k, w in enumerate(example.word) if w >= 0}
            of_example = []
            for query, word in words.items():
                across = [k for k in words if example.segment[k] != example.segment[query]]
                same = [weights[query, k] for k in across if words[k] == word != "."]
                different = [weights[query, k] for k in across if words[k] != word or word == "."]
                if same and different:
                    of_example.append((np.mean(same), np.mean(different)))
            if of_example:
                copies.append(np.mean([a for a, _ in of_example]))
                others.append(np.mean([b for _, b in of_example]))
        row = frame.loc[stage, "copy", layer, head]
        assert row["n"] == len(copies) > 0
        assert row["attention"] == pytest.approx(np.mean(copies), abs=1e-9)
        assert row["others"] == pytest.approx(np.mean(others), abs=1e-9)
        assert row["excess"] == pytest.approx(row["attention"] - row["others"], abs=1e-9)
        assert row["ci_low"] <= row["excess"] <= row["ci_high"]


def test_the_strongest_heads_and_the_figure(
    frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    tables.write(frames["shared"], tmp_path / "s.parquet")
    out = {name: tmp_path / name for name in ("svg", "pdf", "png", "table")}
    figures.kovaleva2019_shared([tmp_path / "s.parquet"], **out)
    assert out["png"].read_bytes().startswith(b"\x89PNG")
    printed = pd.read_csv(out["table"])
    rows = frames["shared"][
        (frames["shared"]["stage"] == "fine-tuned") & (frames["shared"]["measure"] == "shared")
    ]
    best = rows.loc[rows["excess"].idxmax()]
    shown = printed[(printed["stage"] == "fine-tuned") & (printed["measure"] == "shared")]
    assert shown["head"].iloc[0] == f"{best['layer'] + 1}-{best['head'] + 1}"
    assert shown["excess"].tolist() == pytest.approx(
        sorted(rows["excess"], reverse=True)[:3], rel=1e-4
    )
