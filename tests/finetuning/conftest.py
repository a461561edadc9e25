"""Caches and tables that several tests of fine-tuning read."""

from pathlib import Path

import pandas as pd
import pytest
import torch

from tests.attention.builders import write_cache
from tests.core.tiny_models import enlarge, write_card
from tests.finetuning.builders import annotated, measured
from workflow_scripts.core.data.annotations import write_records
from workflow_scripts.core.model.models import load_body, load_tokenizer


@pytest.fixture(scope="package")
def study(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Caches of one corpus by two different models, with cards and annotation."""
    folder = tmp_path_factory.mktemp("finetuning")
    examples, trees = annotated()
    paths = {"examples": folder / "e.jsonl", "annotation": folder / "a.jsonl"}
    write_records(paths["examples"], examples)
    write_records(paths["annotation"], trees)
    tuned = folder / "tuned"
    torch.manual_seed(9)
    body = load_body(tiny_model_dir, torch.device("cpu"))
    with torch.no_grad():
        for parameter in body.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter) * parameter.std())
    enlarge(body).save_pretrained(tuned)
    load_tokenizer(tiny_model_dir).save_pretrained(tuned)
    paths["checkpoint"] = tuned
    paths["model"] = write_card(folder / "body", tiny_model_dir)
    paths["card"] = write_card(folder / "tuned-card", tuned)
    for name, card in (("body", "model"), ("tuned", "card")):
        paths[name] = folder / f"{name}.h5"
        write_cache(paths[name], paths[card], paths["examples"])
    return paths


@pytest.fixture(scope="package")
def frames(
    study: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pd.DataFrame]:
    return measured(study, tmp_path_factory.mktemp("measured"))
