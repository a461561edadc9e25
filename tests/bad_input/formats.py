"""The formats that readers take: a valid file of each, what is read of it, and the same plainly.

The plain readings are strict about nothing and use none of the readers' code: what a reader gives
must be what they give.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import defusedxml.ElementTree
import pandas as pd

from workflow_scripts.core.data.tasks import ARCT_TEXTS, TASKS
from workflow_scripts.corpora.frame_files import sentences_of
from workflow_scripts.corpora.mention_files import texts_of
from workflow_scripts.corpora.segments import articles_of_file
from workflow_scripts.corpora.tree_files import trees_of
from workflow_scripts.corpora.word_vectors import from_glove
from workflow_scripts.tasks import arct_files
from workflow_scripts.tasks.glue_files import read_tsv

Records = list[tuple]


@dataclass(frozen=True)
class Format:
    """A valid file, called `name`; what the reader and the plain reading make of it."""

    name: str
    valid: str
    read: Callable[[Path], Records]
    plainly: Callable[[str], Records]


def lines_of(text: str) -> list[str]:
    """The lines, as \\n ends them; the carriage returns before it belong to the end."""
    lines = text.removeprefix("\ufeff").split("\n")
    return [line.rstrip("\r") for line in (lines if lines[-1] else lines[:-1])]


def glue(name: str) -> tuple[Callable[[Path], Records], Callable[[str], Records]]:
    task = TASKS[name]

    def read(path: Path) -> Records:
        return [
            (*row["texts"], task.labels[int(row["label"])] if task.labels else row["label"])
            for row in read_tsv(path, task).rows
        ]

    def plainly(text: str) -> Records:
        rows = [line.split("\t") for line in lines_of(text)]
        names = list(task.columns) or rows.pop(0)
        texts = [names.index(column) for column in task.texts]
        label = names.index(task.label)
        return [
            (*(row[k] for k in texts), row[label] if task.labels else float(row[label]))
            for row in rows
        ]

    return read, plainly


def arct_read(path: Path) -> Records:
    return [
        (row["id"], *(row[column] for column in ARCT_TEXTS), str(row["label"]))
        for row in arct_files.read_points(path)
    ]


def arct_plainly(text: str) -> Records:
    names, *rows = [line.split("\t") for line in lines_of(text)]
    columns = [names.index(column) for column in ARCT_TEXTS]
    id_, label = names.index("#id"), names.index("correctLabelW0orW1")
    return [(row[id_], *(" ".join(row[k].split()) for k in columns), row[label]) for row in rows]


def trees_read(form: str) -> Callable[[Path], Records]:
    def read(path: Path) -> Records:
        return [(tree.words, tree.heads, tree.relations) for _, tree in trees_of(path, form)]

    return read


def trees_plainly(form: str) -> Callable[[str], Records]:
    """Word, head and relation of each word's line, sentence by sentence."""

    def columns(line: str) -> tuple[str, int, str] | None:
        if form == "clark":
            word, link = line.strip().rsplit(" ", 1)
            head, _, relation = link.partition("-")
            return word, int(head) - 1, relation
        fields = line.split("\t")
        if form == "dp":
            return fields[0], int(fields[2]) - 1, ""
        if not fields[0].isdecimal():
            return None
        return fields[1], int(fields[6]) - 1, "" if fields[7] == "_" else fields[7]

    def plainly(text: str) -> Records:
        sentences: list[list[tuple]] = [[]]
        for line in lines_of(text):
            if not line.strip():
                sentences.append([])
            elif form in ("dp", "clark") or not (line.startswith("#") and "\t" not in line):
                row = columns(line)
                sentences[-1] += [row] if row else []
        return [
            (
                tuple(" ".join(word.split()) for word, _, _ in rows),
                tuple(head for _, head, _ in rows),
                tuple(relation for _, _, relation in rows),
            )
            for rows in sentences
            if rows
        ]

    return plainly


