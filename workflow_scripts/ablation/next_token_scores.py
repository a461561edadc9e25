"""What disabling does to a decoder's loss on running text, with intervals and corrected tests."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import effects as stats_effects


def score(frame: pd.DataFrame, bootstrap: int, permutations: int, seed: int) -> pd.DataFrame:
    """One row per variant: nats per token, the plain model's (baseline), effect (their difference).

    ci_low and ci_high are the effect's 95% interval over documents, p that of the paired test that
    swaps documents, p_corrected for all variants of the unit and mode. n counts segments.
    """
    plain = frame[frame["unit"] == "none"]
    n_tokens, documents = plain["n_tokens"].to_numpy(), plain["document"].tolist()
    frames = []
    for (unit, mode), rows in frame[frame["unit"] != "none"].groupby(["unit", "mode"], sort=False):
        cells = rows[["layer", "head"]].drop_duplicates().reset_index(drop=True)
        ablated = rows["nats"].to_numpy().reshape(len(cells), -1)
        nats = np.concatenate([plain["nats"].to_numpy()[None], ablated])
        sums = stats_effects.by_document(nats, n_tokens, documents)
        losses = sums[..., 0].sum(axis=1) / n_tokens.sum()
        low, high = stats_effects.nats_ends(sums[1:], sums[0, :, 0], bootstrap, seed)
        test = stats_effects.tested_nats(sums[0], sums[1:], permutations, seed)
        columns = {"nats": losses[1:], "baseline": losses[0], "effect": losses[1:] - losses[0]}
        columns |= {"ci_low": low, "ci_high": high} | test.columns
        frames.append(cells.assign(unit=unit, mode=mode, **columns))
    counts = {"n": len(plain), "n_documents": len(set(documents)), "n_tokens": n_tokens.sum()}
    return pd.concat(frames, ignore_index=True).assign(**counts)


def main(losses: Path, scores: job.Out, bootstrap: int, permutations: int, seed: int) -> None:
    """Write a row per variant."""
    frame = tables.read(losses)
    tables.write(score(frame, bootstrap, permutations, seed), scores)


if __name__ == "__main__":
    job.run(main, globals())
