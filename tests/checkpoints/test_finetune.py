"""Fine-tuned classifiers: what is written, and the same for a seed."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from tests.core.tiny_models import WORDS, write_card
from workflow_scripts.checkpoints import finetune, score_classifier
from workflow_scripts.core.data import cards, tables
from workflow_scripts.core.data.tasks import TASK_COLUMNS, TASKS, split_of
from workflow_scripts.core.integrity import code_digest
from workflow_scripts.core.model import models, training
from workflow_scripts.core.model.classifiers import (
    load_classifier,
    logits_of,
    new_classifier,
    tokens_of,
)
from workflow_scripts.core.run.job import call

RECIPE = {"seed": 3, "epochs": 3, "batch_size": 4, "learning_rate": 1e-3}
OUTPUTS = ("checkpoint", "card", "curve")


def made_up_task(folder: Path, name: str = "mrpc") -> Path:
    """A table whose label can be learnt: whether the first text begins with "the"."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(68):
        label = number % 2
        first = " ".join(["the" if label else "king", *rng.choice(WORDS, size=5)])
        second = " ".join(rng.choice(WORDS, size=4))
        split = "train" if number < 48 else "dev"
        rows.append((split, f"{split}-{number}", f"f:{number}", first, second, float(label)))
    path = folder / f"{name}.parquet"
    tables.write(pd.DataFrame(rows, columns=list(TASK_COLUMNS)), path)
    return path


