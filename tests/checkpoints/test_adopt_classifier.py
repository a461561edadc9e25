"""Classifiers that this project did not train, analysed as they are, with their own labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from tests.bad_input.refused import refused
from tests.core.tiny_models import (
    ARCHITECTURES,
    HEADS,
    LAYERS,
    WIDTH,
    WORDS,
    enlarge,
    tokenizer,
    write_card,
)
from tests.tasks.test_glue_files import run as prepare
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.checkpoints import adopt_classifier, score_classifier
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS, own_task, split_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import check
from workflow_scripts.core.run.job import call
from workflow_scripts.core.stats.metrics import score

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
NAMES = {0: "against", 1: "neither", 2: "for"}
OUTPUTS = ("checkpoint", "card")


def save_classifier(folder: Path, segments: bool = True, **options: Any) -> Path:
    """A directory as transformers' users have it, whose tokenizer numbers segments or does not."""
    config = ARCHITECTURES["bert"].__class__(**ARCHITECTURES["bert"].to_dict() | options)
    torch.manual_seed(2)
    model = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
    enlarge(model).save_pretrained(folder)
    words = tokenizer()
    if segments:
        words.model_input_names = [*words.model_input_names, "token_type_ids"]
        words.init_kwargs["model_input_names"] = words.model_input_names  # as it is saved
    words.save_pretrained(folder)
    return folder


