"""Coreference in CoNLL-U: whatever order its fields have, and whatever carries its brackets."""

import re
from itertools import permutations
from pathlib import Path

import pandas as pd
import pytest

from tests.bad_input.corefud import COREFUD, MENTIONS, N_EMPTY, plainly
from tests.bad_input.refused import refused
from workflow_scripts.corpora import coreference_corpus
from workflow_scripts.corpora.mention_files import Text, texts_of

HEADER = "# global.Entity = entity-GRP-head\n"


def read(folder: Path, text: str) -> list[Text]:
    path = folder / "a.conllu"
    path.write_text(text, encoding="utf-8")
    return list(texts_of(path, "auto"))


def reordered(text: str, order: tuple[int, ...]) -> str:
    """The fields of the header and of the brackets in another order."""

    def moved(fields: re.Match) -> str:
        values = [*fields[0].split("-"), *[""] * len(order)]
        return "-".join(values[k] for k in order)

    text = re.sub(r"(?<=# global.Entity = ).+", moved, text)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        start, mark, misc = line.partition("Entity=")
        cell, bar, others = misc.partition("|")
        lines[number] = start + mark + re.sub(r"[^()]+-[^()]+", moved, cell) + bar + others
    return "\n".join(lines)


def test_brackets_of_every_kind(tmp_path: Path) -> None:
    """Parts of a mention, a multiword range and empty nodes; counted by hand."""
    (text,) = read(tmp_path, COREFUD)
    assert {(span.chain, span.start, span.end, span.head) for span in text.spans} == MENTIONS
    assert len(text.spans) == len(MENTIONS)
    assert (text.n_empty, text.n_discontinuous) == (N_EMPTY, 1)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(COREFUD, encoding="utf-8")
    paths = {name: tmp_path / name for name in ("documents", "annotation", "counts")}
    source = {"path": str(tmp_path / "a.conllu"), "format": "auto"}
    options = {"name": "one", "max_tokens": 40, "singletons": True}
    coreference_corpus.main(**paths, source=source, **options)
    counts = pd.read_csv(paths["counts"]).set_index("what")["n"].astype(str)
    assert counts["mentions read"] == str(len(MENTIONS) + N_EMPTY)
    assert counts["mentions of empty nodes left out"] == str(N_EMPTY)
    assert counts["discontinuous mentions read"] == "1"
    assert counts["mentions"] == str(len(MENTIONS))
    assert counts["mentions outside the words used"] == "0"


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_the_order_of_the_fields_changes_nothing(tmp_path: Path, order: tuple[int, ...]) -> None:
    expected, found = read(tmp_path, COREFUD), read(tmp_path, reordered(COREFUD, order))
    assert found[0].spans == expected[0].spans
    assert len({span.chain for span in found[0].spans}) == 6


def test_two_people_are_two_chains(tmp_path: Path) -> None:
    rows = "".join(
        f"{k}\t{word}\t_\tPROPN\tNNP\t_\t{k - 1}\tdep\t_\t{cell}\n"
        for k, (word, cell) in enumerate(
            [("Ann", "Entity=(person-1)"), ("met", "_"), ("Bo", "Entity=(person-2)")], 1
        )
    )
    (text,) = read(tmp_path, "# global.Entity = entity-GRP-infstat\n" + rows)
    assert [span.chain for span in text.spans] == ["1", "2"]
    refused(lambda: read(tmp_path, rows), "a.conllu:1: (person-1): fields that no line names")


def test_heads_count_empty_nodes_in_corefud_and_not_in_gum(tmp_path: Path) -> None:
    """As in GUM's textbook_labor, where `minspan` 5 of "one [product] or a few products" is 14."""
    gum = COREFUD.replace("GRP-head", "GRP-minspan").replace("(thing-6-2", "(thing-6-1")
    assert read(tmp_path, gum)[0].spans == read(tmp_path, COREFUD)[0].spans
    refused(lambda: read(tmp_path, gum.replace("(thing-6-1", "(thing-6-2")), "lies outside it")


