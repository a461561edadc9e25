"""The masked-LM head: the checkpoint's own, or one fitted on the frozen body."""

from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoModelForMaskedLM
from transformers.modeling_outputs import BaseModelOutput

from tests.core.tiny_models import ARCHITECTURES, WITH_CLS, save_bert, write_card
from workflow_scripts.checkpoints import mlm_head
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import mlm, running

CPU = torch.device("cpu")


def run(folder: Path, directory: Path, n: int = 12, **options: object) -> dict:
    write_card(folder, directory)
    texts = [("the river flows through the old city .", "a king built many stone hills .")] * n
    write_records(
        folder / "training.jsonl",
        [Example(str(k), "d", "f:1", pair) for k, pair in enumerate(texts)],
    )
    settings = {"max_tokens": 40, "n_segments": n, "maskings": 4, "epochs": 60}
    settings |= {"learning_rate": 0.01, "device": "cpu"} | options
    outputs = {"head": folder / "head", "losses": folder / "losses"}
    paths = {"model": folder / "model.json", "training": folder / "training.jsonl"}
    mlm_head.main(**paths, **outputs, **settings)
    return pd.read_csv(folder / "losses").iloc[0].to_dict()


def test_a_fitted_head_beats_word_frequencies(tiny_model_dir: Path, tmp_path: Path) -> None:
    row = run(tmp_path, tiny_model_dir)
    assert row["head"] == "fitted"
    assert row["loss"] < row["unigram_loss"]
    assert mlm.head_kind(tmp_path / "head") == "fitted"
    with safe_open(tmp_path / "head", framework="pt") as file:
        assert not [name for name in file.keys() if "embeddings" in name]  # noqa: SIM118


def test_a_checkpoint_written_as_berts_are_has_its_own_head(tmp_path: Path) -> None:
    """BERT-base on the hub: gamma and beta, no tied decoder, and a next-sentence head."""
    directory = save_bert(tmp_path / "hub", mlm=True)
    own = load_file(directory / "model.safetensors")
    width = own["bert.embeddings.word_embeddings.weight"].shape[1]
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in own.items()
        if "decoder" not in name
    }
    renamed |= {"cls.seq_relationship.weight": torch.zeros(2, width)}
    save_file(renamed, directory / "model.safetensors", metadata={"format": "pt"})
    assert "cls.predictions.transform.LayerNorm.gamma" in renamed
    assert run(tmp_path, directory)["head"] == "own"
    stored, name = load_file(tmp_path / "head"), "cls.predictions.transform.LayerNorm.weight"
    assert torch.equal(stored[name], own[name])


def test_the_body_stays_frozen_and_the_head_returns(tiny_model_dir: Path, tmp_path: Path) -> None:
    run(tmp_path, tiny_model_dir)
    plain, has_head = mlm.load_masked_lm(tiny_model_dir, CPU)
    fitted, _ = mlm.load_masked_lm(tiny_model_dir, CPU, tmp_path / "head")
    assert not has_head
    for (name, a), b in zip(
        plain.base_model.named_parameters(), fitted.base_model.parameters(), strict=True
    ):
        assert torch.equal(a, b), name
    changed = [
        not torch.equal(a, b)
        for a, b in zip(
            mlm.head_parameters(plain).values(),
            mlm.head_parameters(fitted).values(),
            strict=True,
        )
    ]
    assert all(changed)


@pytest.mark.parametrize("name", WITH_CLS)
def test_the_head_alone_equals_the_whole_model(name: str) -> None:
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_config(ARCHITECTURES[name], trust_remote_code=False).eval()
    ids = torch.tensor([[2, 8, 9, 10, 3]])
    with torch.no_grad():
        expected = model(input_ids=ids).logits
        hidden = model.base_model(input_ids=ids).last_hidden_state
        body = BaseModelOutput(last_hidden_state=hidden)
        with running.replaced(model.base_model, lambda *_, **__: body):
            logits = model(inputs_embeds=hidden).logits
        again = model(input_ids=ids).logits
    torch.testing.assert_close(logits, expected)
    assert torch.equal(again, expected)


def test_too_little_training_text(tiny_model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="training segments; raise training_share"):
        run(tmp_path, tiny_model_dir, n=1)
