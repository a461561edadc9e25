"""Models from a directory, a package or the hub, and what is wrong with one."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.core.tiny_models import HEADS, LAYERS, POSITIONS, tokenizer
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.run.sources import inside_package

CPU = torch.device("cpu")


@pytest.fixture
def directory(tiny_model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model_dir, tmp_path / "model"))


def describe(directory: Path) -> dict:
    return models.describe(directory, "tiny", {"path": str(directory)})


def test_the_card(directory: Path) -> None:
    card = describe(directory)
    assert (card["n_layers"], card["n_heads"], card["max_positions"]) == (LAYERS, HEADS, POSITIONS)
    names = tokenizer().convert_ids_to_tokens
    assert names(card["punctuation"]) == [".", ","]
    assert names([card["special"][kind] for kind in ("cls", "sep", "mask", "pad")]) == [
        "[CLS]", "[SEP]", "[MASK]", "[PAD]",
    ]  # fmt: skip
    assert json.loads(json.dumps(card)) == card
    assert card["source"] == {"path": str(directory)}


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("tokenizer.json", "null", "no fast tokenizer"),
        ("config.json", "null", "config.json: cannot be read"),
        ("config.json", '{"num_labels": 1000000000}', "num_labels above 1000000"),
        ("model.safetensors", "no weights", "the weights cannot be read"),
    ],
)
def test_a_broken_file(directory: Path, file: str, content: str, words: str) -> None:
    (directory / file).write_text(content)
    with pytest.raises(InputError, match=words) as error:
        describe(directory)
    assert str(directory) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no_such_package/model", "not installed"),
        ("json/../../outside", "the package has no such file"),
        ("json/nothing", "no such file"),
    ],
)
def test_package_mistakes(place: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        inside_package(place)


def test_a_saved_model_is_the_same_offline(
    directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    saved = []
    for offline in (False, True):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", offline)
        saved.append(tmp_path / str(offline))
        body, tokens = models.load_body(directory, CPU), models.load_tokenizer(directory)
        models.save(body, tokens, saved[-1])
    contents = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in saved]
    assert contents[0] == contents[1]
    assert {"config.json", "tokenizer_config.json", "model.safetensors"} <= contents[0].keys()


def test_epochs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        (tmp_path / f"epoch-{number}").mkdir()
    names = [path.name for path in models.weights_by_epoch(tmp_path, tmp_path / "last", "")]
    assert names == ["epoch-1", "epoch-2", "epoch-10", "last"]
