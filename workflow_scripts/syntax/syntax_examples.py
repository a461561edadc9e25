"""Sentences on which Figure 5 of Clark et al. 2019 shows heads that find a relation."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Tree, read_trees
from workflow_scripts.core.data.cache import CachedExample, open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.wordpieces import (
    is_decoder,
    names_of_units,
    pairs_of_units,
    to_words,
    words_of_units,
)
from workflow_scripts.core.plots.attention_lines import LEFT_OUT
from workflow_scripts.core.run import job
from workflow_scripts.syntax.counting import ALL, DIRECTIONS_BACK, membership, questions, stand_ins
from workflow_scripts.syntax.figures import best_of

SHORTEST, LONGEST = 6, 16  # words of an example sentence
TITLES = {"dependent_to_head": "to the head", "head_to_dependent": "to the dependent"}
TITLES["released"] = "to the dependent, released counting"


def choose_sentences(
    trees: list[Tree], relation: str, n: int, seed: int, asked: str = ""
) -> list[int]:
    """Indices of up to `n` sentences with the relation (for ALL, any) and short enough to draw.

    The shortest where none is. For a decoder with one that is counted in the direction `asked`.
    """
    having = [
        index
        for index, tree in enumerate(trees)
        if relation in (ALL, *tree.relations)
        if not asked or counted_words(tree, relation, asked, first=0).any()
    ]
    fitting = [index for index in having if SHORTEST <= len(trees[index].words) <= LONGEST]
    if not fitting:
        return sorted(having, key=lambda index: len(trees[index].words))[:n]
    return sorted(np.random.default_rng(seed).permutation(fitting)[:n].tolist())


def counted_words(tree: Tree, relation: str, direction: str, first: int) -> np.ndarray:
    """The words of a relation that a decoder is asked for, bool [word]."""
    asked = questions(tree, first).counted[DIRECTIONS_BACK.index(direction)]
    return asked & membership(tree, [relation])[:, 0]


def draw_best(
    example: CachedExample, tree: Tree, best: pd.Series, drawing: int, decoder: bool
) -> pd.DataFrame:
    """One sentence with the best head for a relation, a row of the scores; numbered `drawing`.

    `highlighted` marks the words of the relation that attend: the dependents, or the head words;
    `gold` the pairs of such a word and the one that it should attend to. For a decoder these are
    the words that stand to the right of that one.
    """
    relation, direction, word = best["relation"], best["direction"], example.word
    pattern = example.pattern[int(best["layer"]), int(best["head"])]
    weights, index = to_words(pattern, word, last=decoder), words_of_units(word)
    if decoder:
        chosen = counted_words(tree, relation, direction, word[0])
    else:
        chosen = membership(tree, [relation])[:, 0]
    ends = stand_ins(tree)[chosen], np.array(tree.heads)[chosen]
    attending, wanted = ends if direction == "dependent_to_head" else ends[::-1]
    frame = tables.per_pair(weights, names_of_units(word, tree.words, decoder))
    gold = pairs_of_units(index, zip(attending, wanted, strict=True))
    title = f"{relation}, {TITLES[direction]}\n{best['accuracy']:.0%} {LEFT_OUT[decoder]}"
    return frame.assign(
        highlighted=np.isin(index, attending)[frame["query"]],
        gold=gold[frame["query"], frame["key"]],
        drawing=drawing,
        layer=best["layer"],
        head=best["head"],
        title=f"{title}\n{best['coverage']:.0%} of the pairs" if decoder else title,
        direction=direction,
        example=example.id,
    )


def main(
    attention: Path,
    model: Path,
    trees: Path,
    scores: Path,
    examples: job.Out,
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
            for k in choose_sentences(sentences, relation, n_examples, seed, asked):
                frames.append(draw_best(cache[k], sentences[k], row, len(frames), decoder))
    tables.write(pd.concat(frames, ignore_index=True), examples)


if __name__ == "__main__":
    job.run(main, globals())
