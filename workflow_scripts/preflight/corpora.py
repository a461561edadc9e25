"""The corpora of a study, opened by the readers of its rules: the first records of each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.examples import Example, to_example
from workflow_scripts.core.data.packages import path_of
from workflow_scripts.core.data.spacy_parsing import load_spacy
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.corpora import coreference_corpus, frames_corpus, segments, treebank
from workflow_scripts.corpora.articles import is_dump
from workflow_scripts.corpora.frame_files import sentences_of, sentences_of_nltk
from workflow_scripts.corpora.mention_files import texts_of
from workflow_scripts.corpora.sources import articles
from workflow_scripts.corpora.stories import stories
from workflow_scripts.corpora.tree_files import trees_of
from workflow_scripts.corpora.word_vectors import from_glove
from workflow_scripts.preflight.first_records import is_large, read_start

FIRST = 200  # records
PARSED = 8  # texts that are parsed to see that the parser works
HERE = "it is downloaded when the study runs"


@dataclass(frozen=True)
class Opened:
    """First examples of a source, and how many examples it gives at most, where that is known."""

    examples: Sequence[Example] = ()
    n: int | None = None


def text(name: str, entry: dict[str, Any], folder: Path) -> tuple[Opened, str]:
    """Segments of the first articles of running text."""
    if "hub" in entry:
        found = list(islice(articles(entry), FIRST))
    else:
        path = path_of(entry)
        dump = entry.get("format") == "mediawiki" or is_dump(path)

        def read(start: Path) -> list:
            source = {key: entry[key] for key in ("format",) if key in entry}
            return list(islice(articles(source | {"path": str(start)}), FIRST))

        found = read(path) if dump else read_start(path, folder, read)
    counts: Counter[str] = Counter()
    pairs = [
        pair for article in found for pair in segments.pair_up(article, entry["min_words"], counts)
    ]
    if not counts["paragraphs read"]:
        raise InputError(f"{_origin(entry)}: no paragraph; use a text with paragraphs")
    if not pairs:
        raise InputError(
            f"{_origin(entry)}: none of the first {len(found)} articles has two paragraphs of "
            f"{entry['min_words']} words; lower min_words or check format"
        )
    what = f"{len(found)} articles, {counts['paragraphs read']} paragraphs, {len(pairs)} segments"
    return Opened(segments.to_examples(pairs[:FIRST], name), entry["n_segments"]), what


def trees(name: str, entry: dict[str, Any], text_read: Opened | None) -> tuple[Opened, str]:
    """The first sentences with trees; of a text that spaCy parses, those of `text_read`."""
    if "parse" in entry:
        if text_read is None:
            load_spacy(entry["spacy"])
            return Opened(
                n=entry["n_sentences"] or None
            ), f"spaCy's {entry['spacy']} loads; no text"
        pairs = treebank.parsed(list(text_read.examples[:PARSED]), entry["spacy"])
    elif "hub" in entry:
        pairs = treebank.from_hub(entry)
    else:
        pairs = trees_of(Path(entry["path"]), entry.get("format", "auto"))
    found = list(islice(pairs, FIRST))
    whole = len(found) < FIRST and "parse" not in entry
    usable = [(document, tree) for document, tree in found if len(tree.words) > 1]
    if not usable:
        raise InputError(f"{_origin(entry)}: no sentence of two words; use another treebank")
    n = entry["n_sentences"] or (len(usable) if whole else None)
    by = f", parsed by {entry['spacy']}" if "parse" in entry else ""
    examples = [to_example(tree, document) for document, tree in usable]
    return Opened(examples, n), f"{len(found)} sentences{by}"


def mentions(name: str, entry: dict[str, Any], seed: int) -> tuple[Opened, str]:
    """The first documents with coreferent mentions."""
    if "generate" in entry:
        n = entry["generate"]
        texts = list(stories(min(n, FIRST), seed))
    else:
        found = texts_of(Path(entry["path"]), entry["format"], entry.get("trees"))
        texts = list(islice(found, FIRST))
        n = len(texts) if len(texts) < FIRST and entry["windows"] == "first" else None
        if any(text.words and not text.heads for text in texts):
            load_spacy(entry["spacy"])
    if not any(text.spans for text in texts):
        raise InputError(f"{_origin(entry)}: no mention; check path and format")
    most, windows = entry["max_tokens"], entry["windows"]
    examples = [
        Example(f"{name}-{k}", text.document, text.source, (" ".join(text.words[start:end]),))
        for k, text in enumerate(texts)
        for start, end in coreference_corpus.windows_of(text, most, windows)
        if end > start
    ]
    n_mentions = sum(len(text.spans) for text in texts)
    return Opened(examples, n), f"{len(texts)} documents, {n_mentions} mentions"


def frames(name: str, entry: dict[str, Any], filters: str, seed: int) -> tuple[Opened, str]:
    """The first annotated sentences, and those of them that pass the filters."""
    chosen = frames_corpus.FILTERS[filters]
    if "generate" in entry:
        annotated = frames_corpus.generated(min(entry["generate"], FIRST), seed)
    elif "nltk" in entry:
        annotated = sentences_of_nltk(entry["nltk"], chosen.core_sets)
    else:
        annotated = sentences_of(Path(entry["path"]), chosen.core_sets)
    read = list(islice(annotated, FIRST))
    examples, _, _ = frames_corpus.filtered(iter(read), name, chosen)
    if not read:
        raise InputError(f"{_origin(entry)}: no annotated sentence; use another source")
    if len(read) < FIRST and "generate" not in entry and not examples:
        raise InputError(f"corpora.frames.{name}: no sentence passes the filters; use more")
    n = entry.get("generate") or (len(examples) if len(read) < FIRST else None)
    return Opened(examples, n), f"{len(read)} sentences, {len(examples)} pass the filters"


def vectors(name: str, entry: dict[str, Any], folder: Path) -> tuple[int | None, str]:
    """Bytes of the vectors at most, where they are known, and what was read."""
    if "train" in entry:
        return None, f"trained on {entry['train']}, {entry['dimensions']} dimensions"
    if "download" in entry:
        from gensim import downloader

        local = Path(downloader.BASE_DIR, entry["download"])
        if not local.is_dir():
            raise InputError(
                f"download: {entry['download']}: not in {downloader.BASE_DIR}; {HERE}: fetch it "
                f"first with `python -m gensim.downloader --download {entry['download']}`"
            )
        return sum(file.stat().st_size for file in local.iterdir()), f"in {local}"
    path = Path(entry["path"])
    words, matrix = read_start(path, folder, from_glove)
    # A number takes four bytes, less than its digits in the file.
    what = f"{len(words)} words, {matrix.shape[1]} dimensions"
    return path.stat().st_size, f"the first {what}" if is_large(path) else what


def _origin(entry: dict[str, Any]) -> str:
    return next((str(entry[key]) for key in ("path", "package", "hub", "nltk") if key in entry), "")