def mentions_read(form: str) -> Callable[[Path], Records]:
    def read(path: Path) -> Records:
        return [
            (tuple(text.words), sorted((span.start, span.end, span.chain) for span in text.spans))
            for text in texts_of(path, form)
        ]

    return read


def mentions_plainly(form: str) -> Callable[[str], Records]:
    """Words and mentions of each document, from its words' lines."""

    def plainly(text: str) -> Records:
        documents: list[list[tuple[str, str]]] = []
        for line in lines_of(text):
            if re.match(r"#\s*begin document", line):
                documents.append([])
            elif line.strip() and not line.startswith("#"):
                fields = (
                    re.split("[ \t]+", line.strip()) if form == "conll2012" else line.split("\t")
                )
                word, cell = fields[1 if form == "gum" else 3], fields[-1].strip()
                if not documents:
                    documents.append([])
                documents[-1].append((" ".join(word.split()), "" if cell in ("_", "-") else cell))
        return [
            (tuple(word for word, _ in rows), sorted(spans([cell for _, cell in rows])))
            for rows in documents
            if rows
        ]

    return plainly


def spans(cells: list[str]) -> Records:
    """The mentions of brackets, read character by character; a chain's innermost closes first."""
    found, waiting = [], {}
    for word, cell in enumerate(cells):
        tokens = re.findall(r"[()]|[^()|]+", cell)
        for before, name, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
            if name in "()":
                continue
            if before == "(":
                waiting.setdefault(name, []).append(word)
            if after == ")":
                found.append((waiting[name].pop(), word + 1, name))
    return found


def frames_read(path: Path) -> Records:
    return [
        (item.text, item.frame, item.targets, sorted(item.elements + item.others))
        for item in sentences_of(path)
    ]


def frames_plainly(text: str) -> Records:
    space = "{http://framenet.icsi.berkeley.edu}"
    root = defusedxml.ElementTree.fromstring(text.removeprefix("\ufeff"))
    found = []
    for sentence in root.iter(f"{space}sentence"):
        for annotation in sentence.iter(f"{space}annotationSet"):
            layers: dict[str, list] = {"Target": [], "FE": []}
            for layer in annotation.iter(f"{space}layer"):
                for label in layer.iter(f"{space}label"):
                    if layer.get("name") in layers and not label.get("itype"):
                        place = int(label.get("start", "")), int(label.get("end", "")) + 1
                        layers[layer.get("name", "")].append((label.get("name"), place))
            targets = tuple(place for _, place in layers["Target"])
            words = sentence.findtext(f"{space}text")
            if targets:
                found.append((words, root.get("frame"), targets, sorted(layers["FE"])))
    return found


def text_read(form: str) -> Callable[[Path], Records]:
    """The paragraphs, and the number of lines that are read or left out."""

    def read(path: Path) -> Records:
        articles = list(articles_of_file(path, form))
        texts = [paragraph.text for article in articles for paragraph in article.paragraphs]
        return [(len(texts) + sum(article.left_out for article in articles), tuple(texts))]

    return read


def text_plainly(text: str) -> Records:
    lines = [line.strip() for line in lines_of(text) if line.strip()]
    return [(len(lines), tuple(lines))]


def prose_plainly(text: str) -> Records:
    runs = groupby(lines_of(text), lambda line: not line.strip())
    texts = [" ".join(map(str.strip, lines)) for blank, lines in runs if not blank]
    return [(len(texts), tuple(texts))]


def jsonl_plainly(text: str) -> Records:
    return table_plainly([json.loads(line)["text"] for line in lines_of(text)])


def csv_plainly(text: str) -> Records:
    names, *rows = [row for row in csv.reader(f"{line}\n" for line in lines_of(text)) if row] or [
        []
    ]
    return table_plainly([dict(zip(names, row, strict=True))["text"] for row in rows])


def table_plainly(cells: list[str | None]) -> Records:
    lines = [line.strip() for cell in cells for line in (cell or "").splitlines() if line.strip()]
    return [(len(lines), tuple(lines))]


