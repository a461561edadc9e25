"""Tiny random BERTs in the files and with the names of weights that BERT has on the hub."""

import copy
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers.implementations import BertWordPieceTokenizer
from transformers import BertForPreTraining

from tests.core.tiny_models import ARCHITECTURES, VOCABULARY, enlarge

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# The hub's weights have the norms' names of BERT's first release.
FIRST_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
POSITIONS = 512


def write(folder: Path, n_layers: int = 2, n_heads: int = 2, cased: bool = False) -> None:
    """Write config, tokenizer and weights, with both heads of BERT's pretraining."""
    capitals = [*CAPITALS, *(f"##{letter}" for letter in CAPITALS)] if cased else []
    words = list(dict.fromkeys([*VOCABULARY, *"0123456789", *capitals]))
    config = copy.deepcopy(ARCHITECTURES["bert"])
    config.num_hidden_layers, config.num_attention_heads = n_layers, n_heads
    config.vocab_size, config.max_position_embeddings = len(words), POSITIONS
    config.architectures = ["BertForMaskedLM"]
    (folder / "config.json").write_text(json.dumps(config.to_diff_dict()), encoding="utf-8")
    _write_tokenizer(folder, words, cased)
    torch.manual_seed(n_layers)
    model = enlarge(BertForPreTraining(config))
    tied = "cls.predictions.decoder."
    state = {
        _first_name(name): weight.contiguous()
        for name, weight in model.state_dict().items()
        if not name.startswith(tied) and "position_ids" not in name
    }
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def _first_name(name: str) -> str:
    for new, old in FIRST_NAMES.items():
        name = name.replace(new, old)
    return name


def _write_tokenizer(folder: Path, words: list[str], cased: bool) -> None:
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    numbers = {word: number for number, word in enumerate(words)}
    BertWordPieceTokenizer(numbers, lowercase=not cased).save(str(folder / "tokenizer.json"))
    about = {"do_lower_case": not cased, "model_max_length": POSITIONS}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
