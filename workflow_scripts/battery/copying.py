"""Copying by behaviour: does what a head outputs raise the logit of the token that it attends to?

Next to it the eigenvalue score of its OV circuit (Elhage et al. 2021), which is of weights alone.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.battery.head_roles import mean_measures, with_role
from workflow_scripts.battery.inputs import read_sequences
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Units
from workflow_scripts.core.model import attention, causal_engine, models, running
from workflow_scripts.core.model.head_maps import (
    Norm,
    Norms,
    find_norms,
    head_maps,
    linear_norm,
    recorded,
)
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT

BATCH = 4  # sequences in one forward pass
MEASURES = ("top", "logit", "below")


def second_copy_start(n_tokens: int) -> int:
    """Where the second copy begins in a first token and the same tokens twice."""
    return n_tokens // 2 + 1


@dataclass
class Attended(attention.Watcher):
    """Collects each layer's outputs, [batch, head, query, dim], and the most attended key.

    The queries are those of the second copy. The first token is no key: many heads rest on it, and
    it says nothing of the text.
    """

    outputs: list[torch.Tensor] = field(default_factory=list)
    keys: list[torch.Tensor] = field(default_factory=list)

    def start(self, model: torch.nn.Module) -> None:
        self.outputs, self.keys = [], []

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        second = second_copy_start(pattern.shape[-1])
        seen = pattern[:, :, second:, 1:].masked_fill(~real[:, None, second:, 1:], -1)
        self.keys.append(1 + seen.argmax(-1))
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.outputs.append(output[:, :, second_copy_start(output.shape[2]) :])
        return output


@dataclass(frozen=True)
class Circuit:
    """A decoder's linear parts: `into` and `out` of each head, with the norms' weights in them.

    `into` [layer, head, dim, hidden] reads the residual stream, `out` is what reaches the
    unembedding, `embedding` and `unembedding` are [token, hidden]. Only the norms' scales, one
    number for each token, are left out.
    """

    into: torch.Tensor
    out: torch.Tensor
    embedding: torch.Tensor
    unembedding: torch.Tensor
    norms: Norms
    linear: dict[str | int, Norm]


def circuit_of(model: PreTrainedModel) -> Circuit:
    """The linear parts of an opened causal model.

    Raises InputError for one without a norm between its last layer and the unembedding.
    """
    with torch.inference_mode():
        into, out = head_maps(model)
        norms = find_norms(model)
        if norms.final is None:
            raise InputError(
                f"{model.config.model_type}: no norm between the last layer and the unembedding, "
                "which the test of copying freezes; remove copying from battery.further_measures"
            )
        width = into.shape[-1]
        linear: dict[str | int, Norm] = {"final": linear_norm(norms.final, width, into)}
        read, added = [], []
        for layer, (before, after) in enumerate(zip(norms.before, norms.after, strict=True)):
            one = into[layer]
            read.append(one if before is None else linear_norm(before, width, into).transposed(one))
            if after is not None:
                linear[layer] = linear_norm(after, width, into)
            made = linear[layer].unscaled(out[layer]) if after is not None else out[layer]
            added.append(linear["final"].unscaled(made))
        embedding = model.get_input_embeddings().weight
        unembedding = model.get_output_embeddings().weight
    return Circuit(torch.stack(read), torch.stack(added), embedding, unembedding, norms, linear)


def eigenvalue_scores(circuit: Circuit) -> np.ndarray:
    """Sum of the eigenvalues of W_U W_OV W_E over the sum of their sizes, [layer, head].

    1 where every direction of the embedding is copied, -1 where the sign of each is turned. The
    matrix [token, token] has the eigenvalues of a [dim, dim] one, and zeros.
    """
    with torch.inference_mode():
        between = circuit.embedding.double().T @ circuit.unembedding.double()
        small = circuit.into.double() @ between @ circuit.out.double().transpose(-1, -2)
        values = torch.linalg.eigvals(small)
        return (values.sum(-1).real / values.abs().sum(-1)).cpu().numpy()


def copying(model: PreTrainedModel, circuit: Circuit, ids: np.ndarray) -> dict[str, np.ndarray]:
    """How a head's output ranks the attended token in each text of ids [text, token].

    A text is a first token and the same tokens twice, as in `repeated`. By measure, [text, layer,
    head], means over the queries of the second copy: in the first, a head that looks back at an
    earlier occurrence has nothing to look at. At each, the attended token is the key of the largest
    weight, the first token aside. The logits are those of the head's output alone, with the scales
    of the norms after it as in the forward pass; other tokens are the text's, each once, but for
    the first. `logit` is the attended token's minus the mean of the others, `below` the share of
    the others with a smaller logit, `top` whether all are.
    """
    second = second_copy_start(ids.shape[1])
    watcher, found = Attended(), []
    named = {"final": circuit.norms.final}
    named |= {layer: circuit.norms.after[layer] for layer in circuit.linear if layer != "final"}
    for start in job.progress(range(0, len(ids), BATCH), desc="copying"):
        batch = torch.from_numpy(ids[start : start + BATCH].copy()).to(model.device)
        with (
            torch.inference_mode(),
            running.OneDNN(),
            attention.watching(model, watcher),
            recorded(named) as kept,
        ):
            model(batch, use_cache=False, logits_to_keep=1)
            scales = {key: circuit.linear[key].scale(*kept[key])[:, second:] for key in named}
            for row, tokens in enumerate(batch):
                of_layers = zip(watcher.keys, watcher.outputs, strict=True)
                ranked = [
                    _ranked(tokens, keys[row], output[row], circuit, layer, scales, row)
                    for layer, (keys, output) in enumerate(of_layers)
                ]
                found.append(torch.stack(ranked, 1).double().cpu().numpy())
    return dict(zip(MEASURES, np.stack(found, 1), strict=True))


def _ranked(
    tokens: torch.Tensor,
    keys: torch.Tensor,
    output: torch.Tensor,
    circuit: Circuit,
    layer: int,
    scales: dict[str | int, torch.Tensor],
    row: int,
) -> torch.Tensor:
    """MEASURES of a layer and text, [measure, head]; `keys` [head, query], `output` with dim."""
    vocabulary, places = tokens[1:].unique(return_inverse=True)
    to_logits = circuit.out[layer] @ circuit.unembedding[vocabulary].T  # [head, dim, token]
    scale = scales["final"][row] * (scales[layer][row] if layer in scales else 1)
    logits = (output @ to_logits) * scale[None, :, None]
    own = logits.gather(-1, places[keys - 1].unsqueeze(-1))
    n_others = len(vocabulary) - 1
    below = (logits < own).sum(-1)
    others = (logits.sum(-1) - own[..., 0]) / n_others
    top = (below == n_others).to(logits)
    measures = top, own[..., 0] - others, below.to(logits) / n_others
    return torch.stack([value.mean(-1) for value in measures])


def scores(
    found: dict[str, np.ndarray], threshold: float, bootstrap: int, seed: int
) -> pd.DataFrame:
    """One row per head: each measure's mean over texts, with 95% intervals over them.

    p and p_corrected are those of `logit` over texts. A head `has_role` where p_corrected is below
    LEVEL, `logit` above 0 and `top` above `threshold`.
    """
    frame = mean_measures(found, "role", "copying", bootstrap, seed, INDEPENDENT)
    above = (frame["logit"] > 0) & (frame["top"] > threshold)
    return with_role(frame, found["logit"], above)


def main(
    model: Path,
    sequences: Path,
    copying_scores: job.Out,
    table: job.Out,
    threshold: float,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write each head's copying by behaviour and its eigenvalue score."""
    language_model = causal_engine.load_causal(
        models.directory_of(read_card(model)), running.pick_device(device)
    )
    ids = read_sequences(sequences)
    circuit = circuit_of(language_model)
    found = copying(language_model, circuit, ids)
    frame = scores(found, threshold, bootstrap, seed)
    frame["eigenvalue"] = eigenvalue_scores(circuit).ravel()
    frame["chance"] = 1 / (ids.shape[1] // 2)
    tables.write(frame, copying_scores)
    shown = frame.assign(head=head_labels(frame)).drop(columns=["role", "layer"])
    tables.write_csv(shown.sort_values("top", ascending=False, kind="stable"), table)


def units(model: Path, sequences: Path, device: str = "auto") -> Units:
    """The behaviour in each sequence, [sequence, layer, head], for comparisons of models."""
    directory = models.directory_of(read_card(model))
    language_model = causal_engine.load_causal(directory, running.pick_device(device))
    found = copying(language_model, circuit_of(language_model), read_sequences(sequences))
    return {"top": (found["top"], np.ones(len(found["top"]), int))}


if __name__ == "__main__":
    job.run(main, globals())
