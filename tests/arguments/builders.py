"""ARCT written by the study's own grammar, prepared, and a tiny BERT that can read it."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import AutoModel, BertConfig

from tests.core import tiny_models
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import ARCT_TEXTS
from workflow_scripts.core.data.vectors import Vectors
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import generate_arct, prepare_arct


def made_up_arct(folder: Path, train: int, held_out: int) -> pd.DataFrame:
    """The prepared table of generated points, with a cue of productivity 0.9 and coverage 0.8."""
    numbers = {"train": train, "dev": held_out, "test": held_out}
    numbers |= {"productivity": 0.9, "coverage": 0.8}
    generated = folder / "generated"
    call(generate_arct.main, {"generated": generated, "numbers": numbers})
    out = {"table": folder / "arct.parquet", "counts": folder / "arct.csv"}
    call(prepare_arct.main, out | {"source": {}, "adversarial": "built", "directory": generated})
    return tables.read(out["table"])


def made_up_vectors(frame: pd.DataFrame, dimension: int = 24) -> Vectors:
    """Random vectors for all words but the rarest."""
    words = sorted(
        {word for column in ARCT_TEXTS for text in frame[column] for word in text.lower().split()}
    )
    matrix = np.random.default_rng(0).normal(size=(len(words), dimension)).astype(np.float32)
    return Vectors({word: row for row, word in enumerate(words)}, matrix)


def bert_card(folder: Path) -> Path:
    """The card of a tiny BERT with its own small weights, which trains well from nothing."""
    torch.manual_seed(0)
    config = BertConfig(
        num_hidden_layers=2,
        num_attention_heads=4,
        hidden_size=32,
        intermediate_size=64,
        vocab_size=len(tiny_models.VOCABULARY),
        max_position_embeddings=128,
        initializer_range=0.1,
    )
    AutoModel.from_config(config, trust_remote_code=False).save_pretrained(folder / "model")
    tiny_models.tokenizer().save_pretrained(folder / "model")
    return tiny_models.write_card(folder, folder / "model")
