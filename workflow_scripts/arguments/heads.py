"""Logits of a trained scorer on ARCT with every head disabled, one at a time."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import transformers

from workflow_scripts.arguments.bert import to_tokens
from workflow_scripts.arguments.reliance import sides
from workflow_scripts.arguments.setups import inputs_of
from workflow_scripts.core import ablating, devices, job, models, tables
from workflow_scripts.core.arct import points_of, read_arct, splits_of
from workflow_scripts.core.attention import n_heads, n_layers
from workflow_scripts.core.cards import read_card
from workflow_scripts.core.job import Out
from workflow_scripts.core.sampling import sample
from workflow_scripts.core.scorers import Scorer, load_scorer
from workflow_scripts.core.tokens import Tokens

log = logging.getLogger(__name__)


def sweep(
    scorer: Scorer, tokens: Sequence[Tokens], mode: str, pass_tokens: int, precision: str
) -> pd.DataFrame:
    """One row per variant and point: layer, head, point, logit_0, logit_1.

    `tokens` has both warrants of a point after one another. Layer and head are -1 for the plain
    model.
    """
    size = n_layers(scorer), n_heads(scorer)
    disabled = np.concatenate([np.zeros((1, *size), bool), ablating.one_head(*size)])
    found = ablating.ablate(scorer, tokens, disabled, mode, None, pass_tokens, precision)
    logits = found[:, :, 0].reshape(len(disabled), -1, 2)
    axes = {"variant": range(len(disabled)), "point": range(logits.shape[1])}
    frame = tables.tidy(axes, logit_0=logits[..., 0], logit_1=logits[..., 1])
    cells = [(-1, -1), *((layer, head) for layer in range(size[0]) for head in range(size[1]))]
    about = pd.DataFrame(cells, columns=["layer", "head"])
    return about.loc[frame.pop("variant")].reset_index(drop=True).join(frame)


def main(
    model: Path,
    table: Path,
    weights: list[Path],
    heads: Out,
    setups: list[str],
    cue: str,
    same: Mapping[str, str],
    mode: str,
    points: int,
    max_tokens: int,
    pass_tokens: int,
    seed: int,
    precision: str = "float32",
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write the logits on held-out original points, for every seed and kept set-up.

    At most `points` of each split (0: all), drawn by `seed`; `side` is the warrant that alone
    has the cue, -1 where none does.
    """
    transformers.utils.logging.set_verbosity_error()  # that a pooler goes unused is known
    card, frame, found = read_card(model), read_arct(table), []
    tokenizer = models.load_tokenizer(models.directory_of(card))
    parts = []
    for split in splits_of(frame)[1:]:
        rows = points_of(frame, split, ("original",))
        parts.append(rows.loc[list(sample(range(len(rows)), points, seed))])
    chosen = pd.concat(parts, ignore_index=True)
    chosen["side"] = sides(chosen, tuple(cue.lower().split()), same)
    for folder in weights:
        for setup in setups:
            log.info("%s, %s: %d points", folder.name, setup, len(chosen))
            scorer = load_scorer(folder / setup, devices.pick(device))
            tokens = [
                to_tokens(texts, tokenizer, max_tokens, card["max_positions"])
                for texts in inputs_of(chosen, setup)
            ]
            its = sweep(scorer, tokens, mode, pass_tokens, precision)
            about = chosen.loc[its.pop("point"), ["split", "id", "label", "side"]]
            named = {"setup": setup, "seed": int(folder.name.rpartition(".")[2])}
            found.append(its.join(about.reset_index(drop=True)).assign(**named))
    tables.write(pd.concat(found, ignore_index=True), heads)


if __name__ == "__main__":
    job.run(main, globals())
