"""Sentences on which Figure 5 of Clark et al. 2019 shows heads that find a relation."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Tree, read_trees
from workflow_scripts.core.data.cache import CachedExample, open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.wordpieces import (
    SPECIAL,
    is_decoder,
    names_of_units,
    pairs_of_units,
    to_words,
    words_of_units,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.plots.attention_lines import LEFT_OUT, LEFT_OUT_OF_DECODERS
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.syntax.clark2019_table1 import best_of
from workflow_scripts.syntax.counting import ALL, DIRECTIONS_BACK, membership, questions, stand_ins

SHORTEST, LONGEST = 6, 16  # words of an example sentence
TITLES = {"dependent_to_head": "to the head", "head_to_dependent": "to the dependent"}


def choose_sentences(
    trees: list[Tree], relation: str, n: int, seed: int, asked: str = ""
) -> list[int]:
    """Indices of up to `n` sentences with the relation (for ALL, any) and short enough to draw.

    For a decoder with one that is counted in the direction `asked`.
    """
    fitting = [
        index
        for index, tree in enumerate(trees)
        if relation in (ALL, *tree.relations) and SHORTEST <= len(tree.words) <= LONGEST
        if not asked or _asks(tree, relation, asked)
    ]
    return sorted(np.random.default_rng(seed).permutation(fitting)[:n].tolist())


def _asks(tree: Tree, relation: str, direction: str) -> bool:
    counted = questions(tree, first=0).counted[DIRECTIONS_BACK.index(direction)]
    return bool((counted & membership(tree, [relation])[:, 0]).any())


def draw_best(
    example: CachedExample, tree: Tree, best: pd.Series, drawing: int, decoder: bool = False
) -> pd.DataFrame:
    """One sentence with the best head for a relation, a row of the scores; numbered `drawing`.

    `highlighted` marks the words of the relation that attend: the dependents, or the head words;
    `gold` the pairs of such a word and the one that it should attend to. For a decoder these are
    the words that stand to the right of that one.
    """
    relation, direction, word = best["relation"], best["direction"], example.word
    pattern = example.pattern[int(best["layer"]), int(best["head"])]
    weights, index = to_words(pattern, word, last=decoder), words_of_units(word)
    chosen = membership(tree, [relation])[:, 0]
    if decoder:
        chosen &= questions(tree, word[0]).counted[DIRECTIONS_BACK.index(direction)]
    ends = stand_ins(tree)[chosen], np.array(tree.heads)[chosen]
    attending, wanted = ends if direction == "dependent_to_head" else ends[::-1]
    names = names_of_units(word, tree.words, *([SPECIAL] if decoder else []))
    frame = tables.per_pair(weights, names)
    gold = pairs_of_units(index, zip(attending, wanted, strict=True))
    left_out = LEFT_OUT_OF_DECODERS if decoder else LEFT_OUT
    counted = f"\n{best['coverage']:.0%} of the pairs" if decoder else ""
    return frame.assign(
        highlighted=np.isin(index, attending)[frame["query"]],
        gold=gold[frame["query"], frame["key"]],
        drawing=drawing,
        layer=best["layer"],
        head=best["head"],
        title=f"{relation}, {TITLES[direction]}\n{best['accuracy']:.0%} {left_out}{counted}",
        direction=direction,
        example=example.id,
    )


def main(
    attention: Path,
    model: Path,
    trees: Path,
    scores: Path,
    examples: Out,
    relations: list,
    n_examples: int,
    seed: int = 1,
) -> None:
    """Write the weights to draw: for each relation its best head on some sentences.

    If the treebank has none of `relations`, or no labels at all, the best head for ALL is drawn.
    """
    card = read_card(model)
    decoder = is_decoder(card)
    best = best_of(tables.read(scores)).set_index("relation", drop=False)
    sentences = read_trees(trees)
    frames = []
    with open_patterns(attention, card) as cache:
        cache.expect([tree.id for tree in sentences], "the treebank")
        for relation in [name for name in relations if name in best.index] or [ALL]:
            row = best.loc[relation]
            asked = row["direction"] if decoder else ""
            for index in choose_sentences(sentences, relation, n_examples, seed, asked):
                drawn = draw_best(cache[index], sentences[index], row, len(frames), decoder)
                frames.append(drawn)
    if not frames:
        raise InputError(
            f"{trees}: no sentence of {SHORTEST} to {LONGEST} words to draw; use a treebank with "
            "such sentences"
        )
    tables.write(pd.concat(frames, ignore_index=True), examples)


if __name__ == "__main__":
    job.run(main, globals())
