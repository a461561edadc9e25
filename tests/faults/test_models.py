"""Models that are not what they declare: the job that opens them first refuses them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoModel, BertConfig

from tests.core.tiny_models import ARCHITECTURES, LAYERS, REFUSED, random_model, tokenizer

ROOT = Path(__file__).parents[2]


def missing_shard(folder: Path) -> None:
    """The index names a file of weights that is gone."""
    model = AutoModel.from_pretrained(folder, trust_remote_code=False)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    sorted(folder.glob("*.safetensors"))[1].unlink()


def other_architecture(folder: Path) -> None:
    """DistilBERT's weights next to BERT's config."""
    random_model(ARCHITECTURES["distilbert"]).save_pretrained(folder / "other")
    shutil.move(folder / "other/model.safetensors", folder / "model.safetensors")


def other_size(folder: Path) -> None:
    """Weights of a model with one layer more."""
    config = ARCHITECTURES["bert"].to_dict() | {"num_hidden_layers": LAYERS + 1}
    random_model(BertConfig(**config)).save_pretrained(folder / "other")
    shutil.move(folder / "other/model.safetensors", folder / "model.safetensors")


def own_attention(folder: Path) -> None:
    """An architecture whose attention never asks for the registered function."""
    random_model(REFUSED["mpnet"]).save_pretrained(folder)
    tokenizer().save_pretrained(folder)


CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing-shard": (missing_shard, "model.safetensors.index.json names "),
    "other-architecture": (other_architecture, "the weights are not those of the model in its"),
    "other-size": (other_size, "the weights are not those of the model in its config.json"),
    "own-attention": (own_attention, "mpnet: 0 of 3 layers hand their attention"),
}


@pytest.fixture(scope="module")
def refusals(
    tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, subprocess.CompletedProcess]:
    """How the rule's script ended for each model; all run side by side."""
    folder = tmp_path_factory.mktemp("models")
    running = {}
    for name, (damage, _) in CASES.items():
        shutil.copytree(tiny_model_dir, folder / name)
        damage(folder / name)
        source = json.dumps({"path": name})
        command = [sys.executable, "-m", "workflow_scripts.attention.model_card"]
        running[name] = subprocess.Popen(
            [*command, "--source", source, "--name", name, "--model", f"{name}.json"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
    ended = {}
    for name, process in running.items():
        _, printed = process.communicate()
        ended[name] = subprocess.CompletedProcess(name, process.returncode, stderr=printed)
        assert not (folder / f"{name}.json").exists()
    return ended


@pytest.mark.parametrize("name", CASES)
def test_a_model_that_is_not_what_it_declares(
    refusals: dict[str, subprocess.CompletedProcess], name: str
) -> None:
    assert refusals[name].returncode == 1
    lines = [line for line in refusals[name].stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1
    assert CASES[name][1] in lines[0]
    assert "Traceback" not in refusals[name].stderr
