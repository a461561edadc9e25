"""Sentences that cannot be used: the line states whether words vanish, are cut off, or neither."""

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
VANISHED = "1 with a word that has no token, such as '\\u200b' (f:1): remove such words"
CUT = "1 cut at 6 tokens: raise max_tokens of the corpus"


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["the \u200b city"], VANISHED),
        (["the city \u200b"], VANISHED),
        ([LONG], CUT),
        (["the \u200b city", LONG], f"{VANISHED}; {CUT}"),
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
    assert line.partition("can be used; ")[2] == why