@pytest.fixture(scope="module")
def card(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_card(tmp_path_factory.mktemp("card"), tiny_model_dir)


def run(folder: Path, card: Path, **options: Any) -> Path:
    folder.mkdir(exist_ok=True)
    table = options.pop("table", None) or made_up_task(folder)
    tables.write(split_of(tables.read(table), "train"), folder / "training")
    parameters = {"model": card, "training": folder / "training", "device": "cpu"}
    parameters |= {"task": "mrpc", "init": "pretrained", "max_tokens": 32, "recipe": RECIPE}
    call(finetune.main, parameters | {name: folder / name for name in OUTPUTS} | options)
    return folder


def scored(folder: Path, card: Path, init: str) -> pd.DataFrame:
    paths = {"model": card, "card": folder / "card", "table": folder / "mrpc.parquet"}
    options = {"task": "mrpc", "init": init, "seed": 3, "sample_seed": 7, "max_tokens": 32}
    options |= {"metrics": folder / "metrics", "bootstrap": 200, "device": "cpu"}
    options |= {"before": init == "pretrained"}
    call(score_classifier.main, paths | options)
    return pd.read_parquet(folder / "metrics")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "checkpoint/model.safetensors")


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@pytest.fixture(scope="module")
def finished(card: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = run(tmp_path_factory.mktemp("finished"), card)
    scored(folder, card, "pretrained")
    return folder


def test_what_is_written(finished: Path, card: Path) -> None:
    assert not list((finished / "checkpoint").glob("*.bin"))
    own, base = cards.read_card(finished / "card"), cards.read_card(card)
    assert own["source"] == {"path": str(finished / "checkpoint")}
    assert own["weights"] == models.weights_digest(finished / "checkpoint") != base["weights"]
    assert own["special"] == base["special"]
    assert not (finished / "checkpoint.work").exists()
    curve = pd.read_csv(finished / "curve")
    assert curve["step"].tolist() == [*range(3, 37, 3)]
    assert curve["epoch"].tolist() == [quarter / 4 for quarter in range(1, 13)]
    assert set(curve["split"]) == {"train"}
    metrics = pd.read_parquet(finished / "metrics")
    assert set(zip(metrics["stage"], metrics["metric"], strict=True)) == {
        (stage, metric) for stage in ("untrained", "fine-tuned") for metric in ("f1", "accuracy")
    }
    assert (metrics["n"] == 20).all()
    assert (metrics["ci_low"] <= metrics["value"]).all()
    assert (metrics["value"] <= metrics["ci_high"]).all()


def test_the_checkpoint_predicts_what_the_metrics_state(finished: Path, card: Path) -> None:
    classifier = load_classifier(finished / "checkpoint", torch.device("cpu"))
    dev = split_of(tables.read(finished / "mrpc.parquet"), "dev")
    tokenizer = models.load_tokenizer(finished / "checkpoint")
    tokens = tokens_of(dev, tokenizer, 32, 128)
    logits = logits_of(classifier, tokens)
    right = float((logits.argmax(1) == dev["label"]).mean())
    metrics = pd.read_parquet(finished / "metrics").set_index(["stage", "metric"])["value"]
    assert right == pytest.approx(metrics["fine-tuned", "accuracy"])
    one_by_one = np.concatenate([logits_of(classifier, [example]) for example in tokens])
    np.testing.assert_allclose(logits, one_by_one, atol=1e-5)
    assert classifier.config.id2label == {0: "0", 1: "1"}


def test_the_untrained_model_is_scored_with_the_head_that_training_began_with(
    finished: Path, card: Path
) -> None:
    untrained = new_classifier(models.directory_of(cards.read_card(card)), TASKS["mrpc"], "x", 3)
    dev = split_of(tables.read(finished / "mrpc.parquet"), "dev")
    tokens = tokens_of(dev, models.load_tokenizer(finished / "checkpoint"), 32, 128)
    right = float((logits_of(untrained, tokens).argmax(1) == dev["label"]).mean())
    metrics = pd.read_parquet(finished / "metrics").set_index(["stage", "metric"])["value"]
    assert right == pytest.approx(metrics["untrained", "accuracy"])
    assert set(scored(finished, card, "random")["stage"]) == {"fine-tuned"}
    scored(finished, card, "pretrained")


def test_the_same_seed_gives_the_same_weights(finished: Path, card: Path, tmp_path: Path) -> None:
    table = finished / "mrpc.parquet"
    assert equal(weights(finished), weights(run(tmp_path / "again", card, table=table)))
    another = run(tmp_path / "other", card, table=table, recipe=RECIPE | {"seed": 4})
    assert not equal(weights(finished), weights(another))


def test_a_killed_run_goes_on_only_with_the_code_that_began_it(
    finished: Path, card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a loss is edited meanwhile: weights must not be trained by two of them."""
    table, save = finished / "mrpc.parquet", training.save_state
    resumed = []

    def stop(*arguments: Any) -> None:
        save(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "save_state", stop)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, card, table=table)
    monkeypatch.setattr(training, "save_state", save)
    monkeypatch.setattr(finetune, "train", lambda *given: resumed.append(given[3].is_file()))
    with pytest.raises(AttributeError):  # nothing is trained here
        run(tmp_path, card, table=table)
    monkeypatch.setattr(code_digest, "digest", lambda _: "another")
    with pytest.raises(AttributeError):
        run(tmp_path, card, table=table)
    assert resumed == [True, False]


def test_weights_of_every_epoch(finished: Path, card: Path, tmp_path: Path) -> None:
    table = finished / "mrpc.parquet"
    folder = run(tmp_path / "epochs", card, table=table, epochs=tmp_path / "epochs/epochs")
    assert equal(weights(finished), weights(folder))
    names = sorted(path.name for path in (folder / "epochs").glob("epoch-*"))
    assert names == ["epoch-1", "epoch-2"]  # the third is the checkpoint itself
    each = [load_file(folder / "epochs" / name / "model.safetensors") for name in names]
    assert not equal(each[0], each[1])
    assert not equal(each[1], weights(folder))
    AutoModel.from_pretrained(folder / "epochs/epoch-1", trust_remote_code=False)


def test_random_weights_are_normal(tiny_model_dir: Path) -> None:
    random_one = new_classifier(tiny_model_dir, TASKS["mnli"], "random", 1)
    own = new_classifier(tiny_model_dir, TASKS["mnli"], "pretrained", 1)
    spread = random_one.config.initializer_range
    for name, value in random_one.state_dict().items():
        if name.endswith("query.weight"):
            assert value.std().item() == pytest.approx(spread, rel=0.1)
            assert abs(value.mean().item()) < spread / 10
            assert not torch.equal(value, own.state_dict()[name])
    assert random_one.config.num_labels == 3
    torch.testing.assert_close(
        own.bert.embeddings.word_embeddings.weight,
        AutoModel.from_pretrained(
            tiny_model_dir, trust_remote_code=False
        ).embeddings.word_embeddings.weight,
    )
