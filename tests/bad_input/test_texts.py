"""Texts are data: markup, control characters, braces, long words and other scripts stay aligned."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from workflow_scripts.core.data.annotations import (
    read_examples,
    read_trees,
    to_example,
    write_records,
)
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.corpora.tree_files import trees_of

WORDS = {
    "markup": ["<script>alert(1)</script>", "&amp;", "</td>", "<!--", "]]>", "\\textbf{x}"],
    "braces": "{wildcard} {{x}} {input} %(x)s %s $HOME `id` $(id) <results>".split(),
    "quotes": ['"', "'", '""', "\\n", "\\", ";", "--", "|", "=1+1", "@x", "#"],
    "control characters": ["a\x07b", "\x1b[31mred", "x\x08y", "a\x7fb", "the\x01"],
    "right to left": ["שלום", "العربية", "\u202egnirts", "\u200fa", "١٢٣"],
    "joined characters": [
        "e\u0301",
        "👩\u200d👩\u200d👧",
        "ﬁ",
        "Å",
        "ｆｕｌｌ",
        "ß",
        "İ",
        "\ufffd",
    ],
    "unseen characters": ["a\u200bb", "\ufeffthe", "co\u00adop", "a\u2060b"],
    "long words": ["a" * 5000, "ab" * 60, "é" * 300, "-" * 1000],
    "special tokens": ["[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "##s"],
}


@pytest.fixture(scope="module")
def tokenizer(tiny_model_dir: Path) -> AutoTokenizer:
    return AutoTokenizer.from_pretrained(tiny_model_dir, trust_remote_code=False)


@pytest.mark.parametrize("kind", WORDS)
def test_words_of_trees_are_those_of_the_file_and_stay_aligned(
    tmp_path: Path, tokenizer: AutoTokenizer, kind: str
) -> None:
    """Each word's wordpieces are those that the tokenizer makes of the word alone."""
    words = ["the", *(word for hostile in WORDS[kind] for word in (hostile, "city"))]
    rows = [f"{n}\t{word}\t_\tNN\tNN\t_\t{n - 1}\tdep\t_\t_" for n, word in enumerate(words, 1)]
    path = tmp_path / "a.conllx"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    ((_, tree),) = trees_of(path, "auto")
    assert list(tree.words) == words
    assert tree.heads == tuple(range(-1, len(words) - 1))
    write_records(tmp_path / "a.jsonl", [tree])
    assert read_trees(tmp_path / "a.jsonl") == [tree]
    example = to_example(tree, "d")
    write_records(tmp_path / "e.jsonl", [example])
    assert read_examples(tmp_path / "e.jsonl") == [example]
    (tokens,) = tokenize([example], tokenizer, 10_000, 10_000)
    assert tokens.n_words == len(words)
    for number, word in enumerate(words):
        pieces = tokenizer.convert_ids_to_tokens(tokens.ids[tokens.word == number].tolist())
        assert pieces == tokenizer.tokenize(word, split_special_tokens=True), word
    assert tokenizer.convert_ids_to_tokens(tokens.ids[tokens.word < 0].tolist()) == [
        "[CLS]",
        "[SEP]",
    ]