def wikitext_plainly(text: str) -> Records:
    lines = [line for line in lines_of(text) if line.strip()]
    marks = (" =" * level for level in range(1, 6))
    headings = [rf" ?{mark.strip()} (?!=).+{mark} ?" for mark in marks]
    kept = [line for line in lines if not any(re.fullmatch(form, line) for form in headings)]
    texts = (re.sub(r" @([-,.])@ ", r"\1", line.strip()) for line in kept)
    return [(len(lines), tuple(texts))]


def vectors_read(path: Path) -> Records:
    words, matrix = from_glove(path, Counter())
    return [(word, tuple(row.tolist())) for word, row in zip(words, matrix, strict=True)]


def vectors_plainly(text: str) -> Records:
    lines = lines_of(text)
    if re.fullmatch(r"[0-9]+ [0-9]+ *", lines[0]):  # word2vec's header
        size, lines = int(lines[0].split()[1]), lines[1:]
    else:
        size = len(lines[0].rstrip(" ").split(" ")) - 1
    vectors: dict[str, tuple] = {}
    for line in lines:
        fields = line.rstrip(" ").split(" ")
        row = pd.Series(fields[-size:]).astype("float32").tolist()
        vectors.setdefault(" ".join(fields[:-size]), tuple(row))
    return list(vectors.items())


