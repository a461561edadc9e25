"""Sentences on which Figure 5 of Clark et al. 2019 shows heads that find a relation."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.trees import Tree, read_trees
from workflow_scripts.core.data.wordpieces import (
    names_of_units,
    pairs_of_units,
    to_words,
    words_of_units,
)
from workflow_scripts.core.plots.attention_lines import LEFT_OUT
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.syntax.clark2019_table1 import best_of
from workflow_scripts.syntax.counting import ALL, membership, stand_ins

SHORTEST, LONGEST = 6, 16  # words of an example sentence
TITLES = {"dependent_to_head": "to the head", "head_to_dependent": "to the dependent"}


def choose_sentences(trees: list[Tree], relation: str, n: int, seed: int) -> list[int]:
    """Indices of up to `n` sentences with the relation (for ALL, any) and short enough to draw."""
    fitting = [
        index
        for index, tree in enumerate(trees)
        if relation in (ALL, *tree.relations) and SHORTEST <= len(tree.words) <= LONGEST
    ]
    return sorted(np.random.default_rng(seed).permutation(fitting)[:n].tolist())


def draw(
    pattern: np.ndarray, word: np.ndarray, tree: Tree, relation: str, direction: str
) -> pd.DataFrame:
    """Attention of one head, [query, key] over tokens, between the words of a sentence.

    `highlighted` marks the words of the relation that attend: the dependents, or the head words;
    `gold` the pairs of such a word and the one that it should attend to.
    """
    weights, index = to_words(pattern, word), words_of_units(word)
    chosen = membership(tree, [relation])[:, 0]
    ends = stand_ins(tree)[chosen], np.array(tree.heads)[chosen]
    attending, wanted = ends if direction == "dependent_to_head" else ends[::-1]
    frame = tables.per_pair(weights, names_of_units(word, tree.words))
    gold = pairs_of_units(index, zip(attending, wanted, strict=True))
    return frame.assign(
        highlighted=np.isin(index, attending)[frame["query"]],
        gold=gold[frame["query"], frame["key"]],
    )


def draw_best(
    example: CachedExample, tree: Tree, relation: str, best: pd.Series, drawing: int
) -> pd.DataFrame:
    """One sentence with the best head for a relation, a row of the scores; numbered `drawing`."""
    pattern = example.pattern[int(best["layer"]), int(best["head"])]
    frame = draw(pattern, example.word, tree, relation, str(best["direction"]))
    return frame.assign(
        drawing=drawing,
        layer=best["layer"],
        head=best["head"],
        title=f"{relation}, {TITLES[best['direction']]}\n{best['accuracy']:.0%} {LEFT_OUT}",
        direction=best["direction"],
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
    best = best_of(tables.read(scores)).set_index("relation")
    sentences = read_trees(trees)
    frames = []
    with Cache(attention, card) as cache:
        cache.expect([tree.id for tree in sentences], "the treebank")
        for relation in [name for name in relations if name in best.index] or [ALL]:
            for index in choose_sentences(sentences, relation, n_examples, seed):
                example, tree, row = cache[index], sentences[index], best.loc[relation]
                frames.append(draw_best(example, tree, relation, row, drawing=len(frames)))
    if not frames:
        raise InputError(
            f"{trees}: no sentence of {SHORTEST} to {LONGEST} words to draw; use a treebank with "
            "such sentences"
        )
    tables.write(pd.concat(frames, ignore_index=True), examples)


if __name__ == "__main__":
    job.run(main, globals())
