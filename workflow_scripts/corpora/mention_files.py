"""Coreference in GUM's two formats, LitBank's and CoNLL-2012's: words with brackets.

All four write a mention as an opening and a closing bracket with the name of its chain; they
differ in the columns around them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.data.trees import ROOT, Tree
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.corpora.tree_files import trees_of

FEWEST = {"gum": 3, "litbank": 13, "conll2012": 12}
BRACKET = re.compile(r"\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\)|(\|)")
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
ESCAPES |= {"/.": ".", "/?": "?", "/-": "-"}
ENTITY = "global.Entity"
# Of an opening bracket: the chain, and the place of the head word from 1 where it is known.
Split = Callable[[str], tuple[str, int | None]]


@dataclass
class Span:
    """A mention as a file gives it: words `start` to `end` (exclusive); `head` where it says so."""

    start: int
    end: int
    chain: str
    head: int | None = None


@dataclass
class Text:
    """A document as a file gives it; `tags`, `starts` (of sentences) and `heads` may be missing."""

    document: str
    source: str
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


class Brackets:
    """Spans of one document, from the brackets of its words."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.spans: list[Span] = []
        self._open: dict[str, list[tuple[int, int, int | None]]] = defaultdict(list)

    def add(self, word: int, cell: str, line: int, split: Split) -> None:
        """Read the brackets of one word; `split` gives a bracket's chain and its head's place."""
        matches = list(BRACKET.finditer(cell))
        if "".join(match[0] for match in matches) != cell:
            raise self._error(line, f"{cell!r} is not a list of brackets")
        for match in matches:
            single, opening, closing = match[1], match[2], match[3]
            if single or opening:
                chain, place = split(single or opening)
                head = None if place is None else word + place - 1
                self._open[chain].append((word, line, head))
            if single or closing:
                self._close(split(single)[0] if single else closing, word, line)

    def _close(self, chain: str, word: int, line: int) -> None:
        if not self._open[chain]:
            raise self._error(line, f"mention {chain} is closed, but was not opened")
        start, opened, head = self._open[chain].pop()
        if head is not None and head > word:
            raise self._error(opened, f"the head of mention {chain} lies outside of it")
        self.spans.append(Span(start, word + 1, chain, head))

    def finish(self) -> list[Span]:
        """All spans. Raises InputError where a bracket is still open."""
        for chain, rest in self._open.items():
            if rest:
                raise self._error(rest[-1][1], f"mention {chain} is opened, but never closed")
        return self.spans

    def _error(self, line: int, what: str) -> InputError:
        return InputError(f"{self.file}:{line}: {what}; mend the brackets")


def texts_of(path: Path, form: str, trees: str | None = None) -> Iterator[Text]:
    """The documents at `path`, a file or a directory.

    `form` is gum, conllu, conll2012, litbank or auto. `trees` is a treebank of the same documents
    and tokens, found by name. Raises InputError, with file and line, for malformed input.
    """
    beside = _trees_by_document(Path(trees)) if trees else None
    found = 0
    for file in _files(path):
        kind = _guess(file) if form == "auto" else form
        for text in _conllu(file) if kind == "conllu" else _columns(file, kind):
            if beside is not None:
                _add_trees(text, beside, trees)
            found += 1
            yield text
    if not found:
        raise InputError(f"{path}: no document; give coreference files or correct format")


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or directory; correct the path")
    found = sorted(one for one in path.rglob("*") if one.name.endswith(("conll", ".conllu")))
    if not found:
        raise InputError(f"{path}: no .conll, _gold_conll or .conllu file; put one there")
    return found


def _guess(file: Path) -> str:
    """The format, by the file's name and its first line of columns."""
    if file.suffix == ".conllu":
        return "conllu"
    if file.name.endswith("_gold_conll"):
        return "conll2012"
    for number, line in read_lines(file):
        if line.strip() and not line.startswith("#"):
            columns = line.count("\t") + 1
            if columns in (FEWEST["gum"], FEWEST["litbank"]):
                return "gum" if columns == FEWEST["gum"] else "litbank"
            if len(line.split()) >= FEWEST["conll2012"]:
                return "conll2012"
            raise InputError(f"{file}:{number}: unknown columns; set format of this corpus")
    raise InputError(f"{file}: empty; remove it")


def _columns(file: Path, form: str) -> Iterator[Text]:
    """Documents between `begin document` and `end document` lines, one word a line."""
    text: Text | None = None
    brackets = Brackets(file)
    fresh = True
    for number, line in read_lines(file):
        if not line.strip():
            fresh = True
        elif re.match(r"#\s*begin document", line):
            if text:
                yield _finished(text, brackets)
            name = line.split("document", 1)[1].strip() or file.stem
            text, brackets, fresh = Text(name, f"{file}:{number}"), Brackets(file), True
        elif line.startswith("#"):
            continue  # end document, and other comments
        else:
            text = text or Text(file.stem, f"{file}:{number}")
            word, tag, cell = _cells(file, number, line, form, len(text.words))
            if fresh and form != "gum":
                text.starts.append(len(text.words))
            fresh = False
            brackets.add(len(text.words), cell, number, lambda name: (name, None))
            text.words.append(word)
            text.tags.append(tag)
    if text:
        yield _finished(text, brackets)


