"""Coreference in GUM's two formats, LitBank's and CoNLL-2012's: words with brackets.

CorefUD and Universal Anaphora, in the MISC column of CoNLL-U, also know fields after the chain's
name, mentions in several parts (`e1[1/2]`), and empty nodes, which stand for omitted words.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.data.annotations import COREFERENCE_ENDINGS, ROOT, Mention, Tree
from workflow_scripts.core.data.text_files import read_lines, whole_number
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.files import files_at
from workflow_scripts.corpora.tree_files import NEWDOC, trees_of

BRACKET = re.compile(r"\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\)|(\|)")
PART = re.compile(r"\[([0-9]{1,4})/([0-9]{1,4})\]")
ENTITY = "global.Entity"
CHAIN_FIELDS = ("eid", "GRP")
# Fields with the number of the head within the mention, of which the first that there is counts,
# and whether empty nodes are numbered, too: in CorefUD they are, in GUM not.
HEAD_FIELDS = {"head": True, "minspan": False, "MIN": False, "min": False}
N_COLUMNS = {"gum": 3, "litbank": 13, "conll2012": 12}  # at least so many in conll2012
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
ESCAPES |= {"/.": ".", "/?": "?", "/-": "-"}
HEADER = re.compile(rf"#\s*{re.escape(ENTITY)}\s*=\s*(.+)")


@dataclass
class Span:
    """A mention of a file: words `start` to `end` (exclusive), and its head word if it is known.

    Of a discontinuous mention, what stands between its parts is within.
    """

    start: int
    end: int
    chain: str
    head: int | None = None

    @property
    def words(self) -> range:
        """From the first word to the last."""
        return range(self.start, self.end)


class Name(NamedTuple):
    """What a bracket names: its chain, which word of the mention (from 1) is the head, the part.

    `with_empty` states whether empty nodes are numbered like words.
    """

    chain: str
    head: int | None = None
    with_empty: bool = False
    part: int = 1
    parts: int = 1


class Opened(NamedTuple):
    """An opened mention, or the parts of one: places of its words, and where it was opened."""

    places: list[int]
    line: int
    name: Name


# Reads what an opening bracket, or (True) a closing one, holds; raises ValueError.
Read = Callable[[str, bool], Name]


class Brackets:
    """The mentions of one document, whose words and empty nodes are added in order.

    `spans` has the mentions closed so far, `discontinuous` those of several parts with all their
    words, and `n_empty` counts the mentions of empty nodes alone, which have no word.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.spans: list[Span] = []
        self.discontinuous: list[tuple[Span, list[int]]] = []
        self.n_empty = 0
        self._words: list[int | None] = []  # of each place; none of an empty node
        self._open: dict[tuple[str, int, int], list[Opened]] = defaultdict(list)
        self._parts: dict[tuple[str, int], list[tuple[int, Opened]]] = defaultdict(list)
        self._later: list[tuple[int, Name, int]] = []

    def add(self, word: int | None, cell: str, line: int, read: Read) -> None:
        """A word, by its number, or an empty node (None), with the brackets in its `cell`."""
        self._words.append(word)
        for name, opens, closes in self._names(cell, line, read):
            if opens:
                self._opened(name, len(self._words) - 1, line)
            if closes:
                self._close(name, line)
        while self._later and self._later[0][0] == word:
            _, name, opened = self._later.pop(0)
            self._close(name, opened)

    def add_range(self, last: int, cell: str, line: int, read: Read) -> None:
        """Brackets of a range of words that are added next, up to the word `last`."""
        for name, opens, closes in self._names(cell, line, read):
            if opens:
                self._opened(name, len(self._words), line)
            if closes:
                self._later.append((last, name, line))

    def finish(self) -> list[Span]:
        """All spans. Raises InputError if a bracket is still open or a part is missing."""
        for unclosed in self._open.values():
            for _, line, name in unclosed:
                raise self._error(line, f"mention {name.chain} is opened but never closed")
        for waiting in self._parts.values():
            for part, (_, line, name) in waiting:
                what = f"mention {name.chain} lacks its part {part + 1} of {name.parts}"
                raise self._error(line, what)
        return self.spans

    def _names(self, cell: str, line: int, read: Read) -> Iterator[tuple[Name, bool, bool]]:
        """What each bracket names, and whether it opens and closes a mention."""
        matches = list(BRACKET.finditer(cell))
        if "".join(match[0] for match in matches) != cell:
            raise self._error(line, f"{cell!r} is not a list of brackets")
        for match in matches:
            single, opening, closing, _ = match.groups()
            if text := single or opening or closing:
                try:
                    yield read(text, bool(closing)), not closing, not opening
                except ValueError as error:
                    raise self._error(line, f"{match[0]}: {error}") from error

    def _opened(self, name: Name, place: int, line: int) -> None:
        self._open[name.chain, name.part, name.parts].append(Opened([place], line, name))

    def _close(self, name: Name, line: int) -> None:
        """Close a mention, or one of its parts, with the place that was added last."""
        chain, part, parts = name.chain, name.part, name.parts
        if not self._open[chain, part, parts]:
            raise self._error(line, f"mention {chain} is closed but was not opened")
        ((first,), opened, name) = self._open[chain, part, parts].pop()
        places = list(range(first, len(self._words)))
        waiting = self._parts[chain, parts]
        if part > 1:
            before = [item for item in waiting if item[0] == part - 1]
            if not before:
                raise self._error(opened, f"mention {chain} has part {part} without {part - 1}")
            waiting.remove(before[-1])
            _, (earlier, opened, name) = before[-1]
            places = earlier + places
        if part < parts:
            waiting.append((part, Opened(places, opened, name)))
        else:
            self._add(places, opened, name)

    def _add(self, places: list[int], line: int, name: Name) -> None:
        nodes = [self._words[place] for place in places]
        words = [word for word in nodes if word is not None]
        if not words:
            self.n_empty += 1
            return
        numbered = nodes if name.with_empty else words
        if name.head is not None and name.head > len(numbered):
            raise self._error(line, f"the head of mention {name.chain} lies outside it")
        head = None if name.head is None else numbered[name.head - 1]
        span = Span(words[0], words[-1] + 1, name.chain, head)
        self.spans.append(span)
        if name.parts > 1:
            self.discontinuous.append((span, words))

    def _error(self, line: int, what: str) -> InputError:
        return InputError(f"{self.file}:{line}: {what}; fix the brackets")


