"""The heads, tokens and weights of the line drawings (Clark et al. 2019, Figure 1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import CachedExample, open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels, parse_head
from workflow_scripts.core.data.patterns import Patterns
from workflow_scripts.core.data.tokens import token_texts
from workflow_scripts.core.data.wordpieces import is_decoder
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.run import job

Chosen = list[tuple[int, int, str]]
FEWEST = 10  # tokens of a paragraph that shows a pattern
TARGETS = {
    "next": "next token",
    "previous": "previous token",
    "cls": "[CLS]",
    "first": "first token",
    "sep": "[SEP]",
    "punctuation": "periods and commas",
}


def strongest_heads(
    position: pd.DataFrame,
    special: pd.DataFrame,
    entropy: pd.DataFrame,
    threshold: float,
    broad: float,
) -> pd.DataFrame:
    """For each pattern the head that shows it most strongly, a row each in Figure 1's order.

    `strength` is a share of attention; for the broad pattern it is in nats or, of a decoder, a
    share of the largest entropy. `shown` states whether it exceeds the bound: `threshold`, for the
    broad pattern `broad`.
    """
    wide = entropy[entropy["query"] == "all"]
    by = ("relative", "share") if "relative" in entropy else ("entropy", "nats")
    rows = [_strongest(wide, "broad", *by, broad)]
    averages = pd.concat([position, special])
    for target in (name for name in TARGETS if name in set(averages["target"])):
        frame = averages[averages["target"] == target]
        rows.append(_strongest(frame, TARGETS[target], "attention", "share", threshold))
    return pd.DataFrame(rows)


def _strongest(frame: pd.DataFrame, name: str, measure: str, unit: str, bound: float) -> dict:
    top = frame.loc[frame[measure].idxmax()]
    kept = {key: top[key] for key in ("layer", "head", "ci_low", "ci_high", "n", "n_documents")}
    about = {"strength": top[measure], "unit": unit, "bound": bound, "shown": top[measure] > bound}
    return {"pattern": name, **kept, **about}


def to_draw(strongest: pd.DataFrame) -> Chosen:
    """The heads that show a pattern, as (layer, head, title); the title states how strongly."""
    titles: dict[tuple[int, int], list[str]] = {}
    for row in strongest[strongest["shown"]].itertuples():
        form = "{:.1f} nats" if row.unit == "nats" else "{:.0%}"
        title = f"{row.pattern}, {form.format(row.strength)}"
        titles.setdefault((row.layer, row.head), []).append(title)
    return [(layer, head, "; ".join(several)) for (layer, head), several in titles.items()]


def paragraph_ends(tokens: Mapping[str, np.ndarray], card: dict[str, Any]) -> np.ndarray:
    """Which tokens end a paragraph of a segment, bool [L]: [SEP], of a decoder its last token."""
    if is_decoder(card):
        return np.diff(tokens["segment"], append=tokens["segment"][-1:]) > 0
    return tokens["ids"] == card["special"]["sep"]


def drawn_tokens(ends: np.ndarray, maximum: int) -> np.ndarray:
    """Places of the tokens drawn: up to the first of `ends`, bool [L].

    Of more than `maximum` those before this last one are left out.
    """
    found = np.flatnonzero(ends)
    last = int(found[0]) if len(found) else len(ends) - 1
    return np.append(np.arange(min(last, maximum - 1)), last)


def choose_example(cache: Patterns, card: dict[str, Any], example: str) -> int:
    """Index of the segment with id `example`; without one, of the shortest first paragraph.

    One of fewer than FEWEST tokens, such as the rest of an article, is taken only among such.
    Raises InputError where there is no such segment.
    """
    if example:
        if example not in cache.ids:
            raise InputError(f"{cache.path}: no segment {example!r}; correct drawings.example")
        return cache.ids.index(example)
    ends = [paragraph_ends(cache.tokens(index), card) for index in range(len(cache))]
    lengths = np.array([len(drawn_tokens(each, len(each))) for each in ends])
    return int(np.lexsort((lengths, lengths < FEWEST))[0])


def draw(
    example: CachedExample, chosen: Chosen, tokens: list[str], kept: np.ndarray
) -> pd.DataFrame:
    """One row per head, query and key among the tokens of an example at the places `kept`.

    Column `uniform` is the weight of each token under uniform attention over the whole example; of
    a decoder, over the tokens up to the query.
    """
    names = [tokens[place] for place in kept]
    if len(kept) <= kept[-1]:  # some are left out before the last
        names[-1] = f"… {names[-1]}"
    frames = []
    for number, (layer, head, title) in enumerate(chosen or [(0, 0, "")]):
        frame = tables.per_pair(example.pattern[layer, head][np.ix_(kept, kept)], names)
        frames.append(frame.assign(drawing=number, layer=layer, head=head, title=title))
    rows = pd.concat(frames, ignore_index=True)
    rows = rows.astype({"weight": np.float32})
    rows = rows.assign(example=example.id, uniform=1 / len(example.ids))
    return rows if chosen else rows[:0]


def main(
    attention: Path,
    model: Path,
    position: Path,
    special_tokens: Path,
    entropy: Path,
    drawings: job.Out,
    table: job.Out,
    threshold: float,
    broad: float,
    heads: list = (),
    example: str = "",
    max_drawn_tokens: int = 20,
) -> None:
    """Write the weights to draw, and the table of the strongest head of each pattern.

    `heads` (as 3-1) and `example` (an id) may be chosen by hand.
    """
    card = read_card(model)
    read = (tables.read(path) for path in (position, special_tokens, entropy))
    strongest = strongest_heads(*read, threshold, broad)
    if heads:
        pairs = [parse_head(name, card["n_layers"], card["n_heads"]) for name in heads]
        chosen = [(layer, head, "") for layer, head in pairs]
    else:
        chosen = to_draw(strongest)
    tokenizer = models.load_tokenizer(models.directory_of(card))
    with open_patterns(attention, card) as cache:
        index = choose_example(cache, card, example)
        segment, ends = cache[index], paragraph_ends(cache.tokens(index), card)
    tokens = token_texts(tokenizer, segment.ids)
    kept = drawn_tokens(ends, max_drawn_tokens)
    drawn = draw(segment, chosen, tokens, kept)
    if is_decoder(card):
        drawn["uniform"] = 1 / (kept[drawn["query"]] + 1)
    tables.write(drawn, drawings)
    named = strongest.assign(head=head_labels(strongest)).drop(columns="layer")
    tables.write_csv(named, table)


if __name__ == "__main__":
    job.run(main, globals())
