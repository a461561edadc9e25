"""Similarity of padded maps, against a plain loop over the model's own attention."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.models import directory_of, load_tokenizer
from workflow_scripts.finetuning import figures, padded_similarity

LENGTH = 40


def padded(study: dict[str, Path], out: Path, length: int = LENGTH) -> pd.DataFrame:
    inputs = {name: study[name] for name in ("model", "card", "examples")}
    sizes = {"length": length, "max_tokens": 64, "batch_tokens": 2 * length, "bootstrap": 100}
    padded_similarity.main(**inputs, similarity=out, task="mrpc", seed=1, **sizes, device="cpu")
    return tables.read(out)


def plain_maps(card: Path, examples: Path) -> list[np.ndarray]:
    """[layer, head, L, L] of each example, padded by the tokenizer, from eager attention."""
    directory = directory_of(read_card(card))
    model = AutoModel.from_pretrained(
        directory, attn_implementation="eager", trust_remote_code=False
    ).eval()
    tokenizer = load_tokenizer(directory)
    maps = []
    for example in read_examples(examples):
        options = {"return_tensors": "pt", "return_token_type_ids": True}
        batch = tokenizer(*example.texts, padding="max_length", max_length=LENGTH, **options)
        with torch.no_grad():
            attentions = model(**batch, output_attentions=True).attentions
        maps.append(np.stack([layer[0].double().numpy() for layer in attentions]))
    return maps


def test_against_a_loop_over_whole_padded_maps(study: dict[str, Path], tmp_path: Path) -> None:
    actual = padded(study, tmp_path / "p").set_index(["layer", "head"])["similarity"]
    stages = [plain_maps(study[card], study["examples"]) for card in ("model", "card")]
    assert stages[0][0].shape[-2:] == (LENGTH, LENGTH)
    for layer, head in ((0, 0), (1, 3), (2, 2)):
        slow = []
        for before, after in zip(*stages, strict=True):
            a, b = before[layer, head].ravel(), after[layer, head].ravel()
            slow.append(sum(a * b) / (sum(a * a) ** 0.5 * sum(b * b) ** 0.5))
        assert actual[layer, head] == pytest.approx(np.mean(slow), abs=1e-5)


def test_a_length_that_does_not_fit(study: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"padded_to is 8, but .* has an input of \d+ tokens"):
        padded(study, tmp_path / "p", 8)


def test_figure_5_has_a_second_row_where_it_is_asked_for(
    study: dict[str, Path], frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    padded(study, tmp_path / "p")
    tables.write(frames["similarity"], tmp_path / "s")
    heights = []
    for rows in ([], [tmp_path / "p"]):
        out = {kind: tmp_path / f"{len(rows)}.{kind}" for kind in ("svg", "pdf", "png")}
        figures.kovaleva2019_fig5([tmp_path / "s"], rows, **out)
        text = out["svg"].read_text()
        assert ("Padded" in text) == bool(rows)
        heights.append(len(text))
    assert heights[0] < heights[1]