def undeclared(text: str, closes: bool) -> Name:
    """Reads brackets of CoNLL-U where no line declares their fields: only chains may stand there.

    Raises ValueError for others: the first field may be the type, which other entities share.
    """
    if "-" in text:
        raise ValueError(f"fields that no line names; write `# {ENTITY} = ` and their names above")
    return declared([CHAIN_FIELDS[0]])(text, closes)


def declared(order: list[str]) -> Read:
    """Reads brackets such as 7-person-new-nnnnn-cf1-2-ana, whose fields are in `order`.

    A closing bracket may hold its chain alone. Raises ValueError if not one field names the chain.
    """
    chains = [k for k, field in enumerate(order) if field in CHAIN_FIELDS]
    if len(chains) != 1:
        raise ValueError(f"{len(chains)} fields of {' and '.join(CHAIN_FIELDS)}; name one of them")
    heads = [order.index(field) for field in HEAD_FIELDS if field in order]
    with_empty = any(HEAD_FIELDS[order[k]] for k in heads[:1])

    def read(text: str, closes: bool) -> Name:
        written = PART.search(text)
        part, parts = map(int, written.groups()) if written else (1, 1)
        if not 1 <= part <= parts:
            raise ValueError(f"part {part} of {parts}")
        values = PART.sub("", text, count=1).split("-")
        if closes and len(values) == 1:
            values = [""] * chains[0] + values
        if len(values) > len(order):
            raise ValueError(f"{len(values)} fields, {ENTITY} names {len(order)}")
        if len(values) <= chains[0] or not values[chains[0]]:
            raise ValueError(f"no {order[chains[0]]}")
        if set("[]") & set(values[chains[0]]):
            raise ValueError("a part is written as e1[1/2]")
        first = next((values[k].split(",")[0] for k in heads[:1] if k < len(values)), "")
        if first and not whole_number(first):
            raise ValueError(f"head {first!r} is no number from 1")
        return Name(values[chains[0]], whole_number(first), with_empty, part, parts)

    return read


