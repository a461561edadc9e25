"""Pickled weights and adapters: what is converted equals what transformers and PEFT read."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForMaskedLM

from tests.bad_input.refused import refused
from tests.core.tiny_models import save_bert
from workflow_scripts.attention import convert, model_card
from workflow_scripts.core.data import cards
from workflow_scripts.core.model import models, weights
from workflow_scripts.core.run import job, model_sources

QUERY = "encoder.layer.1.attention.self.query"


def save_pickled(directory: Path, form: str) -> Path:
    """A masked-LM BERT, whose tied weights share memory, as pickles alone."""
    save_bert(directory, mlm=True)
    model = AutoModelForMaskedLM.from_pretrained(directory, trust_remote_code=False)
    state = (model.bfloat16() if form == "bfloat16" else model).state_dict()
    (directory / "model.safetensors").unlink()
    if form == "old":
        for new, old in (("Norm.weight", "Norm.gamma"), ("Norm.bias", "Norm.beta")):
            state = {name.replace(new, old): each for name, each in state.items()}
    parts = {"pytorch_model.bin": list(state)}
    if form == "shards":
        parts = {f"pytorch_model-{part}.bin": list(state)[part::2] for part in (0, 1)}
        held = {name: file for file, names in parts.items() for name in names}
        (directory / model_sources.PICKLED[1]).write_text(
            json.dumps({"metadata": {}, "weight_map": held})
        )
    for file, names in parts.items():
        content = {name: state[name] for name in names}
        torch.save(content, directory / file, _use_new_zipfile_serialization=form != "old")
    return directory


@pytest.mark.parametrize("form", ["whole", "shards", "bfloat16", "old"])
def test_pickled_weights(tmp_path: Path, form: str) -> None:
    """All states equal those of plain transformers on the pickles; the card follows the files."""
    directory = save_pickled(tmp_path / "model", form)
    source, card = {"path": str(directory)}, tmp_path / "m/attention/model.json"
    values = {"source": source, "files": sorted(directory.iterdir())}
    job.call(convert.main, values | {"converted": cards.converted_directory(card)})
    job.call(model_card.main, {"model": card, "source": source, "name": "m"})
    read, missing = weights.load(AutoModelForMaskedLM, models.directory_of(cards.read_card(card)))
    plain = AutoModelForMaskedLM.from_pretrained(
        directory, dtype=torch.float32, trust_remote_code=False
    )
    ids = torch.arange(5, 30)[None]
    states = [each.eval()(ids, output_hidden_states=True)[1] for each in (plain, read)]
    assert all(torch.equal(*pair) for pair in zip(*states, strict=True))
    assert (missing, cards.is_current(card, source)) == (set(), True)
    save_bert(directory)  # safetensors, which are read as they are
    assert (model_sources.must_convert(source), cards.is_current(card, source)) == (False, False)


def test_pickles_that_are_no_weights(tmp_path: Path) -> None:
    directory = save_pickled(tmp_path / "model", "shards")
    shard, source = directory / "pytorch_model-1.bin", {"path": str(directory)}
    shard.rename(tmp_path / shard.name)
    refused(lambda: convert.main(source, tmp_path / "1"), shard, "FileNotFoundError")
    torch.save({"model": {}}, shard)
    refused(lambda: convert.main(source, tmp_path / "2"), shard, "more than tensors")


@pytest.mark.parametrize("place", ["adapter", "base"])
def test_an_adapter_is_merged_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Next to its base, or in its directory: (6 / 2) B A is added to one weight."""
    base, directory = save_bert(tmp_path / "base"), tmp_path / place
    expected = load_file(base / "model.safetensors")
    directory.mkdir(exist_ok=True)
    about = {"peft_type": "LORA", "r": 2, "lora_alpha": 6, "target_modules": [QUERY]}
    about |= {"base_model_name_or_path": "../base" if place == "adapter" else "not read"}
    (directory / model_sources.ADAPTER).write_text(json.dumps(about))
    down, up = torch.randn(2, 32), torch.randn(32, 2)
    name = f"base_model.model.{QUERY}.lora_"
    parts = {f"{name}A.weight": down, f"{name}B.weight": up}
    save_file(parts, directory / model_sources.ADAPTER_WEIGHTS, metadata={"format": "pt"})
    source = {"path": str(directory)}
    found = model_sources.local_directories(source)
    assert {Path(each).resolve() for each in found} == {directory, base}
    refused(lambda: weights.read_config(directory), directory, "install peft")
    with monkeypatch.context() as patched:
        patched.setattr(convert, "find_spec", lambda module: None)
        refused(lambda: convert.main(source, tmp_path / "no"), directory, "install peft")
    pytest.importorskip("peft")
    convert.main(source, tmp_path / "out")
    expected[f"{QUERY}.weight"] += 3 * up @ down
    torch.testing.assert_close(load_file(tmp_path / "out/model.safetensors"), expected)
    models.describe(tmp_path / "out", "tiny", {"path": "out"})


def test_what_the_hub_has_to_convert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a `file` that the study names makes it known before anything is fetched."""
    theirs, here = save_pickled(tmp_path / "theirs", "whole"), tmp_path / "here"
    here.mkdir()

    def snapshot_download(hub: str, revision: str, allow_patterns: list[str]) -> Path:
        for path in {each for pattern in allow_patterns for each in theirs.glob(pattern)}:
            shutil.copy(path, here)
        return here

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    source = {"hub": "a/b", "revision": "0" * 40}
    refused(lambda: models.resolve(source), "a/b", "no safetensors; write file: pytorch_model.bin")
    named = source | {"file": model_sources.PICKLED[0]}
    assert [model_sources.must_convert(each) for each in (source, named)] == [False, True]
    convert.main(named, tmp_path / "out")
    models.describe(tmp_path / "out", "tiny", named)
