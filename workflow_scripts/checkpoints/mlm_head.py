"""The masked-LM head that Figure 3 of Clark et al. 2019 needs.

A checkpoint's own head is used unchanged. Where there is none, a head is fitted on the frozen body,
its decoder tied to the word embeddings; the table of losses states which (`head`: own or fitted)
and how good it is.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from torch.nn import functional
from torch.optim.lr_scheduler import OneCycleLR
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import mlm, models, running
from workflow_scripts.core.model.training import Recipe, ShuffledIndices, train
from workflow_scripts.core.run import job

BATCH = 256  # masked positions
BATCH_TOKENS = 4096


def masked_states(
    model: PreTrainedModel, tokens: Sequence[Tokens], mask_id: int, maskings: int, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The body's last hidden states at masked positions [n, hidden], and the true ids [n].

    Each example is masked `maskings` times, from a random stream of its own.
    """
    states, labels = [], []
    for round_ in range(maskings):
        batches = running.by_length([len(example) for example in tokens], BATCH_TOKENS)
        for batch in job.progress(batches, desc=f"hidden states, masking {round_ + 1}"):
            rngs = [np.random.default_rng([seed, round_, index]) for index in batch]
            masked = [
                mlm.mask_example(tokens[index], mask_id, model.config.vocab_size, rng)
                for index, rng in zip(batch, rngs, strict=True)
            ]
            inputs = running.pad([example for example, _ in masked], model)
            with torch.inference_mode(), running.OneDNN():
                hidden = model.base_model(**inputs).last_hidden_state
            for row, (_, true_ids) in enumerate(masked):
                positions = np.flatnonzero(true_ids != mlm.IGNORED)
                states.append(hidden[row, torch.from_numpy(positions)].cpu())
                labels.append(torch.from_numpy(true_ids[positions]))
    return torch.cat(states), torch.cat(labels)


def fit(model: PreTrainedModel, states: torch.Tensor, labels: torch.Tensor, recipe: Recipe) -> None:
    """Train the head, and only it, on the body's hidden states [n, hidden] and labels [n]."""
    parameters = list(mlm.head_parameters(model).values())
    device = parameters[0].device

    def loss_of(indices: torch.Tensor) -> torch.Tensor:
        with running.OneDNN():
            return head_loss(model, states[indices].to(device), labels[indices].to(device)).mean()

    batches = ShuffledIndices(len(labels), recipe.batch_size, recipe.seed)
    optimizer = torch.optim.AdamW(parameters, lr=recipe.learning_rate, weight_decay=0.01)
    schedule = OneCycleLR(optimizer, recipe.learning_rate, total_steps=recipe.epochs * len(batches))
    train(model, batches, loss_of, recipe.epochs, schedule, desc="masked-LM head, epochs")


def head_loss(model: PreTrainedModel, states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross entropy in nats of each hidden state [n, hidden] against its label [n]."""
    hidden = BaseModelOutput(last_hidden_state=states[None])
    with running.replaced(model.base_model, lambda *_, **__: hidden):
        logits = model(inputs_embeds=states[None]).logits[0]
    return functional.cross_entropy(logits, labels, reduction="none")


def unigrams(labels: torch.Tensor, vocabulary: int) -> torch.Tensor:
    """Log probabilities [vocabulary] of the labels' frequencies, with add-one smoothing."""
    counts = torch.bincount(labels, minlength=vocabulary) + 1.0
    return (counts / counts.sum()).log()


def evaluate(model: PreTrainedModel, states: torch.Tensor, labels: torch.Tensor) -> float:
    """Mean loss in nats over masked positions."""
    device = model.device
    with torch.inference_mode(), running.OneDNN():
        parts = [
            head_loss(model, state.to(device), label.to(device))
            for state, label in zip(states.split(BATCH), labels.split(BATCH), strict=True)
        ]
    return float(torch.cat(parts).mean())


def main(
    model: Path,
    training: Path,
    head: job.Out,
    losses: job.Out,
    max_tokens: int,
    n_segments: int,
    maskings: int,
    epochs: int,
    learning_rate: float,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the head of the model of card `model` and its loss on held-out training segments."""
    card = read_card(model)
    if card["special"]["mask"] is None:
        raise InputError(f"{card['name']}: its tokenizer has no mask; remove surface.gradients")
    directory = models.directory_of(card)
    torch.manual_seed(seed)
    masked_lm, has_head = mlm.load_masked_lm(directory, running.pick_device(device))
    masked_lm.requires_grad_(False)
    for parameter in mlm.head_parameters(masked_lm).values():
        parameter.requires_grad_(True)
    examples = read_examples(training)
    if len(examples) < 2:
        raise InputError(
            f"{training}: {len(examples)} training segments; raise training_share of the corpus, "
            "or use a longer text"
        )
    spaced = examples[:: max(1, len(examples) // n_segments)][:n_segments]
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(spaced, tokenizer, max_tokens, card["max_positions"])
    held_out = max(1, len(tokens) // 10)
    mask_id = card["special"]["mask"]
    states, labels = masked_states(masked_lm, tokens[held_out:], mask_id, maskings, seed)
    dev_states, dev_labels = masked_states(masked_lm, tokens[:held_out], mask_id, 1, seed + 1)
    frequencies = unigrams(labels, masked_lm.config.vocab_size)
    if not has_head:
        with torch.no_grad():
            masked_lm.get_output_embeddings().bias.copy_(frequencies)
        recipe = Recipe(seed=seed, epochs=epochs, batch_size=BATCH, learning_rate=learning_rate)
        fit(masked_lm, states, labels, recipe)
    row: dict[str, Any] = {
        "head": "own" if has_head else "fitted",
        "loss": evaluate(masked_lm, dev_states, dev_labels),
        "unigram_loss": float(-frequencies[dev_labels].mean()),
        "n_train": len(labels),
        "n_held_out": len(dev_labels),
    }
    save_file(mlm.head_state(masked_lm), head, metadata={"head": row["head"]})
    tables.write_csv(pd.DataFrame([row]), losses)


if __name__ == "__main__":
    job.run(main, globals())