def test_closing_brackets_may_repeat_the_fields(tmp_path: Path) -> None:
    """As those of GUM's version 2.8 do."""
    repeated = COREFUD.replace("Entity=6)", "Entity=thing-6)").replace("=4)", "=animal-4-1)")
    assert read(tmp_path, repeated)[0].spans == read(tmp_path, COREFUD)[0].spans


def test_the_head_of_a_discontinuous_mention_is_no_word_of_its_gap(tmp_path: Path) -> None:
    """By the tree, where the file names none: of "took her ... off" it is took."""
    headless = re.sub(r"\((\w+-[\d\[/\]]+)-\d", r"(\1", COREFUD.replace("GRP-head", "GRP"))
    (text,) = read(tmp_path, headless)
    (span,) = (span for span in text.spans if span.chain == "2")
    assert (span.start, span.end, span.head) == (1, 7, 1)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (HEADER, "", 2, "(person-1-1): fields that no line names; write `# global.Entity ="),
        ("entity-GRP", "entity-group", 2, "global.Entity has 0 fields of eid and GRP"),
        ("GRP-head", "GRP-eid", 2, "global.Entity has 2 fields of eid and GRP"),
        ("(person-1-1)", "(person-wsj-1-1)", 3, "4 fields, global.Entity names 3"),
        ("(person-1-1)", "(person-wsj-c1)", 3, "head 'c1' is no number from 1"),
        ("(person-1-1)", "(person-1-0)", 3, "head '0' is no number from 1"),
        ("(person-1-1)", "(person)", 3, "no GRP"),
        ("(person-1-1)", "(person--1)", 3, "no GRP"),
        ("Entity=(event-2[2/2]-1)", "_", 4, "mention 2 lacks its part 2 of 2"),
        ("(event-2[2/2]-1)", "(event-2[3/3]-1)", 11, "part 3 of 3 of mention 2 follows no part 2"),
        ("(event-2[2/2]-1)", "(event-2[3/2]-1)", 11, "part 3 of 2"),
        ("(event-2[2/2]-1)", "(event-2[2/2-1)", 11, "a part is written as e1[1/2]"),
        ("2[1/2])\n", "2)\n", 5, "mention 2 is closed but was not opened"),
        ("(animal-3)", "animal-3)", 6, "mention 3 is closed but was not opened"),
        ("(animal-3)", "(animal-3", 6, "mention 3 is opened but never closed"),
        ("(animal-3)", "(animal-3-3)", 6, "the head of mention 3 lies outside it"),
        ("(animal-3)", "(animal-3)|Entity=(animal-7)", 6, "2 times Entity="),
        ("(thing-6-2", "(thing-6-3", 9, "the head of mention 6 lies outside it"),
        ("4-5\tdog's", "4-5\tx" + "\t_" * 8 + "\n4-5\tdog's", 7, "index 4-5 after 3 words"),
    ],
)
def test_a_wrong_bracket_is_one_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in COREFUD
    refused(lambda: read(tmp_path, COREFUD.replace(old, new, 1)), f"a.conllu:{line}: ", words)


def test_documents_are_kept_apart_whatever_their_names(tmp_path: Path) -> None:
    unnamed = COREFUD.partition("\n")[2]
    texts = read(tmp_path, unnamed + "# newdoc\n" + unnamed + COREFUD)
    assert [text.document for text in texts] == ["a", "a'", "one"]
    assert [len(text.spans) for text in texts] == [len(MENTIONS)] * 3
    same = unnamed + "# newdoc id = a\n" + unnamed
    refused(lambda: read(tmp_path, same), "a.conllu:12: a second document a, as in")


def test_real_entities_in_another_order(tmp_path: Path, real_data: Path) -> None:
    gum = (real_data / "ud_gum/en_gum-ud-dev.conllu").read_text(encoding="utf-8")
    gum = gum[: gum.index("# newdoc", 1)]
    n_fields = 8
    moved = reordered(gum, (1, 0, *range(2, n_fields)))
    assert "# global.Entity = etype-GRP-infstat" in moved
    (expected,), (found,) = read(tmp_path, gum), read(tmp_path, moved)
    assert found.spans == expected.spans
    assert len({span.chain for span in found.spans}) > 100
    spans = sorted((span.start, span.end, span.chain) for span in found.spans)
    assert plainly(gum)[0][1] == spans