def stances(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    texts = [[" ".join(rng.choice(WORDS, size=rng.integers(2, 9))) for _ in "ab"] for _ in range(n)]
    frame = pd.DataFrame(texts, columns=["claim", "reply"])
    return frame.assign(stance=rng.choice(list(NAMES.values()), size=n))


def study(folder: Path, task: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    tasks = {"stance": {"from": str(folder / "dev.csv"), "label": "stance"} | (task or {})}
    models = {"mine": {"from": str(folder / "own"), "task": "stance"}}
    return {"study": "tiny", "device": "cpu", "threads": 1, "models": models, "tasks": tasks} | more


def test_effects_are_those_of_a_plain_loop(tiny_model_dir: Path, tmp_path: Path) -> None:
    """Of heads whose part of what enters the merge is 0; four of five rows are analysed."""
    folder = save_classifier(tmp_path / "own", id2label=NAMES).parent
    frame = stances(60)
    frame.to_csv(folder / "dev.csv", index=False)
    tiny = TinyStudy(tmp_path / "study", tiny_model_dir)
    draws = {"bootstrap": 100, "permutations": 100}
    tiny.config = study(folder, ablation={}, pruning={"draws": 1}, **draws)
    tiny.write_config()
    names = "ablation/stance.finetuned.1.scores", "pruning/stance.finetuned.1.importance"
    made = [f"results/tiny/mine/{name}.parquet" for name in names]
    tiny.run(*made, "results/tiny/mine/tables/kovaleva2019-table1.csv")
    scores, importance = (tables.read(tiny.folder / path) for path in made)
    zero = scores[(scores["unit"] == "head") & (scores["mode"] == "zero")]
    found = zero.sort_values(["layer", "head"])["score"].to_numpy().reshape(LAYERS, HEADS)
    model = AutoModelForSequenceClassification.from_pretrained(folder / "own").eval()
    chosen = frame[frame.index % 5 != 4]
    expected = np.array(
        [[accuracy(model, chosen, layer, head) for head in range(HEADS)] for layer in range(LAYERS)]
    )
    np.testing.assert_allclose(found, expected)
    assert scores["baseline"].unique() == [accuracy(model, chosen)]
    assert len(np.unique(expected)) > 3
    assert importance["n"].unique() == [12]
    table = pd.read_csv(tiny.folder / "results/tiny/mine/tables/kovaleva2019-table1.csv").iloc[0]
    assert table["pretrained_tuned"] == pytest.approx(100 * accuracy(model, chosen), abs=0.06)
    assert (bool(table["official"]), bool(np.isnan(table["n_train"]))) == (False, True)


def accuracy(model: PreTrainedModel, frame: pd.DataFrame, layer: int = 0, head: int = -1) -> float:
    """The share of rows that `model` classifies rightly without a head; -1: with all."""

    def without(module: torch.nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        size = WIDTH // HEADS
        given[0][..., head * size : (head + 1) * size] *= head < 0
        return given

    merge = model.bert.encoder.layer[layer].attention.output.dense
    hook = merge.register_forward_pre_hook(without)
    right, words = [], AutoTokenizer.from_pretrained(model.name_or_path)
    for row in frame.itertuples():
        with torch.no_grad():
            logits = model(**words(row.claim, row.reply, return_tensors="pt")).logits
        right.append(model.config.id2label[int(logits.argmax())] == row.stance)
    hook.remove()
    return np.mean(right)


def test_a_regression_head_is_a_task_of_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_classifier(tmp_path / "own", num_labels=1)
    frame = stances(30).drop(columns="reply").assign(stance=np.arange(30) / 7)
    frame.to_csv(tmp_path / "dev.csv", index=False)
    entry = check(study(tmp_path), SCHEMAS)["tasks"]["stance"]
    assert entry["labels"] == "score"
    monkeypatch.setitem(TASKS, "stance", own_task("stance", entry))
    dev = split_of(prepare(tmp_path, "stance", entry, aside=True)[0], "dev")
    files = {"model": adopt(tmp_path), "card": tmp_path / "card"}
    files |= {"table": tmp_path / "t.parquet", "metrics": tmp_path / "metrics"}
    options = {"task": "stance", "init": "pretrained", "before": False, "max_tokens": 32}
    options |= {"seed": 1, "sample_seed": 1, "bootstrap": 100, "device": "cpu"}
    call(score_classifier.main, files | options)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "checkpoint").eval()
    with torch.no_grad():
        texts = [tokenizer()(text, return_tensors="pt") for text in dev["text1"]]
        logits = np.array([model(**text).logits[0].numpy() for text in texts])
    found = pd.read_parquet(tmp_path / "metrics").set_index("metric")["value"]
    for metric, value in score(TASKS["stance"], dev["label"].to_numpy(), logits).items():
        assert found[metric] == pytest.approx(value, abs=1e-4)


def adopt(folder: Path) -> Path:
    """The model's own card."""
    files = {name: folder / name for name in OUTPUTS} | {"table": folder / "t.parquet"}
    files["model"] = write_card(folder / "described", folder / "own")
    call(adopt_classifier.main, files | {"task": "stance", "max_tokens": 32, "device": "cpu"})
    return files["model"]


def test_inputs_are_those_of_the_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_classifier(tmp_path / "own", segments=False, id2label=NAMES)
    stances(30).to_csv(tmp_path / "dev.csv", index=False)
    entry = check(study(tmp_path), SCHEMAS)["tasks"]["stance"]
    monkeypatch.setitem(TASKS, "stance", own_task("stance", entry))
    prepare(tmp_path, "stance", entry, aside=True)
    refused(lambda: adopt(tmp_path), "own: the workflow's inputs give other outputs")


def test_labels_are_names_or_numbers_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_classifier(tmp_path / "own", id2label=NAMES)
    frame = stances(30)
    numbers = frame["stance"].map({name: number for number, name in NAMES.items()})
    for labels in (frame["stance"], numbers):
        frame.assign(stance=labels).to_csv(tmp_path / "dev.csv", index=False)
        entry = check(study(tmp_path), SCHEMAS)["tasks"]["stance"]
        assert entry["labels"] == list(NAMES.values())
        monkeypatch.setitem(TASKS, "stance", own_task("stance", entry))
        table, counts = prepare(tmp_path, "stance", entry, aside=True)
        both = pd.concat([split_of(table, "dev"), split_of(table, "train")])
        rows = both["source"].str.rpartition(":")[2].astype(int) - 2
        assert both["label"].tolist() == numbers[rows].tolist()
        assert set(counts["split"]) == {"dev", "reference"}


@pytest.mark.parametrize(
    ("options", "labels", "words"),
    [
        ({"num_labels": 3, "problem_type": "multi_label_classification"}, "abc", "one label a"),
        ({"num_labels": 3, "problem_type": "regression"}, "abc", "regression with 3 outputs"),
        ({"id2label": NAMES}, "ab", "3 outputs (against, neither, for), and tasks.t.labels 2"),
        ({"id2label": NAMES}, ["for", "neither", "against"], "order against, neither, for; write"),
        ({"architectures": ["BertForMaskedLM"]}, "ab", "BertForMaskedLM is no model ForSeq"),
    ],
)
def test_other_heads_and_orders_are_refused(options: dict, labels: Any, words: str) -> None:
    config = ARCHITECTURES["bert"].__class__(
        **{"architectures": ["BertForSequenceClassification"]} | options
    )
    task = own_task("t", {"labels": labels, "label": "label"})
    refused(lambda: adopt_classifier.check_head(config, task, "own/config.json"), words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tasks": {"stance": {"from": "x"}, "sst2": {"from": "y"}}}, "remove tasks.sst2"),
        ({"checkpoints": {"finetune": {"seeds": [1, 2]}}}, "give one seed and no every_epoch"),
        ({"finetuning": {}}, "finetuning: reads encoders without task only"),
        ({"tasks": {"stance": {"from": "x"}}}, "own/config.json'); write the labels"),
    ],
)
def test_what_a_study_of_a_classifier_cannot_have(more: dict, words: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with pytest.raises(InputError) as error:
        check(study(tmp_path) | more, SCHEMAS)
    assert words in str(error.value)


def test_a_binary_classifier_without_names(tmp_path: Path) -> None:
    save_classifier(tmp_path / "own")
    assert "id2label" not in json.loads((tmp_path / "own/config.json").read_text("utf-8"))
    assert check(study(tmp_path), SCHEMAS)["tasks"]["stance"]["labels"] == ["LABEL_0", "LABEL_1"]
