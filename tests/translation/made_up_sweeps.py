"""Sweeps of translators that do not exist: the more a head matters, the more words change."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.translation_metrics import COLUMNS, statistics

WORDS = "a dog cat sees the big small house tree near old man woman walks red green under".split()
# Rates at which words change with one head masked: a head's type times how much it matters there.
RATES = {"encoder": 0.06, "encoder-decoder": 0.3, "decoder": 0.04}


def references(n: int, seed: int) -> list[str]:
    """Random sentences of 6 to 12 words."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(6, 13))) for _ in range(n)]


def changed(texts: Sequence[str], rate: float, rng: np.random.Generator) -> list[str]:
    """The texts with a share of their words replaced."""
    rows = [text.split() for text in texts]
    return [
        " ".join(str(rng.choice(WORDS)) if rng.random() < rate else word for word in row)
        for row in rows
    ]


def sweep(
    run: str = "1",
    splits: Mapping[str, int] | None = None,
    shape: tuple[int, int] = (2, 3),
    modes: Sequence[str] = ("zero",),
    seed: int = 1,
) -> pd.DataFrame:
    """A sweep of `shape` layers and heads of each type, with n sentences in each of `splits`.

    The same heads matter on every split.
    """
    matters = np.random.default_rng(100 + seed).random((3, *shape)) ** 3
    parts = []
    for number, (split, n) in enumerate((splits or {"validation": 20, "test": 30}).items()):
        truth = references(n, number)
        rng = np.random.default_rng([seed, number])
        plain = changed(truth, 0.15, rng)
        variants = [(("none", "", "", -1, -1), 0.0)]
        for mode in modes:
            for at, (kind, rate) in enumerate(RATES.items()):
                for layer, head in np.ndindex(shape):
                    hurt = rate * matters[at, layer, head]
                    left = min(0.9, rate * (1 - matters[at, layer, head]))
                    variants.append((("head", mode, kind, layer, head), hurt))
                    variants.append((("all-but-one", mode, kind, layer, head), left))
        for (unit, mode, kind, layer, head), rate in variants:
            translated = changed(plain, rate, rng)
            keys = {"run": run, "split": split, "unit": unit, "mode": mode, "type": kind}
            keys |= {"layer": layer, "head": head, "id": [f"{split}-{i + 1}" for i in range(n)]}
            tokens = [len(text.split()) + 1 for text in truth]
            loss = np.array(tokens) * (0.5 + rate + rng.normal(0, 0.02, n))
            frame = pd.DataFrame(keys | {"translation": translated, "loss": loss, "tokens": tokens})
            frame["length"], frame["capped"] = frame["tokens"], rng.random(n) < rate / 4
            counted = pd.DataFrame(statistics(translated, truth), columns=list(COLUMNS))
            parts.append(pd.concat([frame, counted], axis=1))
    frame = pd.concat(parts, ignore_index=True)
    return frame.sort_values(["unit", "mode"], key=lambda c: c != "none", kind="stable")
