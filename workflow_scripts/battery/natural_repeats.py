"""Roles of heads confirmed on running text, where it repeats a token.

A query is a token that occurred exactly once before; its earlier occurrence takes the place of the
first copy of random tokens, at a distance that differs from query to query. A head's weight on the
role's token is held against that on wrong ones: neighbours of that token, and the tokens that are
right for the text's other queries.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.battery.head_roles import Compared, compared
from workflow_scripts.battery.random_repeats import Places, mean_weights
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import bootstrap_mean, per_head
from workflow_scripts.core.stats.randomisation import LEVEL, smallest_p, swap_sets

AROUND = 5  # tokens: how far keys are displaced from a role's token
BACK = range(AROUND + 1)  # from the query: previous is 1 back
FROM_FIRST = range(-AROUND, AROUND + 2)  # from the earlier occurrence: duplicate is 0, induction 1
SWAPPED = AROUND + 2  # the place, after those FROM_FIRST, of the weight on other queries' tokens


def repeats(tokens: Tokens) -> tuple[Places, int]:
    """The ordinary tokens i that occurred exactly once before, at j, with keys; and their number.

    The keys are those BACK from i, then those FROM_FIRST on from j. Left out, but in the number,
    are queries for which a key would be special, the text's first token or after the query:
    j <= AROUND or i <= j + AROUND. So a role's token is that of no other role.
    """
    before: dict[int, list[int]] = {}
    pairs = []
    for position, (token, word) in enumerate(zip(tokens.ids.tolist(), tokens.word, strict=True)):
        if word >= 0:
            found = before.setdefault(token, [])
            pairs += [(position, found[0])] if len(found) == 1 else []
            found.append(position)
    inside = [(i, j) for i, j in pairs if j > AROUND and i > j + AROUND]
    query, first = np.array(inside, dtype=int).reshape(-1, 2).T
    keys = np.concatenate([query[:, None] - BACK, first[:, None] + FROM_FIRST], axis=1)
    return Places(query, keys), len(pairs)


def swapped(places: Places) -> Places:
    """Each query of `repeats` with the duplicate and induction tokens of the text's other queries.

    Left out are those in the text after, or AROUND, the query. The same queries and tokens are
    paired otherwise: what is left is that the token is not the query's.
    """
    first = places.keys[:, len(BACK) + AROUND]
    query, other = np.nonzero(first + AROUND < places.queries[:, None])
    apart = query != other
    keys = first[other[apart]][:, None] + np.arange(2)
    return Places(places.queries[query[apart]], keys)


def by_role(weights: np.ndarray, of_others: np.ndarray) -> dict[str, Compared]:
    """The roles' scores, each against all other offsets around the same token.

    `weights` is [segment, layer, head, place]; `of_others` [segment, layer, head, role] those on
    other queries' duplicate and induction tokens, which count as one more offset, SWAPPED.
    """
    back, from_first = np.split(weights, [len(BACK)], axis=-1)
    found = compared(back, BACK, {"previous": 1})
    for place, (role, own) in enumerate({"duplicate": 0, "induction": 1}.items()):
        around = np.concatenate([from_first, of_others[..., place, None]], axis=-1)
        found |= compared(around, (*FROM_FIRST, SWAPPED), {role: own})
    return found


def p_values(
    differences: np.ndarray, documents: Sequence[str], draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values [variant] of mean differences [segment, variant], alone and corrected.

    In each permutation the differences of each document change sign with probability 1/2, all of
    a document together; corrected by the smallest p of all variants.
    """
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    sums = np.zeros((len(names), differences.shape[1]))
    np.add.at(sums, codes, differences / len(differences))
    null = [(1.0 - 2 * swaps) @ sums for swaps in swap_sets(len(names), draws, seed)]
    found = smallest_p(sums.sum(axis=0), np.concatenate(null))
    return found.p, found.corrected


