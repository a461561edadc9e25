"""The heads, tokens and weights of the line drawings (Clark et al. 2019, Figure 1)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.head_labels import parse
from workflow_scripts.core.model import models
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out

Chosen = list[tuple[int, int, str]]


def strongest_heads(position: pd.DataFrame, special: pd.DataFrame, entropy: pd.DataFrame) -> Chosen:
    """For each pattern the head that shows it most strongly, as (layer, head, title).

    The title says how strongly, on average over the corpus. No head is chosen twice.
    """
    target = {
        name: frame.rename(columns={"attention": "strength"})
        for frame in (position, special)
        for name, frame in frame.groupby("target")
    }
    broad = entropy[entropy["query"] == "all"].rename(columns={"entropy": "strength"})
    candidates = [
        ("broad", broad, "{:.1f} nats"),
        ("next token", target["next"], "{:.0%}"),
        ("previous token", target["previous"], "{:.0%}"),
        ("[SEP]", target["sep"], "{:.0%}"),
        ("periods and commas", target["punctuation"], "{:.0%}"),
    ]
    chosen: Chosen = []
    for name, frame, form in candidates:
        for row in frame.sort_values("strength", ascending=False).itertuples():
            if (row.layer, row.head) not in [(layer, head) for layer, head, _ in chosen]:
                chosen.append((row.layer, row.head, f"{name}, {form.format(row.strength)}"))
                break
    return chosen


def drawn_length(ids: np.ndarray, sep: int, maximum: int) -> int:
    """Tokens drawn: up to the first [SEP], which ends the first paragraph, at most `maximum`."""
    separators = np.flatnonzero(ids == sep)
    return min(maximum, int(separators[0]) + 1 if len(separators) else len(ids))


def choose_example(cache: Cache, sep: int, example: str) -> int:
    """Index of the segment with id `example`; without one, of the shortest first paragraph.

    Raises InputError where there is no such segment.
    """
    if example:
        if example not in cache.ids:
            raise InputError(f"{cache.path}: no segment {example!r}; correct drawings.example")
        return cache.ids.index(example)
    ids, ends = cache.flat("ids"), np.cumsum(cache.lengths)
    starts = ends - cache.lengths
    segments = zip(starts, ends, strict=True)
    return int(np.argmin([drawn_length(ids[a:b], sep, b - a) for a, b in segments]))


def draw(example: CachedExample, chosen: Chosen, tokens: list[str], length: int) -> pd.DataFrame:
    """One row per head, query and key among the first `length` tokens of an example."""
    frames = []
    for number, (layer, head, title) in enumerate(chosen):
        weights = example.pattern[layer, head, :length, :length]
        frame = tables.per_pair(weights, tokens[:length])
        frames.append(frame.assign(drawing=number, layer=layer, head=head, title=title))
    rows = pd.concat(frames, ignore_index=True)
    return rows.astype({"weight": np.float32}).assign(example=example.id)


def main(
    attention: Path,
    model: Path,
    position: Path,
    special_tokens: Path,
    entropy: Path,
    drawings: Out,
    heads: list = (),
    example: str = "",
    max_drawn_tokens: int = 48,
) -> None:
    """Write the weights to draw; `heads` (as 3-1) and `example` (an id) may be chosen by hand."""
    card = read_card(model)
    if heads:
        pairs = [parse(name, card["n_layers"], card["n_heads"]) for name in heads]
        chosen = [(layer, head, "") for layer, head in pairs]
    else:
        chosen = strongest_heads(
            position=tables.read(position),
            special=tables.read(special_tokens),
            entropy=tables.read(entropy),
        )
    tokenizer = models.load_tokenizer(models.directory_of(card))
    with Cache(attention, card) as cache:
        sep = card["special"]["sep"]
        segment = cache[choose_example(cache, sep, example)]
    tokens = [
        tokenizer.convert_tokens_to_string([token]).strip() or token
        for token in tokenizer.convert_ids_to_tokens(segment.ids.tolist())
    ]
    length = drawn_length(segment.ids, sep, max_drawn_tokens)
    tables.write(draw(segment, chosen, tokens, length), drawings)


if __name__ == "__main__":
    job.run(main, globals())
