"""Tables of pruning curves made by hand, as the chapter translation writes them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables

HEADS = {"all": 36, "encoder": 12, "encoder-decoder": 12, "decoder": 12}
STEPS = 11
# The share of heads by which half of the score is lost.
HALF = {"all": 0.5, "encoder": 0.7, "encoder-decoder": 0.3, "decoder": 0.8}
BETTER = {"importance": 0.1, "score": 0.12, "random": 0.0}


def rows(run: str, strategy: str, scope: str, draw: int = 0, metric: str = "bleu") -> pd.DataFrame:
    """A curve that falls (a loss rises) around the share HALF."""
    heads, share = HEADS[scope], np.linspace(0, 1, STEPS)
    middle = HALF[scope] + BETTER[strategy] - 0.02 * draw
    left = 1 / (1 + np.exp(12 * (share - middle)))
    left /= left[0]
    score = 90 * left if metric == "bleu" else 0.3 + 3 * (1 - left)
    frame = pd.DataFrame({"step": range(STEPS), "pruned": np.round(share * heads).astype(int)})
    frame["share"] = frame["pruned"] / heads
    frame = frame.assign(score=score, ci_low=score * 0.97, ci_high=score * 1.03, heads=heads)
    kept = left if metric == "bleu" else np.nan
    frame = frame.assign(kept=kept, kept_low=0.9 * kept, kept_high=1.1 * kept, capped=0)
    frame = frame.assign(baseline=score[0])
    about = {"strategy": strategy, "scope": scope, "draw": draw, "metric": metric, "run": run}
    return frame.assign(**about, n=200, signature="made up")


def write_curves(path: Path, run: str, strategies: Sequence[str]) -> Path:
    """The curves of one run, three draws of random orders."""
    frames = [
        rows(run, strategy, scope, draw, metric)
        for strategy in strategies
        for scope in HEADS
        for draw in range(3 if strategy == "random" else 1)
        for metric in ("bleu", "loss")
    ]
    tables.write(pd.concat(frames, ignore_index=True), path)
    return path


def write_epochs(folder: Path, run: str, epochs: Sequence[int]) -> tuple[Path, Path]:
    """The curves after `epochs` of one run, the first without a score, and their importance."""
    lines, importance = [], []
    for number, epoch in enumerate(epochs):
        frame = rows(run, "importance", "all")
        strength = number / (len(epochs) - 1)
        frame["kept"] = frame["kept"] ** (2 - strength) if number else np.nan
        for column in ("score", "baseline"):
            frame[column] *= strength
        lines.append(frame.assign(epoch=epoch))
        axes = {"layer": range(3), "head": range(4)}
        heads = tables.tidy(axes, importance=np.zeros((3, 4))).assign(type="encoder", run=run)
        importance.append(heads.assign(epoch=epoch, agreement=strength))
    tables.write(pd.concat(lines, ignore_index=True), folder / f"{run}.training")
    tables.write(pd.concat(importance, ignore_index=True), folder / f"{run}.epochs")
    return folder / f"{run}.training", folder / f"{run}.epochs"
