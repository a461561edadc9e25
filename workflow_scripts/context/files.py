"""Files of the key-value heads that need the whole context, as other projects read them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from workflow_scripts.core.errors import InputError, one_line

HEADS, CONFIG = "full_attention_heads.tsv", "config.json"
THRESHOLD = 0.5  # DuoAttention's where no sparsity is asked for


class HeadList(NamedTuple):
    """How much each key-value head needs the whole context: `full` [layer, key-value head], 0 to 1.

    A head with at most a threshold streams: it sees the text's first `sinks` tokens and the last
    `recent`, the query's own among these.
    """

    full: np.ndarray
    sinks: int
    recent: int

    def streams(self, threshold: float = THRESHOLD) -> np.ndarray:
        """Which heads stream, bool [layer, key-value head]."""
        return self.full <= threshold


def ranked(rows: pd.DataFrame, score: str, sinks: int, recent: int) -> HeadList:
    """The list by a column of context/scores.parquet: at threshold t the lowest t of heads stream.

    Values are the ranks of key-value heads as shares, the largest 1; of equal ones the first is
    lower.
    """
    of_heads = rows.groupby(["layer", "key_value_head"])[score].first().unstack()
    ranks = rankdata(of_heads, "ordinal", axis=None).reshape(of_heads.shape)
    return HeadList(ranks / ranks.size, sinks, recent)


def write_heads(folder: Path, heads: HeadList) -> None:
    """Write a table and config.json, as duo-attention's `load_attn_pattern` reads them.

    Give them a `folder` of their own: a model's config.json has the same name. With one key-value
    head in a layer that function returns a vector, which the rest of duo-attention does not take.
    """
    folder.mkdir(parents=True, exist_ok=True)
    np.savetxt(folder / HEADS, heads.full, fmt="%.17g", delimiter="\t")
    sizes = {"sink_size": heads.sinks, "recent_size": heads.recent}
    (folder / CONFIG).write_text(json.dumps(sizes) + "\n", encoding="utf-8")


def read_heads(path: Path, shape: tuple[int, int] | None = None) -> HeadList:
    """Read a table and the config.json next to it; `path` is the table, or the folder of both.

    Values are cut to 0 to 1, as learnt gates lie a little beyond. Raises InputError, also for a
    table of another `shape` than a model's layers and key-value heads, where that is given.
    """
    table = path / HEADS if path.is_dir() else path
    with _readable(table):
        full = np.loadtxt(table, delimiter="\t", ndmin=2)
    with _readable(config := table.with_name(CONFIG)):
        sizes = json.loads(config.read_text(encoding="utf-8"))
        sinks, recent = int(sizes["sink_size"]), int(sizes["recent_size"])
        if sinks < 0 or recent < 1:
            raise ValueError("sink_size < 0 or recent_size < 1")
    if shape and full.shape != shape:
        raise InputError(
            f"{path}: {full.shape} layers and key-value heads, but the model has {shape}; "
            "use a list of this model"
        )
    return HeadList(full.clip(0, 1), sinks, recent)


def write_scores(path: Path, full: np.ndarray, n_heads: int) -> None:
    """Write {"layer-head": [score]} as Retrieval_Head and HeadKV read it, on one line.

    Theirs are the `n_heads` heads of the queries, each with the value of its key-value head. HeadKV
    takes shares of the sum, which must be above 0, and the file's order for that of the heads.
    """
    scores = full.repeat(n_heads // full.shape[1], axis=1)
    found = {f"{layer}-{head}": [value] for (layer, head), value in np.ndenumerate(scores)}
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")


def layer_types(heads: HeadList, threshold: float = THRESHOLD) -> dict[str, list[str] | int]:
    """Keys of a transformers config that give a window to the layers whose heads all stream.

    For models whose config has `layer_types`, as Qwen2's with `use_sliding_window`. A window has no
    sinks: the model equals the list only where `sinks` is 0 and no head of another layer streams.
    """
    kinds = np.where(heads.streams(threshold).all(1), "sliding_attention", "full_attention")
    return {"layer_types": kinds.tolist(), "sliding_window": heads.recent}


def card(model: str, heads: HeadList, curve: pd.DataFrame, threshold: float = THRESHOLD) -> str:
    """A Markdown section for a model's page; `curve` are rows of tables/context-curves.csv.

    They have the `share` of heads that stream, `nats` per token, their `change` with its 95%
    interval, and `bytes` of the cache.
    """
    streams = heads.streams(threshold)
    lines = [
        f"## Key-value heads of {model} that need the whole context\n",
        f"{streams.sum()} of {streams.size} key-value heads stream.",
        f"They see the first {heads.sinks} and the last {heads.recent} tokens.",
        f"`{HEADS}` and `{CONFIG}` load in duo-attention: above {threshold:g} is all context.\n",
        "| heads that stream | nats per token | change (95% interval) | bytes of the cache |",
        "| --- | --- | --- | --- |",
    ]
    for row in curve.itertuples():
        change = f"{row.change:+.4f} ({row.change_low:+.4f} to {row.change_high:+.4f})"
        lines.append(f"| {row.share:.0%} | {row.nats:.4f} | {change} | {row.bytes:,.0f} |")
    return "\n".join(lines) + "\n"


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({one_line(error)}); write it again") from error