@dataclass
class Text:
    """A document of a file; `tags`, `starts` (of sentences), `heads`, `relations` may be empty.

    `n_empty` mentions of it have no word and are no spans; `n_discontinuous` spans have a gap.
    """

    document: str
    source: str
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    n_empty: int = 0
    n_discontinuous: int = 0


def texts_of(path: Path, form: str, trees: str | None = None) -> Iterator[Text]:
    """The documents at `path`, a file or a directory.

    `form` is gum, conllu, conll2012, litbank or auto. `trees` is a treebank of the same documents
    and tokens, found by name. Raises InputError, with file and line, for malformed input and for a
    second document of one name.
    """
    treebank = _trees_by_document(Path(trees)) if trees else None
    seen: dict[str, str] = {}  # where each document begins
    for file in files_at(path, COREFERENCE_ENDINGS):
        kind = _guess(file) if form == "auto" else form
        for text in _conllu(file, seen) if kind == "conllu" else _columns(file, kind, seen):
            if treebank is not None and text.words:
                _add_trees(text, treebank, trees)
            yield text
    if not seen:
        raise InputError(f"{path}: no document; use coreference files or correct format")


def _guess(file: Path) -> str:
    if file.suffix == ".conllu":
        return "conllu"
    if file.name.endswith("_gold_conll"):
        return "conll2012"
    for number, line in read_lines(file):
        if line.strip() and not line.startswith("#"):
            for form in ("gum", "litbank"):
                if line.count("\t") + 1 == N_COLUMNS[form]:
                    return form
            if len(line.split()) >= N_COLUMNS["conll2012"]:
                return "conll2012"
            raise InputError(f"{file}:{number}: unknown columns; set format of this corpus")
    raise InputError(f"{file}: empty; remove it")


def _begun(name: str, where: str, seen: dict[str, str]) -> Text:
    """The document that begins at `where`, which is then `seen`."""
    _check_new(name, where, seen)
    seen[name] = where
    return Text(name, where)


def _check_new(name: str, where: str, seen: dict[str, str]) -> None:
    if name in seen:
        raise InputError(
            f"{where}: a second document {name}, as in {seen[name]}; keep one file of "
            "each document, such as those that end in _gold_conll"
        )


def _columns(file: Path, form: str, seen: dict[str, str]) -> Iterator[Text]:
    """Documents between `begin document` and `end document` lines, one word per line."""
    text: Text | None = None
    brackets = Brackets(file)
    starts_sentence, ended = True, False
    begun = ""  # file and line at which the current document begins
    for number, line in read_lines(file):
        where = f"{file}:{number}"
        if not line.strip():
            starts_sentence = True
        elif re.match(r"#\s*begin document", line):
            if text:
                yield _finished(text, brackets, begun)
            name = line.split("document", 1)[1].strip() or file.stem
            text, brackets, begun = _begun(name, where, seen), Brackets(file), where
            starts_sentence = True
        elif re.match(r"#\s*end document", line):
            if text is None:
                raise InputError(f"{where}: the end of no document; copy the file again")
            yield _finished(text, brackets)
            text, begun, ended = None, "", True
        elif line.startswith("#"):
            continue  # another comment
        else:
            if text is None:
                if ended:
                    raise InputError(f"{where}: a word outside a document; copy the file again")
                text, brackets = _begun(file.stem, where, seen), Brackets(file)
            if starts_sentence and form != "gum":
                text.starts.append(len(text.words))
            starts_sentence = False
            n_before = len(text.words) - (text.starts[-1] if text.starts else 0)
            word, tag, cell = _cells(where, line, form, n_before)
            brackets.add(len(text.words), cell, number, lambda chain, _: Name(chain))
            text.words.append(word)
            text.tags.append(tag)
    if text:
        yield _finished(text, brackets, begun)


def _finished(text: Text, brackets: Brackets, begun: str = "") -> Text:
    """The text with its mentions; `begun` is where a document begins that has no end."""
    if begun:
        raise InputError(f"{begun}: this document has no `end document` line; copy the file again")
    text.spans = brackets.finish()
    if not all(text.tags):
        text.tags = []
    return text


