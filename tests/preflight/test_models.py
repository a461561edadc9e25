"""Models are looked at as their cards will be, by their header where they are large."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.core.tiny_gguf import save_gguf
from tests.core.tiny_models import ARCHITECTURES, tokenizer
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import unloaded, weights
from workflow_scripts.core.run.units import size
from workflow_scripts.preflight import models


@pytest.fixture
def model(tiny_model_dir: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_model_dir, tmp_path / "model")


def check(model: Path, **needed: list[str]) -> str:
    return models.check("m", {"path": str(model)}, needed, Network())[1]


def change_config(model: Path, **changed: object) -> None:
    path = model / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


@pytest.mark.parametrize("loaded", [unloaded.LOADED, 0])
def test_a_good_model(model: Path, loaded: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unloaded, "LOADED", loaded)
    what = check(model, cls=["probes"])
    on_disk = size((model / "model.safetensors").stat().st_size)
    assert what.startswith(f"bert, 3 layers of 4 heads, weights {on_disk}: ")
    assert ("only the header" in what) == (loaded == 0)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_header_of_every_architecture_fits(architecture: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    body = unloaded.AutoModel.from_config(ARCHITECTURES[architecture], trust_remote_code=False)
    body.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    assert "3 layers of 4 heads" in check(tmp_path)


def test_weights_of_another_size(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unloaded, "LOADED", 0)
    hidden = json.loads((model / "config.json").read_text())["intermediate_size"]
    change_config(model, intermediate_size=2 * hidden)
    with pytest.raises(InputError, match=r"has shape .* but config\.json asks for"):
        check(model)


def test_weights_of_another_architecture(model: Path) -> None:
    save_file({"h.0.attn.c_attn.weight": torch.zeros(2, 2)}, model / "model.safetensors")
    with pytest.raises(InputError, match=r"the weights have 0 of the .* tensors of bert"):
        check(model)


def test_older_names_are_known(model: Path) -> None:
    path = model / "model.safetensors"
    old = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma"): tensor
        for name, tensor in load_file(path).items()
    }
    save_file(old, path)
    config = weights.read_config(model)
    unloaded.check_header(model, config, weights.read_header(model))


def test_a_missing_shard(model: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (model / weights.INDEX).write_text(json.dumps(index))
    assert "3 layers of 4 heads" in check(model)  # model.safetensors is loaded, if it is there
    index["weight_map"]["a"] = "model-00001-of-00002.safetensors"
    (model / weights.INDEX).write_text(json.dumps(index))
    (model / "model.safetensors").rename(model / "model-00001-of-00002.safetensors")
    with pytest.raises(InputError, match=r"names model-00002-of-00002\.safetensors, which is miss"):
        check(model)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("config.json", "no config.json"),
        ("model.safetensors", "no \\*.safetensors weights"),
    ],
)
def test_a_missing_file(model: Path, file: str, message: str) -> None:
    (model / file).unlink()
    with pytest.raises(InputError, match=message):
        check(model)


def test_a_truncated_file(model: Path) -> None:
    path = model / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="cannot be read"):
        check(model)


@pytest.mark.parametrize("loaded", [unloaded.LOADED, 0])
def test_an_ability_that_is_lacking(
    model: Path, loaded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unloaded, "LOADED", loaded)
    path = model / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings | {"mask_token": None}))
    special = model / "special_tokens_map.json"
    if special.is_file():
        special.unlink()
    with pytest.raises(InputError, match="surface needs a mask token"):
        check(model, mask=["surface"])


def test_a_gguf_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here by all but its weights, on the hub by its name."""
    source = {"path": str(tmp_path / "tiny.gguf")}
    save_gguf(tmp_path / "tiny.gguf", quantised=True)
    stored = size((tmp_path / "tiny.gguf").stat().st_size)
    what = models.check("m", source, {}, Network(), "decoder")[1]
    assert what.startswith(f"llama, 2 layers of 4 heads, Q8_0 weights {stored}: dequantised when")
    with pytest.raises(InputError, match=r"kind: encoder: .* write kind: decoder"):
        models.check("m", source, {}, Network(), "encoder")
    with pytest.raises(InputError, match=r"surface needs a \[CLS\] token"):
        models.check("m", source, {"cls": ["surface"]}, Network(), "decoder")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    there = {"a.Q4_1.gguf": 2_000_000, "README.md": 1}
    monkeypatch.setattr(Network, "of_hub", lambda *asked: there)
    source = {"hub": "some/model", "revision": "a" * 40, "file": "a.Q4_1.gguf"}
    assert "2.0 MB: on the hub" in models.check("m", source, {}, Network(), "decoder")[1]
    with pytest.raises(InputError, match=r"no b\.gguf; its GGUF files: a\.Q4_1\.gguf"):
        models.check("m", source | {"file": "b.gguf"}, {}, Network(), "decoder")
