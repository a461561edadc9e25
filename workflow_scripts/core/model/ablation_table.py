"""Logits with every head, layer, or all heads but one disabled, as a table."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import ablation_engine
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.cls_scorer import Scorer

UNITS = {
    "head": ablation_engine.one_head,
    "layer": ablation_engine.one_layer,
    "all-but-one": ablation_engine.all_but_one,
}


def sweep(
    model: PreTrainedModel | Scorer,
    tokens: Sequence[Tokens],
    units: Mapping[str, Sequence[str]],
    means: torch.Tensor | None,
    pass_tokens: int,
    precision: str,
) -> pd.DataFrame:
    """One row per variant and example: unit, mode, layer, head, example, logit_0, logit_1 ...

    `units` names the modes of each of UNITS. `head` is -1 for a whole layer, and the head that is
    left for all-but-one. The plain model has unit and mode `none`, layer and head -1.
    """
    size = n_layers(model), n_heads(model)
    names, variants = [("none", "none", -1, -1)], [np.zeros((1, *size), bool)]
    for unit, its_modes in units.items():
        disabled = UNITS[unit](*size)
        cells = [(k, -1) if unit == "layer" else divmod(k, size[1]) for k in range(len(disabled))]
        for mode in its_modes:
            names += [(unit, mode, *cell) for cell in cells]
            variants.append(disabled)
    about = pd.DataFrame(names, columns=["unit", "mode", "layer", "head"])
    sets = np.concatenate(variants)
    modes = about["mode"].replace("none", about["mode"][1])  # the plain model runs with the first
    logits = np.empty((len(sets), len(tokens), model.config.num_labels), np.float32)
    for mode in modes.unique():
        chosen = (modes == mode).to_numpy()
        given = means if mode == "mean" else None
        found = ablation_engine.ablate(
            model, tokens, sets[chosen], mode, given, pass_tokens, precision
        )
        logits[chosen] = found
    axes = {"variant": range(len(sets)), "example": range(len(tokens))}
    columns = {f"logit_{k}": logits[..., k] for k in range(logits.shape[2])}
    frame = tables.tidy(axes, **columns)
    return about.loc[frame.pop("variant")].reset_index(drop=True).join(frame)
