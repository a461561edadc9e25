"""Weights that are not those of the model next to them are refused, never made up."""

import copy
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    PretrainedConfig,
)

from tests.core.tiny_models import ARCHITECTURES, WITH_CLS, tokenizer, write_card
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import mlm, models
from workflow_scripts.core.model.classifiers import load_classifier, new_classifier, new_scorer

CPU = torch.device("cpu")
KINDS = {
    "body": AutoModel,
    "masked-lm": AutoModelForMaskedLM,
    "classifier": AutoModelForSequenceClassification,
}
# How a directory of weights is opened, each with the kind of model that lies there.
LOADERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "body": ("body", lambda directory: models.load_body(directory, CPU)),
    "body of a classifier": ("classifier", lambda directory: models.load_body(directory, CPU)),
    "classifier": ("classifier", lambda directory: load_classifier(directory, CPU)),
    "new classifier": (
        "body",
        lambda directory: new_classifier(directory, TASKS["mrpc"], "pretrained", 1),
    ),
    "masked LM": ("masked-lm", lambda directory: mlm.load_masked_lm(directory, CPU)),
    "scorer": ("body", lambda directory: new_scorer(directory, 1)),
}


def save(folder: Path, kind: str, config: PretrainedConfig, **options: str) -> Path:
    torch.manual_seed(0)
    KINDS[kind].from_config(copy.deepcopy(config), trust_remote_code=False).save_pretrained(
        folder, **options
    )
    tokenizer().save_pretrained(folder)
    return folder


def other_size(**sizes: int) -> PretrainedConfig:
    config = copy.deepcopy(ARCHITECTURES["bert"])
    for name, value in sizes.items():
        setattr(config, name, value)
    return config


@pytest.fixture(params=LOADERS)
def opened(request: pytest.FixtureRequest) -> tuple[str, Callable[[Path], object]]:
    return LOADERS[request.param]


def refused(load: Callable[[Path], object], directory: Path) -> str:
    with pytest.raises(InputError) as error:
        load(directory)
    message = str(error.value)
    assert str(directory) in message
    assert "\n" not in message
    return message


OTHERS = {
    "architecture": ARCHITECTURES["roberta"],
    "layers": other_size(num_hidden_layers=2),
    "size": other_size(intermediate_size=64),
}


@pytest.mark.parametrize(
    ("other", "loader"),
    [*(("architecture", loader) for loader in LOADERS), ("layers", "body"), ("size", "body")],
)
def test_weights_of_another_architecture_or_size(other: str, loader: str, tmp_path: Path) -> None:
    kind, load = LOADERS[loader]
    directory = save(tmp_path / "model", kind, ARCHITECTURES["bert"])
    theirs = save(tmp_path / "other", kind, OTHERS[other])
    shutil.copy(theirs / "model.safetensors", directory)
    words = (
        "are not those of the model in its config.json|or are of other sizes than in config.json"
    )
    assert re.search(words, refused(load, directory))


def test_a_missing_shard(opened: tuple, tmp_path: Path) -> None:
    kind, load = opened
    directory = save(tmp_path / "model", kind, ARCHITECTURES["bert"], max_shard_size="40KB")
    load(directory)
    shard = sorted(directory.glob("*.safetensors"))[2]
    shard.unlink()
    assert "the weights cannot be read" in refused(load, directory)


@pytest.mark.parametrize("name", WITH_CLS)
def test_a_pooler_and_a_head_may_be_missing(name: str, tmp_path: Path) -> None:
    directory = save(tmp_path / "model", "masked-lm", ARCHITECTURES[name])
    models.load_body(directory, CPU)
    new_classifier(directory, TASKS["mrpc"], "pretrained", 1)
    assert mlm.load_masked_lm(directory, CPU)[1]
    bare = save(tmp_path / "bare", "body", ARCHITECTURES[name])
    assert not mlm.load_masked_lm(bare, CPU)[1]


def in_text(old: str, new: str) -> Callable[[Path], None]:
    """An edit of a text that leaves the model one that can be loaded."""

    def edit(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return edit


def last_byte(path: Path) -> None:
    """Change a weight."""
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


EDITS = {
    "config.json": in_text('"gelu"', '"relu"'),
    "tokenizer.json": in_text('"river"', '"rivers"'),
    "model-00002*": last_byte,
}


@pytest.mark.parametrize("name", EDITS)
def test_a_model_changed_since_the_card_was_written(name: str, tmp_path: Path) -> None:
    config = ARCHITECTURES["bert"]
    directory = save(tmp_path / "model", "body", config, max_shard_size="40KB")
    card = read_card(write_card(tmp_path, directory))
    assert models.directory_of(card) == directory
    (path,) = directory.glob(name)
    EDITS[name](path)
    models.load_body(directory, CPU)  # nothing else would notice
    with pytest.raises(InputError, match="are not those that the card of tiny"):
        models.directory_of(card)
