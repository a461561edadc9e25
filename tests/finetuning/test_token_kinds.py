"""Kinds of tokens and links between words, on sentences whose answer is known."""

import pytest

from tests.core.tiny_models import tokenizer
from workflow_scripts.core.data.annotations import Example, Tree
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.finetuning import token_kinds

PAPER, RELEASED = token_kinds.LABELS["paper"], token_kinds.LABELS["released"]
CARD = {"special": {"cls": 2, "sep": 3}, "punctuation": []}


def sentence(text: str, tags: str = "", heads: tuple = (), relations: str = "") -> tuple:
    """An example of one text whose words are separated by blanks, and its tree."""
    words = text.split()
    spans, start = [], 0
    for word in words:
        spans.append((text.index(word, start), text.index(word, start) + len(word)))
        start = spans[-1][1]
    n = len(words)
    tree = Tree(
        "e",
        tuple(words),
        heads or (-1,) * n,
        tuple(relations.split() or [""] * n),
        tuple(tags.split() or ["X"] * n),
        "f:1",
    )
    return tree, Example("e", "e", "f:1", (text,), (tuple(spans),))


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("he did not see", [0, 0, 1, 0]),
        ("he do n't see", [0, 0, 0, 0]),
        ("he can 't see", [0, 1, 1, 0]),
        ("he can’t see", [0, 1, 0]),
        ("a knot , nonetheless noted", [0, 0, 0, 0, 0]),
        ("Neither he nor she", [1, 0, 1, 0]),
    ],
)
def test_negation_words_are_the_papers(text: str, negated: list[int]) -> None:
    _, example = sentence(text)
    assert token_kinds.negations(example).tolist() == [bool(flag) for flag in negated]


def test_tokens_follow_their_words_and_not_their_spelling() -> None:
    tree, example = sentence("river flows river", "NN VBZ DT", (), "")
    tokens = tokenize([example], tokenizer(), 32, 128)[0]
    words = token_kinds.words_of_kinds(tree, example, PAPER)
    actual = token_kinds.tokens_of_kinds(words, tokens.word, tokens.ids, CARD)
    names = tokenizer().convert_ids_to_tokens(tokens.ids.tolist())
    assert names == ["[CLS]", "river", "flow", "##s", "river", "[SEP]"]
    assert actual["noun"].tolist() == [False, True, False, False, False, False]
    assert actual["verb"].tolist() == [False, False, True, True, False, False]
    assert actual["cls"].tolist() == [True] + [False] * 5
    assert actual["sep"].tolist() == [False] * 5 + [True]


def test_links_stay_in_their_sentence() -> None:
    tree, example = sentence(
        "she saw the river he left", "PRP VBD DT NN PRP VBD", (1, -1, 3, 1, 5, -1),
        "nsubj root det dobj nsubj root",
    )  # fmt: skip
    sentences = token_kinds.sentences_of(tree)
    assert sentences.tolist() == [1, 1, 1, 1, 5, 5]
    kinds = token_kinds.words_of_kinds(tree, example, PAPER)
    actual = token_kinds.word_links(tree, kinds, PAPER)
    assert actual["verb-subject"] == [(1, 0), (5, 4)]
    assert actual["pronoun-noun"] == [(0, 3)]


def test_the_released_labels_take_more_words_and_link_fewer() -> None:
    relations = "nsubj nsubjpass csubj csubjpass agent expl dobj obj iobj dative attr oprd root"
    n = len(relations.split())
    tags = ["VB"] * n
    tree, example = sentence(
        " ".join(f"w{k}" for k in range(n)), " ".join(tags), (*[n - 1] * (n - 1), -1), relations
    )
    kinds, links = {}, {}
    for labels in (PAPER, RELEASED):
        words = token_kinds.words_of_kinds(tree, example, labels)
        kinds[labels] = [
            [name for name, chosen in zip(relations.split(), words[kind], strict=True) if chosen]
            for kind in ("subject", "object")
        ]
        links[labels] = token_kinds.word_links(tree, words, labels)["verb-subject"]
    subjects = ["nsubj", "nsubjpass", "csubj", "csubjpass"]
    assert kinds[PAPER] == [subjects, ["dobj", "obj"]]
    released = [[*subjects, "agent", "expl"], ["dobj", "iobj", "dative", "attr", "oprd"]]
    assert kinds[RELEASED] == released
    assert links == {PAPER: [(n - 1, k) for k in range(4)], RELEASED: [(n - 1, 0)]}
