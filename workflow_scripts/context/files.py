"""Files of the key-value heads that need the whole context, as other projects read them.

`full` is [layer, key-value head], 0 to 1: a head with more than a threshold sees all tokens, another
one streams: it sees the first `sinks` and the last `recent`, the query's own among these.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.core.errors import InputError, one_line

HEADS, CONFIG = "full_attention_heads.tsv", "config.json"
THRESHOLD = 0.5  # DuoAttention's when it has no sparsity


class HeadList(NamedTuple):
    """How much each key-value head needs the whole context, and what a head that streams sees."""

    full: np.ndarray
    sinks: int
    recent: int

    def streams(self, threshold: float = THRESHOLD) -> np.ndarray:
        """Which heads stream, bool [layer, key-value head]."""
        return self.full <= threshold


def write_heads(folder: Path, heads: HeadList) -> None:
    """Write a table and config.json as duo-attention's `load_attn_pattern` reads them.

    In a `folder` of their own, as a model's config.json has the same name. Of a model with a single
    key-value head, that function returns a vector, which the rest of duo-attention does not take.
    """
    folder.mkdir(parents=True, exist_ok=True)
    np.savetxt(folder / HEADS, heads.full, fmt="%.17g", delimiter="\t")
    sizes = {"sink_size": heads.sinks, "recent_size": heads.recent}
    (folder / CONFIG).write_text(json.dumps(sizes) + "\n", encoding="utf-8")


def read_heads(path: Path) -> HeadList:
    """Read a table and the config.json next to it; `path` is the table or its folder.

    Values are cut to 0 to 1: gates that were learnt lie a little beyond. Raises InputError.
    """
    table = path / HEADS if path.is_dir() else path
    with _readable(table):
        full = np.loadtxt(table, delimiter="\t", ndmin=2)
    config = table.with_name(CONFIG)
    with _readable(config):
        sizes = json.loads(config.read_text(encoding="utf-8"))
        sinks, recent = int(sizes["sink_size"]), int(sizes["recent_size"])
    if sinks < 0 or recent < 1 or np.isnan(full).any():
        raise InputError(f"{table}: NaN, or in {config}: sink_size < 0 or recent_size < 1; correct it")
    return HeadList(full.clip(0, 1), sinks, recent)


def write_scores(path: Path, scores: np.ndarray) -> None:
    """Write {"layer-head": [scores]} as Retrieval_Head and HeadKV read it, on one line.

    `scores` is [layer, head of the queries] or [layer, head, run], at least 0 and not all 0: HeadKV
    takes shares of their sum, and the heads in the order of the file. See `of_queries`.
    """
    rows = scores[..., None] if scores.ndim == 2 else scores
    found = {
        f"{layer}-{head}": rows[layer, head].tolist() for layer, head in np.ndindex(rows.shape[:2])
    }
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")


def read_scores(path: Path) -> np.ndarray:
    """The mean score of each head of the queries, [layer, head], of Retrieval_Head's JSON."""
    with _readable(path):
        found = json.loads(path.read_text(encoding="utf-8"))
        places = np.array([[int(number) for number in name.split("-")] for name in found])
        scores = np.full(places.max(0) + 1, np.nan)
        scores[tuple(places.T)] = [np.mean(each) for each in found.values()]
    if np.isnan(scores).any():
        raise InputError(f"{path}: a head lacks scores; write one or more for every head")
    return scores


def of_queries(full: np.ndarray, n_heads: int) -> np.ndarray:
    """Values of key-value heads, [layer, key-value head], as those of `n_heads` query heads."""
    return full.repeat(n_heads // full.shape[1], axis=1)


def of_groups(scores: np.ndarray, n_kv_heads: int) -> np.ndarray:
    """Scores [layer, head of the queries] as those of the key-value heads: the group's largest."""
    return scores.reshape(len(scores), n_kv_heads, -1).max(2)


def layer_types(heads: HeadList, threshold: float = THRESHOLD) -> dict[str, list[str] | int]:
    """Keys of a transformers config in which the layers whose heads all stream have a window.

    The config must know `layer_types`, as Qwen2's, which needs `use_sliding_window` too. Its windows
    have no sinks: a model with it equals the list only where `sinks` is 0, so measure its loss.
    """
    kinds = np.where(heads.streams(threshold).all(1), "sliding_attention", "full_attention")
    return {"layer_types": kinds.tolist(), "sliding_window": heads.recent}


def card(model: str, heads: HeadList, curve: pd.DataFrame, threshold: float = THRESHOLD) -> str:
    """A Markdown section for a model's page: the list in words, its curve, and how to use it.

    `curve` has a row for each share of heads that stream: `share`, `loss` in nats per token with
    its 95% interval `low` to `high`, and the cache's `bytes`.
    """
    streams = heads.streams(threshold)
    rows = [
        f"| {row.share:.0%} | {row.loss:.4f} | {row.low:.4f} to {row.high:.4f} | {row.bytes:,.0f} |"
        for row in curve.itertuples()
    ]
    return "\n".join(
        [
            f"## Key-value heads of {model} that need the whole context",
            "",
            f"{streams.sum()} of {streams.size} key-value heads stream: they see the first "
            f"{heads.sinks} and the last {heads.recent} tokens.",
            "",
            "| heads that stream | loss (nats per token) | 95% interval | bytes of the cache |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            f"`{HEADS}` (layer by key-value head, more than {threshold:g} is the whole context) and "
            f"`{CONFIG}` load in duo-attention.",
            "",
        ]
    )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({one_line(error)}); write it again") from error
