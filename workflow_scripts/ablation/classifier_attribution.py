"""What disabling each head would change, estimated by one backward pass instead of a sweep.

The first-order term of a text's loss in a head's output: the sum over tokens and dimensions of
(what the head would output instead minus its output) times the gradient. In mode zero its mean size
over texts is the importance of Michel et al. (2019, section 4.1).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import n_heads, n_layers, open_attention, watching
from workflow_scripts.core.model.classifiers import classifier_and_sampler
from workflow_scripts.core.model.interventions import (
    BACKWARD_TOKENS,
    Gates,
    HeadOutputs,
    Replacement,
    example_losses,
    replacement_of,
)
from workflow_scripts.core.run import job

# The loss of each text of a padded batch, given its inputs and the texts' numbers: [batch].
Losses = Callable[[dict[str, torch.Tensor], Sequence[int]], torch.Tensor]


def attributions(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    losses: Losses,
    replacements: Mapping[str, Replacement | None],
    batch_tokens: int,
) -> np.ndarray:
    """The attribution of every mode, layer, head and text, float64; above 0 the loss would grow."""
    shape = (n_layers(model), n_heads(model))
    values = np.empty((len(replacements), *shape, len(tokens)))
    open_attention(model).requires_grad_(False)
    batches = running.by_length([len(text) for text in tokens], batch_tokens)
    for batch in job.progress(batches, len(batches), "attributions"):
        inputs = running.pad([tokens[index] for index in batch], model)
        gates = torch.ones(len(batch), *shape, device=model.device, requires_grad=True)
        with running.OneDNN(), watching(model, Gates(gates), heads := HeadOutputs()):
            losses(inputs, batch).sum().backward()
        outputs = torch.stack([each.detach() for each in heads.outputs], 1)
        gradients = torch.stack([each.grad for each in heads.outputs], 1)
        for at, replacement in enumerate(replacements.values()):
            instead = 0 if replacement is None else replacement.outputs_for(batch, outputs.shape[3])
            change = ((instead - outputs) * gradients).sum((-1, -2), dtype=torch.float64)
            values[at][..., batch] = change.permute(1, 2, 0).cpu().numpy()
    return values


def attribution_table(values: np.ndarray, modes: Sequence[str], ids: Sequence[str]) -> pd.DataFrame:
    """One row per mode, layer, head and text (`id`), of what `attributions` gives."""
    _, layers, heads, _ = values.shape
    axes = {"mode": modes, "layer": range(layers), "head": range(heads), "id": ids}
    return tables.tidy(axes, attribution=values)


def main(
    card: Path,
    table: Path,
    attribution: job.Out,
    task: str,
    seed: int,
    sample_seed: int,
    modes: list[str],
    examples: int,
    reference: int,
    max_tokens: int,
    device: str = "auto",
) -> None:
    """Write a row per mode, head and development example; examples are those of ablation_sweep."""
    model, sampler = classifier_and_sampler(card, table, max_tokens, sample_seed, device)
    texts, _ = sampler.sample("train", reference)
    tokens, rows = sampler.sample("dev", examples)
    labels = torch.from_numpy(rows["label"].to_numpy().copy()).to(model.device)

    def losses_of(inputs: dict[str, torch.Tensor], batch: Sequence[int]) -> torch.Tensor:
        return example_losses(model(**inputs).logits, labels[batch])

    instead = {mode: replacement_of(mode, model, tokens, texts, sample_seed) for mode in modes}
    found = attributions(model, tokens, losses_of, instead, BACKWARD_TOKENS)
    frame = attribution_table(found, modes, rows["id"].tolist())
    tables.write(frame.assign(task=task, seed=seed), attribution)


if __name__ == "__main__":
    job.run(main, globals())
