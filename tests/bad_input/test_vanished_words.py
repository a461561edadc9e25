"""Sentences that cannot be used: the line names a word that has no token."""

from pathlib import Path

import numpy as np
import pytest

from tests.attention.builders import counts_of
from tests.bad_input.refused import refused
from tests.core.tiny_models import tokenizer
from workflow_scripts.core.data.annotations import Tree, to_example
from workflow_scripts.core.data.cache import Cache, CacheWriter
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.syntax import syntax_scores

CARD = {"name": "tiny", "weights": "w"}
LONG = "the old river flows through the city"


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["the \u200b city"], "1 words have no token, such as '\\u200b' (f:1)"),
        ([LONG], "3 words have no token, such as 'through' (f:1)"),
    ],
)
def test_sentences_without_a_token_for_each_word(
    tmp_path: Path, texts: list[str], why: str
) -> None:
    trees = [
        Tree(f"t{k}", words, (-1, *range(len(words) - 1)), ("dep",) * len(words), (), f"f:{k}")
        for k, words in enumerate((tuple(text.split(" ")) for text in texts), 1)
    ]
    tokens = tokenize([to_example(tree, tree.id) for tree in trees], tokenizer(), 6, 100)
    path = tmp_path / "a.h5"
    with CacheWriter(path, tokens, 1, 1, CARD) as writer:
        for index, each in enumerate(tokens):
            writer.write(index, np.full((1, 1, len(each), len(each)), 1 / len(each), np.float16))
    with Cache(path, CARD) as cache:
        names = [tree.id for tree in trees]
        counting = syntax_scores.count_corpus(cache, trees, names, 2)
        line = refused(lambda: counts_of(cache, *counting), path)
    assert line.partition("can be used; ")[2].startswith(why)
