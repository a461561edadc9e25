"""Tables of scores that no model has: effects of heads on some splits, with all columns."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.data.heads import ATTENTION_TYPES

HURT = {"encoder": 0.6, "encoder-decoder": 3.0, "decoder": 0.4}  # BLEU, mean loss with one head


def scores(
    run: str = "1",
    shape: tuple[int, int] = (2, 3),
    splits: Sequence[str] = ("validation", "test"),
    seed: int = 1,
) -> pd.DataFrame:
    """Scores of `shape` layers and heads of each type, for both units and three metrics."""
    rng, rows = np.random.default_rng(seed), []
    matters = {kind: rng.random(shape) ** 3 for kind in ATTENTION_TYPES}
    for number, split in enumerate(splits):
        for unit in ("head", "all-but-one"):
            for kind in ATTENTION_TYPES:
                for layer, head in np.ndindex(shape):
                    lost = HURT[kind] * matters[kind][layer, head] + rng.normal(0, 0.1)
                    effect = -lost if unit == "head" else lost - 2 * HURT[kind]
                    place = {"run": run, "split": split, "unit": unit, "mode": "zero"}
                    place |= {"type": kind, "layer": layer, "head": head, "n": 100 + number}
                    for metric, of in (
                        ("bleu", effect),
                        ("chrf", effect / 2),
                        ("loss", -effect / 9),
                    ):
                        rows.append(place | {"metric": metric, "effect": of})
    frame = pd.DataFrame(rows)
    frame["baseline"] = frame["metric"].map({"bleu": 35.5, "chrf": 60.1, "loss": 1.2})
    frame = frame.assign(score=frame["baseline"] + frame["effect"], capped=0, signature="made up")
    frame["ci_low"], frame["ci_high"] = frame["effect"] - 0.5, frame["effect"] + 0.5
    frame["p"] = np.where(frame["effect"].abs() > 0.6, 0.0001, 0.3)
    corrected = {"p_corrected": np.minimum(1, 3 * frame["p"]), "p_corrected_error": 0.0}
    return frame.assign(**corrected, p_paper=frame["p"])


def gains(scored: pd.DataFrame) -> pd.DataFrame:
    """Gains of the groups that the scores have."""
    keys, rows = ["run", "split", "unit", "mode", "metric"], []
    for values, group in scored.groupby(keys, sort=False):
        about = dict(zip(keys, values, strict=True))
        groups = [(kind, -1) for kind in ("", *ATTENTION_TYPES)]
        if about["unit"] == "all-but-one":
            groups = list(
                group[["type", "layer"]].drop_duplicates().itertuples(index=False, name=None)
            )
        for number, (kind, layer) in enumerate(groups):
            row = about | {"type": kind, "layer": layer, "choices": 3, "naive": 0.1, "n": 100}
            row |= {"gain": 0.01 * number, "gain_low": -0.2, "gain_high": 0.2}
            for name in ("pearson", "spearman"):
                row |= {name: 0.7, f"{name}_low": 0.5, f"{name}_high": 0.8}
            rows.append(row)
    return pd.DataFrame(rows)
