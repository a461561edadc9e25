"""Models in GGUF files: dequantised once, to a directory that everything reads."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.core.tiny_gguf import HEADS, LAYERS, save_gguf
from workflow_scripts.attention import convert, model_card
from workflow_scripts.core.data.cards import CONVERTED, is_current, read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import gguf_files, models, weights
from workflow_scripts.core.run import job


def made(file: Path, folder: Path) -> Path:
    """The directory of the converted model, made as by its rule."""
    directory = folder / CONVERTED
    values = {"source": {"path": str(file)}, "converted": directory, "files": [file]}
    job.call(convert.main, values)
    return directory


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_the_weights_are_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the same bytes, offline too, whatever lies next to the file; also grouped queries."""
    file = tmp_path / "tiny.Q8_0.gguf"
    expected = save_gguf(file, quantised=True, kv_heads=2)
    directory = made(file, tmp_path / "first")
    for name in ("config.json", "tokenizer_config.json", "generation_config.json"):
        (tmp_path / name).write_text('{"model_type": "bert", "auto_map": {"AutoConfig": "x.Y"}}')
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert content(made(file, tmp_path / "second")) == content(directory)
    stored = load_file(directory / weights.WEIGHTS)
    assert expected.keys() - stored.keys() == {"lm_head.weight"}
    for name, tensor in stored.items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, expected[name]), name
    config = weights.read_config(directory)
    assert config.quantised == "Q8_0"
    assert (config.num_hidden_layers, config.num_key_value_heads) == (LAYERS, 2)
    tokens = models.load_tokenizer(directory)("of the", return_offsets_mapping=True)
    assert tokens["offset_mapping"][-1] == (2, 6)


def test_a_card_finds_the_directory(tmp_path: Path) -> None:
    """Wherever the study is; a new file makes the card out of date."""
    file = tmp_path / "tiny.gguf"
    save_gguf(file)
    made(file, tmp_path / "study/tiny")
    card, source = tmp_path / "study/tiny/attention/model.json", {"path": str(file)}
    values = {"source": source, "name": "tiny", "kind": "decoder"}
    job.call(model_card.main, {"model": card, **values})
    about = read_card(card)
    assert (about["n_layers"], about["n_heads"], about["source"]) == (LAYERS, HEADS, source)
    assert "quantised" not in about  # the weights are plain
    assert is_current(card, source)
    save_gguf(file, quantised=True)
    assert not is_current(card, source)
    (tmp_path / "study").rename(tmp_path / "renamed")
    card = tmp_path / "renamed/tiny/attention/model.json"
    assert models.directory_of(read_card(card)) == tmp_path / "renamed/tiny" / CONVERTED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"architecture": "rwkv7"}, "architecture rwkv7 is not supported"),
        ({"without": "blk.1.attn_v"}, r"model\.layers\.1\.self_attn\.v_proj\.weight is missing"),
        ({"blocks": 1}, "llama.block_count is 1, but it has 2 blocks"),
        ({"blocks": 10**6}, "llama.block_count is 1000000, but it has 2 blocks"),
        (
            {"unknown": "blk.0.attn_q.bias"},
            "holds 23,904 weights, and transformers loads 23,872",
        ),
        ({"scaling": "linear"}, "scaling.type: .* leaves out how"),
    ],
)
def test_a_model_that_would_be_another_is_refused(
    tmp_path: Path, changes: dict, words: str
) -> None:
    file = tmp_path / "tiny.gguf"
    save_gguf(file, **changes)
    with pytest.raises(InputError, match=words) as error:
        convert.main({"path": str(file)}, tmp_path / "out")
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    file, whole = tmp_path / "tiny.gguf", tmp_path / "whole.gguf"
    save_gguf(whole)
    size = whole.stat().st_size
    for content in (b"", b"PK\x03\x04", *(whole.read_bytes()[:part] for part in (400, size - 100))):
        file.write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as") as error:
            gguf_files.read_header(file)
        assert str(error.value).startswith(f"{file}: ")
        assert "\n" not in str(error.value)