def confirmed(
    random: pd.DataFrame,
    weights: np.ndarray,
    of_others: np.ndarray,
    documents: Sequence[str],
    bootstrap: int,
    permutations: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of `random` with what the weights of `by_role` add on running text.

    Every segment has a query. `natural` is the mean over segments, of the means over a segment's
    queries; natural_best_other the mean at the best wrong place, and natural_gain the difference,
    paired, each with a 95% interval over documents. natural_swapped is the weight on other queries'
    tokens, NaN for the previous token. Heads with a role on random tokens are tested, corrected for
    their number; those are `confirmed` whose gain has a lower end above 0 and p below LEVEL.
    """
    found = by_role(weights, of_others)
    own = {name: each.score for name, each in found.items()}
    frame = per_head(own, "role", "natural", bootstrap, seed, documents)
    names = {"ci_low": "natural_low", "ci_high": "natural_high", "n": "n_segments"}
    frame = frame.rename(columns=names)
    # The rows of all tables are by role, layer and head.
    differences = _by_row(found, lambda each: each.score - each.best)
    ends = bootstrap_mean(differences, bootstrap, seed, documents)
    names = ("natural_gain", "natural_gain_low", "natural_gain_high")
    frame = frame.assign(**dict(zip(names, ends, strict=True)))
    frame["natural_best_other"] = _by_row(found, lambda each: each.best).mean(axis=0)
    none = np.full(weights.shape[1:3], np.nan)
    per_role = none, *np.moveaxis(of_others.mean(axis=0), -1, 0)
    frame["natural_swapped"] = np.concatenate([each.ravel() for each in per_role])
    frame = random.merge(frame, on=["role", "layer", "head"], validate="one_to_one")
    tested = frame["has_role"].to_numpy()
    frame["natural_p"] = frame["natural_p_corrected"] = np.nan
    if tested.any():
        p = p_values(differences[:, tested], documents, permutations, seed)
        frame.loc[tested, ["natural_p", "natural_p_corrected"]] = np.stack(p, axis=1)
    above = frame["natural_gain_low"] > 0
    return frame.assign(confirmed=above & (frame["natural_p_corrected"] < LEVEL))


def _by_row(found: dict[str, Compared], numbers: Callable[[Compared], np.ndarray]) -> np.ndarray:
    """Numbers [segment, layer, head] of all roles as [segment, row], the rows as in the tables."""
    parts = [numbers(each) for each in found.values()]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def main(
    model: Path,
    corpus: Path,
    random: Path,
    roles: job.Out,
    max_tokens: int,
    n_segments: int,
    bootstrap: int,
    permutations: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the roles of every head: `random`'s columns, and those on the corpus.

    The counts are n_read (segments), n_segments (those with two queries or more), n_documents,
    n_repeats and n_queries, see `repeats`.
    """
    card = read_card(model)
    directory = models.directory_of(card)
    examples = tables.sample(read_examples(corpus), n_segments, seed)
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    found = [repeats(text) for text in tokens]
    pairs = [swapped(places) for places, _ in found]
    used = [number for number, others in enumerate(pairs) if len(others.queries)]
    if not used:
        raise InputError(
            f"{corpus}: no two tokens occur exactly twice, more than {AROUND} tokens apart, in any "
            f"of {len(found)} segments; use longer or more segments"
        )
    body = attention.open_attention(models.load_body(directory, running.pick_device(device)))
    texts = [tokens[number] for number in used]
    places = [(found[number][0], pairs[number]) for number in used]
    weights, of_others = mean_weights(body, texts, places, batch_tokens)
    documents = [examples[number].document for number in used]
    scores = tables.read(random)
    limits = bootstrap, permutations, seed
    frame = confirmed(scores, weights, of_others, documents, *limits).assign(
        n_read=len(found),
        n_repeats=sum(n_repeats for _, n_repeats in found),
        n_queries=sum(len(own.queries) for own, _ in places),
    )
    tables.write(frame, roles)


if __name__ == "__main__":
    job.run(main, globals())
