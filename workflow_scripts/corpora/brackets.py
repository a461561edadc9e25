"""Mentions from the brackets of a document's words, as all coreference formats write them.

CorefUD and Universal Anaphora, in the MISC column of CoNLL-U, also know fields after the chain's
name, mentions in several parts (`e1[1/2]`), and empty nodes, which stand for omitted words.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.data.text_files import whole_number
from workflow_scripts.core.errors import InputError

BRACKET = re.compile(r"\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\)|(\|)")
PART = re.compile(r"\[([0-9]{1,4})/([0-9]{1,4})\]")
ENTITY = "global.Entity"
CHAIN_FIELDS = ("eid", "GRP")
# Fields with the number of the head within the mention, of which the first that there is counts,
# and whether empty nodes are numbered, too: in CorefUD they are, in GUM not.
HEAD_FIELDS = {"head": True, "minspan": False, "MIN": False, "min": False}


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
        """A whole mention, which was opened in `line`."""
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
