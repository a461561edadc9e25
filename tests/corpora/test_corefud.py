"""Coreference in CoNLL-U: whatever order its fields have, and whatever carries its brackets."""

import re
from itertools import permutations
from pathlib import Path

import pytest

from tests.bad_input.refused import refused
from workflow_scripts.corpora.mention_files import Text, texts_of

HEADER = "# global.Entity = entity-GRP-head\n"
COREFUD = (
    "# newdoc id = one\n# global.Entity = entity-GRP-head\n"
    "1\tAnna\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\tEntity=(person-1-1)\n"
    "2\ttook\t_\tVERB\tVBD\t_\t0\troot\t_\tEntity=(event-2[1/2]-1\n"
    "3\ther\t_\tPRON\tPRP$\t_\t4\tposs\t_\tEntity=(person-1-1)event-2[1/2])\n"
    "4-5\tdog's\t_\t_\t_\t_\t_\t_\t_\tEntity=(animal-3)\n"
    "4\tdog\t_\tNOUN\tNN\t_\t2\tobj\t_\tEntity=(animal-4(animal-5-1)\n"
    "5\t's\t_\tPART\tPOS\t_\t4\tcase\t_\tEntity=4)\n"
    "5.1\tit\t_\tPRON\tPRP\t_\t_\t_\t2:obj\tEntity=(animal-3-1)(thing-6-2\n"
    "6\tcoat\t_\tNOUN\tNN\t_\t2\tobj\t_\tSpaceAfter=No|Entity=6)\n"
    "7\toff\t_\tADV\tRB\t_\t2\tadv\t_\tEntity=(event-2[2/2]-1)\n\n"
)
# Its mentions and their head words, counted by hand, and those of an empty node alone.
MENTIONS = {
    ("1", 0, 1, 0),
    ("1", 2, 3, 2),
    ("2", 1, 7, 1),  # "took her ... off"
    ("3", 3, 5, None),
    ("4", 3, 5, None),
    ("5", 3, 4, 3),
    ("6", 5, 6, 5),
}
N_EMPTY = 1


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


def test_the_order_of_the_fields_changes_nothing(tmp_path: Path) -> None:
    expected = read(tmp_path, COREFUD)
    for order in permutations(range(3)):
        assert read(tmp_path, reordered(COREFUD, order))[0].spans == expected[0].spans


def test_heads_count_empty_nodes_in_corefud_and_not_in_gum(tmp_path: Path) -> None:
    """As in GUM's textbook_labor, where `minspan` 5 of "one [product] or a few products" is 14."""
    gum = COREFUD.replace("GRP-head", "GRP-minspan").replace("(thing-6-2", "(thing-6-1")
    assert read(tmp_path, gum)[0].spans == read(tmp_path, COREFUD)[0].spans
    refused(lambda: read(tmp_path, gum.replace("(thing-6-1", "(thing-6-2")), "lies outside it")


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
        ("(person-1-1)", "(person-wsj-1-1)", 3, "4 fields, global.Entity names 3"),
        ("(person-1-1)", "(person-1-0)", 3, "head '0' is no number from 1"),
        ("(person-1-1)", "(person)", 3, "no GRP"),
        ("Entity=(event-2[2/2]-1)", "_", 4, "mention 2 lacks its part 2 of 2"),
        ("(event-2[2/2]-1)", "(event-2[3/2]-1)", 11, "part 3 of 2"),
        ("(animal-3)", "(animal-3-3)", 6, "the head of mention 3 lies outside it"),
    ],
)
def test_a_wrong_bracket_is_one_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in COREFUD
    refused(lambda: read(tmp_path, COREFUD.replace(old, new, 1)), f"a.conllu:{line}: ", words)


def test_real_entities_in_another_order(tmp_path: Path, real_data: Path) -> None:
    gum = (real_data / "ud_gum/en_gum-ud-dev.conllu").read_text(encoding="utf-8")
    gum = gum[: gum.index("# newdoc", 1)]
    n_fields = 8
    moved = reordered(gum, (1, 0, *range(2, n_fields)))
    assert "# global.Entity = etype-GRP-infstat" in moved
    (expected,), (found,) = read(tmp_path, gum), read(tmp_path, moved)
    assert found.spans == expected.spans
    assert len({span.chain for span in found.spans}) > 100
    cells = re.findall(r"Entity=([^|\n]+)", gum)
    assert len(found.spans) + found.n_empty == sum(cell.count("(") for cell in cells)
