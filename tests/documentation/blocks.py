"""The blocks of code of all pages, and the commands in them and in the text."""

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The changelog is of what was, not of what is.
PAGES = [page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"]
PAGES = sorted([*PAGES, *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.M | re.S)
# Four spaces after an empty line: a shell's commands, on these pages.
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n(?:\n(?= {4}))?)+")
PROGRAMS = ("snakemake", "python", "pip", "make", "git")
COMMAND = re.compile(rf"`((?:{'|'.join(PROGRAMS)}) [^`]+)`")


@dataclass(frozen=True)
class Block:
    """A block of a page: its first line's number, its language and its text."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> list[Block]:
    """Every block of every page."""
    found = []
    for page in PAGES:
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        for match in FENCED.finditer(text):
            code, line = textwrap.dedent(match["text"]), text.count("\n", 0, match.start()) + 2
            found.append(Block(name, line, match["language"], code))
        text = FENCED.sub(lambda match: re.sub(r".", "", match[0]), text)
        for match in INDENTED.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(name, line, "bash", textwrap.dedent(match[0])))
    return found


def of(*languages: str) -> list[Block]:
    """The blocks of these languages."""
    return [block for block in blocks() if block.language in languages]


def lines_of(block: Block) -> list[str]:
    """The commands of a block of the shell, one a line, as they are typed."""
    return [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip()]


def typed() -> list[tuple[str, list[str]]]:
    """Where each command of a block or of a page's text is, and its words; `#` ends it.

    One with a <placeholder> or an ellipsis is for the reader to complete, and left out.
    """
    found = [(str(block), line) for block in of("bash") for line in lines_of(block)]
    for page in PAGES:
        text = FENCED.sub("", page.read_text(encoding="utf-8"))
        found += [
            (str(page.relative_to(ROOT)), " ".join(match.split()))
            for match in COMMAND.findall(text)
        ]
    whole = [(where, line) for where, line in found if not re.search(r"<\w|\.\.\.", line)]
    return [(where, words) for where, line in whole if (words := shlex.split(line, comments=True))]


def commands(program: str) -> list[tuple[str, list[str]]]:
    """Where each command of a program is, and the words that follow its name."""
    return [(where, words[1:]) for where, words in typed() if words[0].split("/")[-1] == program]
