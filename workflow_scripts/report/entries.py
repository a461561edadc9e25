"""What the report lists: one entry for each figure and each printed table, labels and captions.

A table's caption is rendered for a job that writes many pages, so it reads nothing but
`snakemake.config`. Rules read this module: it imports what is slow where it is needed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A figure or table of the report, and where it stands there."""

    path: str  # of the figure's SVG or the table's CSV
    title: str
    caption: str  # a file of report/, without its ending
    category: str
    subcategory: str = ""
    of: Mapping[str, str] = field(default_factory=dict)  # model, task, or the corpus it counts
    pattern: str = ""  # of the paths of this product of all models: with the wildcard {model}

    @property
    def kind(self) -> str:
        """Whether it is a figure or a table."""
        return "table" if self.path.endswith(".csv") else "figure"

    @property
    def shown(self) -> str:
        """The file that the report shows: a table's page instead of its CSV."""
        return with_ending(self.path, "html") if self.kind == "table" else self.path

    @property
    def name(self) -> str:
        """What claims and links call the product: the file's name without its ending."""
        return self.path.rpartition("/")[2].rpartition(".")[0]


class Entries:
    """All entries of a study in order; each is found without a look at all others."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.models: set[str] = set()
        self._by_file: dict[str, Entry] = {}
        self._kinds: dict[tuple, set[str]] = {}
        for entry in entries:
            self.add(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_file.values())

    def add(self, entry: Entry) -> None:
        """List an entry; the first of a file is kept."""
        self._by_file.setdefault(entry.shown, entry)
        self._kinds.setdefault(_thing(entry), set()).add(entry.kind)
        if "model" in entry.of:
            self.models.add(entry.of["model"])

    def get(self, file: str) -> Entry | None:
        """The entry that shows a file, where one does."""
        return self._by_file.get(file)

    def kinds(self, entry: Entry) -> set[str]:
        """Whether there is a figure, a table or both of the thing that an entry shows."""
        return self._kinds.get(_thing(entry), set())


def with_ending(path: str, ending: str) -> str:
    """The path with another ending."""
    return f"{path.rpartition('.')[0]}.{ending}"


def titles_of_tasks() -> dict[str, str]:
    """The words for the names that tasks have in a study, as papers write them."""
    from workflow_scripts.core.data.tasks import TASKS

    return {name: task.title for name, task in TASKS.items()} | {"arct.points": "ARCT"}


def heading(entry: Entry, words: Mapping[str, str]) -> str:
    """The title with a capital, and what the entry counts, where it does."""
    title = entry.title[:1].upper() + entry.title[1:]
    counted = entry.of.get("counted")
    return f"{words.get(counted, counted)}: {entry.title}" if counted else title


def labels(
    entry: Entry, entries: Entries, words: Mapping[str, str], models: Mapping[str, str]
) -> dict[str, str]:
    """The labels of an entry in the report; `words` for the names of tasks, and for `models`.

    The model is named only where a study has several, or words for it. A table that stands next to
    the figure of the same title, and this figure, state which they are: where a whole list is made
    of such pairs, Snakemake turns the label into a toggle.
    """
    found = {"result": heading(entry, words)}
    if "task" in entry.of:
        found["task"] = words.get(entry.of["task"], entry.of["task"])
    model = entry.of.get("model")
    if model in models or (model and entries.models - {model}):
        found["model"] = models.get(model, model)
    if entries.kinds(entry) - {entry.kind}:
        found["shown as"] = entry.kind
    return found


def shown_by_category(entries: Iterable[Entry]) -> dict[str, dict[str, int]]:
    """How many figures and tables each category has, in the order of the report's menu."""
    found: dict[str, dict[str, int]] = {}
    for entry in entries:
        counted = found.setdefault(entry.category, {"figure": 0, "table": 0})
        counted[entry.kind] += 1
    return dict(sorted(found.items()))


def _thing(entry: Entry) -> tuple:
    """What the figure and the table of one thing have in common."""
    of = tuple(sorted(entry.of.items()))
    return entry.title, entry.category, entry.subcategory, of


def caption(path: Path, config: Mapping[str, Any]) -> str:
    """The caption's text for a study; an error where it reads more than the study's config."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701 - the result is reStructuredText, not HTML
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(path.read_text(encoding="utf-8"))
    return template.render(snakemake=SimpleNamespace(config=config))


def caption_html(text: str) -> str:
    """A caption as a fragment of HTML; an error where it is malformed."""
    from docutils.core import publish_parts

    settings = {"halt_level": 2, "report_level": 5, "raw_enabled": False}
    settings |= {"file_insertion_enabled": False, "embed_stylesheet": False}
    return publish_parts(text, writer="html5", settings_overrides=settings)["body"]


def captions_digest(paths: Iterable[Path], config: Mapping[str, Any]) -> str:
    """Hex digest of rendered captions, so that pages are written anew where a text changes."""
    texts = "\0".join(caption(path, config) for path in paths)
    return hashlib.sha256(texts.encode()).hexdigest()[:16]
