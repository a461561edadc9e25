"""Attention of a body whose embeddings are pretrained and whose other weights are random."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, PreTrainedModel

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.extraction import extract, meta_of
from workflow_scripts.core.run import job


def randomise(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """A body with the embeddings of `model`; all other weights are those of a new model."""
    torch.manual_seed(seed)
    twin = AutoModel.from_config(model.config, trust_remote_code=False)
    twin.embeddings.load_state_dict(model.embeddings.state_dict())
    return twin.to(model.device).eval()


def random_card(card: dict[str, Any], seed: int) -> dict[str, Any]:
    """The card of the random body of a model: its own weights, so that no cache is the other's."""
    weights = f"random {seed}, embeddings of {card['weights']}"
    return card | {"name": f"{card['name']}, random", "weights": weights}


def main(
    model: Path,
    corpus: Path,
    attention_cache: job.Out,
    max_tokens: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    precision: str = "float32",
    seed: int = 1,
) -> None:
    """Write the random body's attention on `corpus`."""
    card = read_card(model)
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(read_examples(corpus), tokenizer, max_tokens, card["max_positions"])
    body = randomise(models.load_body(directory, running.pick_device(device)), seed)
    attention.open_attention(body)
    meta = meta_of(random_card(card, seed), corpus, precision)
    extract(body, tokens, attention_cache, meta, batch_tokens, precision)


if __name__ == "__main__":
    job.run(main, globals())