def mrpc(rows: list[str]) -> str:
    return "\n".join(["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows]) + "\n"


FRAMENET = """<?xml version="1.0" encoding="UTF-8"?>
<lexUnit xmlns="http://framenet.icsi.berkeley.edu" ID="7" frame="Giving" name="give.v">
  <header><frame><FE type="Core" name="Donor"/><FE type="Peripheral" name="Time"/></frame></header>
  <subCorpus name="a">
    <sentence ID="1"><text>Anna gave bread &amp; milk today .</text>
      <annotationSet status="MANUAL"><layer name="Target"><label start="5" end="8" name="Target"/>
      </layer><layer name="FE"><label start="0" end="3" name="Donor"/>
      <label itype="DNI" name="Recipient"/><label start="23" end="27" name="Time"/></layer>
      </annotationSet></sentence>
    <sentence ID="2"><text>Bob gave .</text>
      <annotationSet status="MANUAL"><layer name="Target"><label start="4" end="7" name="Target"/>
      </layer><layer name="FE"><label start="0" end="2" name="Donor"/></layer>
      </annotationSet></sentence>
  </subCorpus>
</lexUnit>
"""
CONLL = (
    "1\tThe\t_\tDT\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\tNN\tNN\t_\t3\tnsubj\t_\t_\n"
    "3\tran\t_\tVB\tVB\t_\t0\troot\t_\t_\n\n1\tIt\t_\tPR\tPR\t_\t2\tnsubj\t_\t_\n"
    "2\tate\t_\tVB\tVB\t_\t0\troot\t_\t_\n\n"
)
CONLLU = (
    "# newdoc id = one\n# text = The dog's\n1\tThe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n"
    "2-3\tdog's\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n"
    "3\t's\t_\tPART\tPOS\t_\t2\tcase\t_\t_\n3.1\tran\t_\tVERB\tVB\t_\t_\t_\t2:dep\t_\n\n"
)
GUM = (
    "# begin document one\n0\tAnna\t(1\n1\tKeller\t1)\n2\tsaw\t_\n3\ther\t(2(1)\n4\tdog\t2)\n"
    "# end document\n"
)
LITBANK = "#begin document (one); part 0\n" + "".join(
    f"one\t0\t{k}\t{word}" + "\t_" * 8 + f"\t{cell}\n"
    for k, word, cell in [(0, "Anna", "(1"), (1, "Keller", "1)"), (2, "saw", ""), (3, "her", "(1)")]
)
LITBANK += "\none\t0\t0\tWell" + "\t_" * 8 + "\t\n#end document\n"
ONTONOTES = "#begin document (one); part 000\n" + "".join(
    f"one   0   {k}   {word}   {tag}   (S*   -   -   -   A   *   {cell}\n"
    for k, word, tag, cell in [(0, "Anna", "NNP", "(1)"), (1, "saw", "VBD", "-")]
)
ONTONOTES += (
    "\none 0 0 Her PRP * - - - A * (1)|(2\none 0 1 dog NN * - - - A * 2)\n\n#end document\n"
)
HEADER = "\t".join(
    ["#id", "warrant0", "warrant1", "correctLabelW0orW1", "reason", "claim", "title", "info"]
)
POINTS = (
    f'{HEADER}\na\tit "is" so\tit is not\t0\tRain.\tGo  out\tT\tI\n'
    "b\tyes\tno\t1\tSun.\tStay\tT\tI\n"
)
WIKITEXT = (
    " = Head = \r\n \r\n One @-@ two , three . \r\n \r\n = = Part = = \r\n \r\n Four five . \r\n"
)

READERS = {"text": text_read, "treebank": trees_read, "coreference": mentions_read}


def keyed(key: str, name: str, valid: str, plainly: Callable[[str], Records]) -> Format:
    """A format of corpora, by the kind of source and the format's name in a study."""
    kind, form = key.split(".")
    return Format(name, valid, READERS[kind](form), plainly)


FORMATS = {
    "GLUE with a header": Format(
        "train.tsv", mrpc(['1\t2\t3\tA "b" c\tD e', "0\t4\t5\tF\tG"]), *glue("mrpc")
    ),
    "GLUE without a header": Format(
        "train.tsv", "gj04\t1\t\tOur friends .\nks08\t0\t*\tThem go .\n", *glue("cola")
    ),
    "ARCT": Format("dev-full.txt", POINTS, arct_read, arct_plainly),
    "CoNLL-X": keyed("treebank.conllx", "a.conllx", CONLL, trees_plainly("conllx")),
    "CoNLL-U": keyed("treebank.conllu", "a.conllu", CONLLU, trees_plainly("conllu")),
    "NLTK's trees": keyed(
        "treebank.dp",
        "a.dp",
        "The\tDT\t2\ndog\tNN\t0\n\nIt\tPRP\t2\nran\tVB\t0\n",
        trees_plainly("dp"),
    ),
    "trees of words": keyed(
        "treebank.clark",
        "a.txt",
        "The 2-det\ndog 0-root\n\nIt 2-nsubj\nran 0-root\n",
        trees_plainly("clark"),
    ),
    "GUM": keyed("coreference.gum", "a.conll", GUM, mentions_plainly("gum")),
    "LitBank": keyed("coreference.litbank", "a.conll", LITBANK, mentions_plainly("litbank")),
    "CoNLL-2012": keyed(
        "coreference.conll2012", "a.v4_gold_conll", ONTONOTES, mentions_plainly("conll2012")
    ),
    "FrameNet": Format("lu7.xml", FRAMENET, frames_read, frames_plainly),
    "WikiText": keyed("text.wikitext", "wiki.raw", WIKITEXT, wikitext_plainly),
    "prose": keyed("text.prose", "a.txt", "One\ntwo.\n\nThree.\n", prose_plainly),
    "JSON lines": keyed(
        "text.jsonl", "a.jsonl", '{"text": "a\\nb"}\n{"text": null}\n', jsonl_plainly
    ),
    "CSV": keyed("text.csv", "a.csv", 'id,text\n1,"a, b\nc"\n\n2,d\n', csv_plainly),
    "plain text": keyed("text.plain", "a.txt", "One two.\nThree.\n\nFour.\n", text_plainly),
    "GloVe": Format(
        "v.txt", "the 0.5 -1e-3 2\n. . 1 2 3\nthe 1 1 1\n", vectors_read, vectors_plainly
    ),
}