def _cells(where: str, line: str, form: str, n_before: int) -> tuple[str, str, str]:
    """Word, tag and brackets of the line at `where`.

    `n_before` words of its sentence, in gum's format of its document, stand before it.
    """
    fields = re.split("[ \t]+", line.strip()) if form == "conll2012" else line.split("\t")
    expected = N_COLUMNS[form]
    if len(fields) < expected or (len(fields) > expected and form != "conll2012"):
        raise InputError(f"{where}: {len(fields)} columns, {form} has {expected}; fix the line")
    index, word = (fields[0], fields[1]) if form == "gum" else (fields[2], fields[3])
    if index != str(n_before):
        raise InputError(f"{where}: index {index}, {n_before} expected; fix the line")
    word = " ".join(word.split())
    if not word:
        raise InputError(f"{where}: no word; fix the line")
    if word == "[WORD]" and form == "conll2012":
        raise InputError(f"{where}: a skeleton without words; fill it with skeleton2conll")
    tag = "" if form == "gum" or fields[4] in ("_", "-", "") else fields[4]
    cell = "" if fields[-1].strip() in ("_", "-") else fields[-1].strip()
    return ESCAPES.get(word, word) if form == "conll2012" else word, tag, cell


def _conllu(file: Path, seen: dict[str, str]) -> Iterator[Text]:
    trees = _trees_by_document(file)
    name = file.stem
    text: Text | None = None
    brackets, read = Brackets(file), undeclared
    for number, line in read_lines(file):
        where = f"{file}:{number}"
        if started := NEWDOC.match(line):
            name = started[1] or f"{name}'"
            _check_new(name, where, seen)  # whose trees would be among the first one's
            if text:
                yield _with_trees(text, brackets, trees)
            text = None
        elif header := HEADER.match(line):
            try:
                read = declared(header[1].strip().split("-"))
            except ValueError as error:
                raise InputError(f"{where}: {ENTITY} has {error}; correct the line") from error
        elif line.strip() and not line.startswith("#"):
            index, word, *_, misc = line.split("\t")  # ten: the trees have been read
            if text is None:
                text, brackets = _begun(name, where, seen), Brackets(file)
            cell, (first, dash, last) = _entity(misc, where), index.partition("-")
            if dash:
                brackets.add_range(len(text.words) + int(last) - int(first), cell, number, read)
            elif index.isdigit():
                brackets.add(len(text.words), cell, number, read)
                text.words.append(word)
            else:
                brackets.add(None, cell, number, read)
    if text:
        yield _with_trees(text, brackets, trees)


def _entity(misc: str, where: str) -> str:
    """The brackets in a MISC column, which are one of its items between |."""
    items = [item.partition("=") for item in misc.split("|")]
    cells = [cell for key, _, cell in items if key == "Entity"]
    if len(cells) > 1:
        raise InputError(f"{where}: {len(cells)} times Entity=; write all brackets in one")
    return cells[0] if cells else ""


def _with_trees(text: Text, brackets: Brackets, trees: dict[str, list[Tree]]) -> Text:
    text.spans, text.n_empty = brackets.finish(), brackets.n_empty
    text.n_discontinuous = len(brackets.discontinuous)
    _add_trees(text, trees, str(brackets.file))
    for span, words in brackets.discontinuous:
        if span.head is None:  # not a word of the gap
            span.head = next(word for word in words if text.heads[word] not in words)
    return text


def _trees_by_document(path: Path) -> dict[str, list[Tree]]:
    trees: dict[str, list[Tree]] = defaultdict(list)
    for document, tree in trees_of(path, "auto"):
        trees[document].append(tree)
    return dict(trees)


