"""The files are read as the projects that they are for read them; their readers are redone here."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.context import context_files, files
from workflow_scripts.context.files import CONFIG, HeadList
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.errors import InputError

FULL = np.array([[1, 0.1, 0], [0.25, 0.5, 0.5], [0, 1 / 3, 1], [0.75, 0, 0.2]])
HEADS = HeadList(FULL, sinks=4, recent=256)


def test_duo_attention_reads_the_list(tmp_path: Path) -> None:
    """As its `load_attn_pattern`, and with its decision `> 0.5`."""
    files.write_heads(tmp_path, HEADS)
    full = np.loadtxt(tmp_path / "full_attention_heads.tsv", dtype=float, delimiter="\t")
    config = json.load((tmp_path / "config.json").open())
    np.testing.assert_array_equal(full, FULL)
    assert (config["sink_size"], config["recent_size"]) == (4, 256)
    np.testing.assert_array_equal(~(full > 0.5), HEADS.streams())
    for path in (tmp_path, tmp_path / files.HEADS):
        found = files.read_heads(path)
        np.testing.assert_array_equal(found.full, FULL)
        assert found[1:] == (4, 256)
    for shape in ((3, 1), (1, 3), (1, 1)):
        files.write_heads(tmp_path, HeadList(np.ones(shape), 0, 1))
        assert files.read_heads(tmp_path).full.shape == shape


def test_learnt_gates_are_read_and_other_files_refused(tmp_path: Path) -> None:
    (tmp_path / files.HEADS).write_text("-9.584426879882812500e-05\t1.0e+00\n", encoding="utf-8")
    given = {"model_name": "m", "sink_size": 64, "recent_size": 256, "threshold": 0.5}
    (tmp_path / CONFIG).write_text(json.dumps(given), encoding="utf-8")
    found = files.read_heads(tmp_path)
    assert (found.full.tolist(), *found[1:]) == ([[0, 1]], 64, 256)
    for lacking, named in (({}, "sink_size"), (given | {"recent_size": 0}, "recent_size < 1")):
        (tmp_path / CONFIG).write_text(json.dumps(lacking), encoding="utf-8")
        with pytest.raises(InputError, match=f"{CONFIG}.*{named}"):
            files.read_heads(tmp_path)


def test_retrieval_head_and_headkv_read_the_scores(tmp_path: Path) -> None:
    """Both read the first line; HeadKV takes the order of the file for that of the heads."""
    path = tmp_path / "scores.json"
    files.write_scores(path, FULL, 6)
    with path.open() as file:
        found = json.loads(file.readline())
    ranked = sorted(found.items(), key=lambda item: np.mean(item[1]), reverse=True)
    best = [tuple(int(number) for number in name.split("-")) for name, _ in ranked[:4]]
    assert set(best) == {(0, 0), (0, 1), (2, 4), (2, 5)}
    by_order = np.reshape([np.mean(runs) for runs in found.values()], (4, 6))
    np.testing.assert_array_equal(by_order, np.repeat(FULL, 2, axis=1))


def test_a_list_by_ranks_streams_the_share_of_its_threshold() -> None:
    """A score of each key-value head stands at both heads that share it."""
    scores = {"layer": [0, 0, 0, 0, 1, 1, 1, 1], "key_value_head": [0, 0, 1, 1] * 2}
    rows = pd.DataFrame(scores | {"exact": [0.3, 0.3, -2, -2, 0, 0, 0.1, 0.1]})
    found = files.ranked(rows, "exact", 4, 256)
    assert found.full.tolist() == [[1, 0.25], [0.5, 0.75]]
    assert [found.streams(share).sum() for share in (0, 0.25, 0.5, 1)] == [0, 1, 2, 4]


def test_the_card_has_the_curve_in_words_and_numbers() -> None:
    columns = ["share", "nats", "change", "change_low", "change_high", "bytes"]
    curve = pd.DataFrame([[0.5, 3.25, 0.04, -0.01, 0.09, 23592960]], columns=columns)
    text = files.card("tiny", HEADS, curve)
    assert "9 of 12 key-value heads stream." in text
    assert "the first 4 and the last 256 tokens." in text
    assert text.splitlines()[-1] == "| 50% | 3.2500 | +0.0400 (-0.0100 to +0.0900) | 23,592,960 |"


def test_a_study_writes_the_list_by_one_score(tmp_path: Path) -> None:
    """With the loss of layers' windows where a step has just these: no sinks, and whole layers."""
    paths = {name: tmp_path / name for name in ("model", "scores", "curves", "lists")}
    write_card({"name": "tiny", "n_heads": 4}, paths["model"])
    axes = {"layer": range(2), "head": range(4)}
    kv_heads, kvzip = (
        np.array([[0, 0, 1, 1]] * 2),
        np.array([[0.9, 0.9, 0.8, 0.8], [0, 0, 0.1, 0.1]]),
    )
    rows = tables.tidy(axes, key_value_head=kv_heads, kvzip=kvzip, exact=kvzip[:, ::-1])
    tables.write(rows, paths["scores"])
    columns = [
        "order",
        "share",
        "streaming",
        "nats",
        "change",
        "change_low",
        "change_high",
        "bytes",
    ]
    lines = [["exact", 0.5, 2, 9, 9, 9, 9, 9], ["kvzip", 0.5, 2, 3.5, 0.5, 0.25, 0.75, 64]]
    tables.write_csv(pd.DataFrame(lines, columns=columns), paths["curves"])
    for sinks in (4, 0):
        context_files.main(**paths, score="kvzip", sinks=sinks, recent=8)
        found = json.loads((paths["lists"] / "layer_types.json").read_text(encoding="utf-8"))
        measured = found.pop("measured_loss", None)
        assert found["layer_types"] == ["full_attention", "sliding_attention"]
    assert measured == {"nats": 3.5, "change": 0.5, "change_low": 0.25, "change_high": 0.75}
    heads = files.read_heads(paths["lists"])
    assert (heads.full.tolist(), *heads[1:]) == ([[1, 0.75], [0.25, 0.5]], 0, 8)
    card = (paths["lists"] / "card.md").read_text(encoding="utf-8")
    assert "| 50% | 3.5000 | +0.5000 (+0.2500 to +0.7500) | 64 |\n\nHeads stream in" in card
    for mixed in (HeadList(np.array([[0, 1], [0, 1.0]]), 0, 8), HeadList(np.ones((2, 2)), 0, 8)):
        assert "measured_loss" not in context_files.windows(
            mixed, pd.DataFrame(lines, columns=columns)
        )
