"""Logits with every head, layer, or all heads but one disabled, as a table."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import ablation_engine
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.cls_scorer import Scorer
from workflow_scripts.core.model.replacements import replacement_of

UNITS = {
    "head": ablation_engine.one_head,
    "layer": ablation_engine.one_layer,
    "all-but-one": ablation_engine.all_but_one,
}


def variants_of(
    units: Mapping[str, Sequence[str]], layers: int, heads: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """The variants of a sweep, named (unit, mode, layer, head), and their disabled heads.

    The latter are bool [variant, layer, head]. The first variant is the plain model.
    """
    names, masks = [("none", "none", -1, -1)], [np.zeros((1, layers, heads), bool)]
    for unit, modes in units.items():
        unit_masks = UNITS[unit](layers, heads)
        indices = range(len(unit_masks))
        cells = [(index, -1) if unit == "layer" else divmod(index, heads) for index in indices]
        for mode in modes:
            names += [(unit, mode, *cell) for cell in cells]
            masks.append(unit_masks)
    return pd.DataFrame(names, columns=["unit", "mode", "layer", "head"]), np.concatenate(masks)


def sweep(
    model: PreTrainedModel | Scorer,
    tokens: Sequence[Tokens],
    units: Mapping[str, Sequence[str]],
    reference: Sequence[Tokens] = (),
    *,
    pass_tokens: int,
    precision: str,
    seed: int = 0,
) -> pd.DataFrame:
    """One row per variant and example: unit, mode, layer, head, example, logit_0, logit_1 ...

    `units` has a list of modes for each of UNITS; in those of `replacements.FROM_TEXTS` heads
    output what comes from the `reference` texts, sampled by `seed`. `head` is -1 for a whole layer,
    and the head that is left for all-but-one. The plain model has unit and mode `none`, layer and
    head -1.
    """
    variants, disabled = variants_of(units, n_layers(model), n_heads(model))
    run_as = variants["mode"].replace("none", variants["mode"][1])  # the plain model, too
    logits = np.empty((len(disabled), len(tokens), model.config.num_labels), np.float32)
    for mode in run_as.unique() if len(tokens) else ():
        chosen = (run_as == mode).to_numpy()
        logits[chosen] = ablation_engine.ablate(
            model,
            tokens,
            disabled[chosen],
            mode,
            replacement_of(mode, model, tokens, reference, seed),
            pass_tokens=pass_tokens,
            precision=precision,
        )
    axes = {"variant": range(len(disabled)), "example": range(len(tokens))}
    columns = {f"logit_{label}": logits[..., label] for label in range(logits.shape[2])}
    frame = tables.tidy(axes, **columns)
    return variants.loc[frame.pop("variant")].reset_index(drop=True).join(frame)
