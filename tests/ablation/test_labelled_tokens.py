"""A classifier of tokens with heads disabled, against transformers' own pass with hooks."""

import json
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForTokenClassification, AutoTokenizer

from tests.ablation.test_masked_tokens import RUN, without
from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS, enlarge, tokenizer, write_card
from workflow_scripts.ablation import next_token_sweep
from workflow_scripts.core.data import tables
from workflow_scripts.core.errors import InputError

LABELS = ["O", "B-PER", "B-LOC"]
# Two documents; words of several pieces, of which the first has the label.
CONLL = """-DOCSTART- -X- O

the DT O
king NN B-PER
runs VB O
. . O

rivers NN B-LOC

-DOCSTART- -X- O
she PR B-PER
flowing VB O
"""
WORDS = [["the", "king", "runs", "."], ["rivers"], ["she", "flowing"]]
TAGS = [["O", "B-PER", "O", "O"], ["B-LOC"], ["B-PER", "O"]]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as people have it: saved by transformers alone."""
    folder = tmp_path_factory.mktemp("tagger")
    torch.manual_seed(0)
    config = deepcopy(ARCHITECTURES["bert"])
    config.id2label = dict(enumerate(LABELS))
    model = AutoModelForTokenClassification.from_config(config, trust_remote_code=False)
    enlarge(model).save_pretrained(folder / "bert")
    tokenizer().save_pretrained(folder / "bert")
    write_card(folder, folder / "bert")
    return folder


def swept(tagger: Path, text: str, name: str, **run: int) -> Path:
    (tagger / name).write_text(text, "utf-8")
    paths = tagger / "model.json", tagger / name, tagger / "losses.parquet"
    given = RUN | run | {"pass_tokens": 200, "labelled": True}
    next_token_sweep.main(*paths, {"head": ["zero"]}, **given)
    return paths[-1]


def test_every_head_is_disabled_as_by_a_hook(tagger: Path) -> None:
    found = tables.read(swept(tagger, CONLL, "dev.conll"))
    one, two = "document 1", "document 2"
    assert found["document"].tolist() == [one, one, two] * (1 + LAYERS * HEADS)
    by_head = found.set_index(["unit", "layer", "head", "id"])
    model = AutoModelForTokenClassification.from_pretrained(tagger / "bert").eval()
    reader = AutoTokenizer.from_pretrained(tagger / "bert")

    def nats(words: list[str], tags: list[str]) -> float:
        given = reader(words, is_split_into_words=True, return_tensors="pt")
        first = [given.word_ids().index(word) for word in range(len(words))]
        with torch.no_grad():
            logits = model(**given).logits[0, first]
        gold = torch.tensor([LABELS.index(tag) for tag in tags])
        return cross_entropy(logits, gold, reduction="sum").item()

    for at, (words, tags) in enumerate(zip(WORDS, TAGS, strict=True)):
        plain = by_head.loc["none", -1, -1, f"labels-{at:05d}"]
        assert plain["n_tokens"] == len(words)
        assert plain["nats"] == pytest.approx(nats(words, tags), abs=1e-4)
        for layer in range(LAYERS):
            for head in range(HEADS):
                with without(model, layer, head):
                    expected = nats(words, tags)
                row = by_head.loc["head", layer, head, f"labels-{at:05d}"]
                assert row["nats"] == pytest.approx(expected, abs=1e-4)
    assert found["nats"].nunique() > HEADS * LAYERS


def test_json_lines_hold_the_same_and_what_is_cut_off_is_not_scored(tagger: Path) -> None:
    rows = [{"tokens": words, "ner_tags": tags} for words, tags in zip(WORDS, TAGS, strict=True)]
    found = tables.read(swept(tagger, "\n".join(map(json.dumps, rows)), "dev.jsonl", max_tokens=4))
    assert found["document"][:3].tolist() == ["sentence 1", "sentence 2", "sentence 3"]
    assert found["n_tokens"][:3].tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.conll", "the\tO\n\nking\tB-ORG\n", "a.conll:3: label 'B-ORG' of 'king' is none of the"),
        ("b.conll", "the O\nking\n", "b.conll:2: 'king' is no word with a label; write both"),
        ("c.conll", "\n", "c.conll: no sentence"),
        ("d.jsonl", '{"tokens": ["a"], "tags": [1]}', "d.jsonl:1: tokens and labels are texts"),
        ("e.jsonl", '{"tokens": ["a"], "tags": []}', "e.jsonl:1: 1 tokens and 0 labels"),
    ],
)
def test_a_wrong_file_is_one_line(tagger: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        swept(tagger, text, name)
    assert words in str(error.value)