def _finished(text: Text, brackets: Brackets) -> Text:
    text.spans = brackets.finish()
    if not all(text.tags):
        text.tags = []
    return text


def _cells(file: Path, number: int, line: str, form: str, before: int) -> tuple[str, str, str]:
    """Word, tag and brackets of a line."""
    fields = line.split() if form == "conll2012" else line.split("\t")
    wrong = len(fields) < FEWEST[form] if form == "conll2012" else len(fields) != FEWEST[form]
    if wrong:
        raise InputError(
            f"{file}:{number}: {len(fields)} columns, {form} has {FEWEST[form]}; mend the line"
        )
    index, word = (fields[0], fields[1]) if form == "gum" else (fields[2], fields[3])
    if not index.isdigit():
        raise InputError(f"{file}:{number}: index {index!r} is not a number; mend the line")
    if form == "gum" and int(index) != before:
        raise InputError(f"{file}:{number}: index {index}, {before} expected; mend the line")
    word = "".join(word.split())
    if not word:
        raise InputError(f"{file}:{number}: no word; mend the line")
    tag = "" if form == "gum" or fields[4] in ("_", "-", "") else fields[4]
    cell = "" if fields[-1].strip() in ("_", "-") else fields[-1].strip()
    return ESCAPES.get(word, word) if form == "conll2012" else word, tag, cell


def _conllu(file: Path) -> Iterator[Text]:
    """CoNLL-U whose MISC column holds `Entity=`; the trees are in the same file."""
    trees = _trees_by_document(file)
    names = iter(trees)
    text: Text | None = None
    brackets, split = Brackets(file), _entity(["GRP", "minspan"])
    for number, line in read_lines(file):
        if re.match(r"#\s*newdoc", line) or (text is None and line[:1].isdigit()):
            if text:
                yield _with_trees(text, brackets, trees)
            text, brackets = Text(next(names), f"{file}:{number}"), Brackets(file)
        if match := re.match(rf"#\s*{re.escape(ENTITY)}\s*=\s*(.+)", line):
            split = _entity(match[1].strip().split("-"))
        fields = line.split("\t")
        if line.startswith("#") or len(fields) != 10 or not fields[0].isdigit():
            continue
        misc = dict(item.partition("=")[::2] for item in fields[9].split("|"))
        brackets.add(len(text.words), misc.get("Entity", ""), number, split)
        text.words.append(fields[1])
    if text:
        yield _with_trees(text, brackets, trees)


def _entity(order: list[str]) -> Split:
    """Reads brackets such as 7-person-new-nnnnn-cf1-2-ana, whose fields are in `order`."""

    def split(bracket: str) -> tuple[str, int | None]:
        values = dict(zip(order, bracket.split("-"), strict=False))
        first = (values.get("minspan") or values.get("head") or "").split(",")[0]
        return bracket.split("-")[0], int(first) if first.isdigit() and int(first) > 0 else None

    return split


def _with_trees(text: Text, brackets: Brackets, trees: dict[str, list[Tree]]) -> Text:
    text.spans = brackets.finish()
    _add_trees(text, trees, "")
    return text


def _trees_by_document(path: Path) -> dict[str, list[Tree]]:
    found: dict[str, list[Tree]] = {}
    for document, tree in trees_of(path, "auto"):
        found.setdefault(document, []).append(tree)
    return found


def _add_trees(text: Text, beside: dict[str, list[Tree]], place: str) -> None:
    """Give `text` the sentences, tags and heads of the trees of the same name."""
    if text.document not in beside:
        raise InputError(f"{text.source}: no tree of {text.document} in {place}; add it")
    words: list[str] = []
    text.heads, text.tags, text.relations, text.starts = [], [], [], []
    for tree in beside[text.document]:
        text.starts.append(len(words))
        text.heads += [ROOT if head == ROOT else head + len(words) for head in tree.heads]
        text.tags += tree.tags
        text.relations += tree.relations
        words += tree.words
    own = ["".join(word.split()) for word in text.words]
    if own != words:
        pairs = zip(own, words, strict=False)
        at = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(own), len(words)))
        raise InputError(
            f"{text.source}: word {at} of {text.document} is not that of its tree in {place} "
            f"({own[at : at + 1]} and {words[at : at + 1]}); give trees of the same tokens"
        )
    text.words = words