def _add_trees(text: Text, trees: dict[str, list[Tree]], treebank: str) -> None:
    """Set sentences, tags and heads of `text` to those of its trees in the file `treebank`."""
    if text.document not in trees:
        raise InputError(f"{text.source}: no tree of {text.document} in {treebank}; add it")
    words: list[str] = []
    text.heads, text.tags, text.relations, text.starts = [], [], [], []
    for tree in trees[text.document]:
        text.starts.append(len(words))
        text.heads += [ROOT if head == ROOT else head + len(words) for head in tree.heads]
        text.tags += tree.tags
        text.relations += tree.relations
        words += tree.words
    own = [" ".join(word.split()) for word in text.words]
    if own != words:
        pairs = zip(own, words, strict=False)
        k = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(own), len(words)))
        raise InputError(
            f"{text.source}: word {k} of {text.document} is not that of its tree in {treebank} "
            f"({own[k : k + 1]} and {words[k : k + 1]}); use trees of the same tokens"
        )
    text.words = words


PRONOUN_TAGS = {"PRP", "PRP$", "WP", "WP$", "PRON"}
PROPER_TAGS = {"NNP", "NNPS", "PROPN", "NP", "NPS"}
PLURAL_TAGS = {"NNS", "NNPS", "NPS"}
SINGULAR_TAGS = {"NN", "NNP", "NP"}
# Number, gender and person of pronouns; empty if the form leaves them open.
PRONOUNS = {
    form: features
    for forms, features in (
        ("i me my mine myself", ("singular", "", "1")),
        ("we us our ours ourselves", ("plural", "", "1")),
        ("yourself", ("singular", "", "2")),
        ("yourselves", ("plural", "", "2")),
        ("you your yours thou thee thy thine", ("", "", "2")),
        ("he him his himself", ("singular", "masculine", "3")),
        ("she her hers herself", ("singular", "feminine", "3")),
        ("it its itself", ("singular", "neuter", "3")),
        ("this that", ("singular", "neuter", "3")),
        ("they them their theirs themselves these those", ("plural", "", "3")),
        ("who whom whose which", ("", "", "3")),
    )
    for form in forms.split()
}
GENDERS = {
    "masculine": set(
        "man men boy boys father son brother uncle husband king prince gentleman gentlemen lord "
        "sir mr mr. grandfather nephew widower monk priest actor waiter duke emperor james john "
        "robert michael william david richard joseph thomas charles george edward henry paul "
        "daniel peter simon walter".split()
    ),
    "feminine": set(
        "woman women girl girls mother daughter sister aunt wife queen princess lady ladies madam "
        "mrs mrs. miss ms ms. grandmother niece widow nun actress waitress duchess empress mary "
        "elizabeth anne anna jane emma sarah margaret susan helen alice catherine julia laura "
        "claire martha".split()
    ),
}


def describe(span: Span, text: Text) -> Mention:
    """The mention of a span: its head word by the trees of `text`, its kind and its features."""
    head = head_of(span, text.heads)
    kind = kind_of(span, text.words[head], text.tags[head])
    if kind == "pronoun":
        number, gender, person = PRONOUNS.get(text.words[head].lower(), ("", "", ""))
    else:
        number, gender, person = _number(span, head, text), _gender(span, text), "3"
    return Mention(span.start, span.end, head, span.chain, kind, number, gender, person)


def head_of(span: Span, heads: Sequence[int]) -> int:
    """The head word of a mention: the first whose own head lies outside, if no file names it."""
    if span.head is not None:
        return span.head
    return next(word for word in span.words if heads[word] not in span.words)


def kind_of(span: Span, head: str, tag: str) -> str:
    """pronoun, proper or nominal, by the head word and its tag."""
    if tag in PRONOUN_TAGS or (len(span.words) == 1 and head.lower() in PRONOUNS):
        return "pronoun"
    return "proper" if tag in PROPER_TAGS else "nominal"


def _number(span: Span, head: int, text: Text) -> str:
    joined = (text.heads[k] == head and text.relations[k] == "conj" for k in span.words)
    if any(joined) or text.tags[head] in PLURAL_TAGS:
        return "plural"
    return "singular" if text.tags[head] in SINGULAR_TAGS else ""


def _gender(span: Span, text: Text) -> str:
    """By titles, first names and nouns for people; empty if there is none of them, or both."""
    words = {word.lower() for word in text.words[span.start : span.end]}
    found = [gender for gender, known in GENDERS.items() if words & known]
    return found[0] if len(found) == 1 else ""
