"""Sentences that cannot be used: the line states whether words vanish, are cut off, or neither."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.attention.builders import counts_of
from tests.bad_input.refused import refused
from tests.core.tiny_models import tokenizer
from workflow_scripts.core.data.cache import Cache, CachedExample, CacheWriter
from workflow_scripts.core.data.examples import to_example
from workflow_scripts.core.data.frame_links import Element, FrameLinks
from workflow_scripts.core.data.mentions import Document, Mention
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.data.trees import Tree
from workflow_scripts.core.data.vectors import Vectors
from workflow_scripts.coreference import coreference_scores
from workflow_scripts.frames import frame_scores
from workflow_scripts.probes import probe_sentences
from workflow_scripts.syntax import syntax_scores

CARD = {"name": "tiny", "weights": "w"}
TEXTS = {
    "in the middle": ["the \u200b city", "a river \x07 flows"],
    "at the end": ["the city \u200b", "a river \u200b"],
    "alike": ["the city \u200b"] * 3,
    "cut": ["the old city flows through the river", "the old river flows through the city"],
    "both": ["the \u200b city", "the old river flows through the city"],
}
VANISHED = "{} with a word that has no token, such as {!r} (f:1): remove such words"
CUT = "{} cut at 6 tokens: raise max_tokens of the corpus"
EXPECTED = {
    "in the middle": VANISHED.format(2, "\u200b"),
    "at the end": VANISHED.format(2, "\u200b"),
    "alike": VANISHED.format(3, "\u200b"),
    "cut": CUT.format(2),
    "both": VANISHED.format(1, "\u200b") + "; " + CUT.format(1),
}


def trees(texts: list[str]) -> list[Tree]:
    return [
        Tree(f"t{k}", words, (-1, *range(len(words) - 1)), ("dep",) * len(words), (), f"f:{k}")
        for k, words in enumerate((tuple(text.split(" ")) for text in texts), 1)
    ]


def cached(path: Path, texts: list) -> Cache:
    """The attention of texts that are tokenised by the tiny model, without the model."""
    examples = [to_example(text, text.id) for text in texts]
    tokens = tokenize(examples, tokenizer(), 6, 100)
    with CacheWriter(path, tokens, 1, 1, CARD) as writer:
        for index, each in enumerate(tokens):
            writer.write(index, np.full((1, 1, len(each), len(each)), 1 / len(each), np.float16))
    return Cache(path, CARD)


def syntax(cache: Cache, texts: list[Tree]) -> object:
    return counts_of(cache, *syntax_scores.count_corpus(cache, texts, [t.id for t in texts], 2))


def probes(cache: Cache, texts: list[Tree]) -> object:
    vectors = Vectors({}, np.zeros((1, 2), np.float32))
    return probe_sentences.load(cache, texts, [tree.id for tree in texts], vectors)


@pytest.mark.parametrize("read", [syntax, probes])
@pytest.mark.parametrize("kind", TEXTS)
def test_sentences_without_a_token_for_each_word(
    tmp_path: Path, kind: str, read: Callable[[Cache, list[Tree]], object]
) -> None:
    made = trees(TEXTS[kind])
    with cached(tmp_path / "a.h5", made) as cache:
        line = refused(lambda: read(cache, made), tmp_path / "a.h5", "can be used; ")
    assert line.partition("can be used; ")[2] == EXPECTED[kind]


@pytest.mark.parametrize(
    ("chains", "kind", "words"),
    [
        ("ab", "alike", VANISHED.format(3, "\u200b")),
        ("ab", "cut", CUT.format(2)),
        ("ab", None, "use documents with chains of several mentions"),
    ],
)
def test_mentions_without_an_antecedent(
    tmp_path: Path, chains: str, kind: str | None, words: str
) -> None:
    documents = [
        Document(tree.id, tree.words, (), (), (), mentions, tree.source)
        for tree in trees(TEXTS[kind] if kind else ["the city"])
        for mentions in [tuple(Mention(k, k + 1, k, c, "nominal") for k, c in enumerate(chains))]
    ]
    with cached(tmp_path / "a.h5", documents) as cache:
        names = [document.id for document in documents]
        counting = coreference_scores.count_corpus(cache, documents, names)
        refused(
            lambda: counts_of(cache, *counting), f"none of {2 * len(documents)} mentions in", words
        )


@pytest.mark.parametrize("kind", ["alike", "cut"])
def test_a_link_to_a_word_without_a_token(tmp_path: Path, kind: str) -> None:
    words = tuple(TEXTS[kind][0].split(" "))
    element = Element("Donor", (len(words) - 1,))
    links = FrameLinks("l1", words, "Giving", (0,), (element,), (), "f:1")
    with cached(tmp_path / "a.h5", [links]) as cache:
        example: CachedExample = cache[0]
    why = VANISHED.format(1, "\u200b") if kind == "alike" else CUT.format(1)
    for decoder in (False, True):
        check = partial(frame_scores.check_tokens, example, links, decoder)
        refused(check, "f:1: a word of a link", why)
