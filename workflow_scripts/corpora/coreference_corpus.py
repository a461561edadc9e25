"""Documents with coreferent mentions as the study reads them (Clark et al. 2019, section 4.3).

From files, or generated, which every table made from them states. The head word of a mention comes
from its file or treebank if there is one, else from spaCy.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import annotations, spacy_parsing, tables
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.corpora.mention_files import Span, Text, describe, texts_of
from workflow_scripts.corpora.stories import stories

# A window must fit into max_tokens: English words have about 1.2 wordpieces.
WORDS_PER_TOKEN = 0.75


def windows_of(text: Text, max_tokens: int) -> Iterator[tuple[int, int]]:
    """Word ranges [start, end): consecutive windows of whole sentences; a longer one is cut."""
    budget = max(1, int(max_tokens * WORDS_PER_TOKEN))
    start = fitting = 0  # of the current window: its start, and the end of its last sentence
    for end in [*text.starts[1:], len(text.words)]:
        if end - start > budget and fitting > start:
            yield start, fitting
            start = fitting
        while end - start > budget:
            yield start, start + budget
            start += budget
        fitting = end
    if start < len(text.words):
        yield start, len(text.words)


def cut(text: Text, start: int, end: int) -> Text:
    """The words from `start` to `end` and the mentions that lie completely within them."""
    window = range(start, end)
    part = Text(text.document, text.source, words=text.words[start:end], tags=text.tags[start:end])
    part.relations = text.relations[start:end]
    part.heads = [
        head - start if head in window else annotations.ROOT for head in text.heads[start:end]
    ]
    part.starts = [word - start for word in text.starts if word in window]
    for span in text.spans:
        if span.start >= start and span.end <= end:
            head = None if span.head is None else span.head - start
            part.spans.append(Span(span.start - start, span.end - start, span.chain, head))
    return part


def parse(text: Text, parser: Any) -> None:
    """Set tags and trees of `text` to spaCy's; its own tags and sentences are kept."""
    from spacy.tokens import Doc

    first = set(text.starts)
    starts = [word in first for word in range(len(text.words))] if first else None
    words = Doc(parser.vocab, words=text.words, sent_starts=starts)
    (doc,) = spacy_parsing.parse(parser, [(words, text.source)])
    tree = spacy_parsing.to_tree([doc])
    text.heads, text.relations = list(tree.heads), list(tree.relations)
    text.tags = text.tags or list(tree.tags)
    text.starts = [sentence.start for sentence in doc.sents]


def to_document(text: Text, name: str) -> annotations.Document:
    """The document with its mentions described; duplicates of span and chain count once."""
    unique = {(span.start, span.end, span.chain): span for span in text.spans}
    mentions = tuple(describe(unique[key], text) for key in sorted(unique))
    words = map(tuple, (text.words, text.tags, text.heads, text.relations))
    return annotations.Document(name, *words, mentions, text.source)


def keep(text: Text, singletons: bool, read: Counter) -> None:
    """Count the mentions of a whole document, and drop singletons if they are not wanted."""
    mentions = {(span.start, span.end, span.chain) for span in text.spans}
    sizes = Counter(chain for _, _, chain in mentions)
    kept = [span for span in text.spans if singletons or sizes[span.chain] > 1]
    read.update(
        {
            "mentions read": len(text.spans) + text.n_empty,
            "discontinuous mentions read": text.n_discontinuous,
            "mentions of empty nodes left out": text.n_empty,
            "singletons left out": len(text.spans) - len(kept),
            "mentions outside the words used": len(kept),  # less those within, at the end
        }
    )
    text.spans = kept


def read_texts(
    source: dict[str, Any], max_tokens: int, windows: str, singletons: bool, read: Counter
) -> Iterator[Text]:
    """The windows of all documents at `source`, with heads; `read` counts mentions.

    Of windows, `first` is the start of the text, as in the paper; the model cuts it at
    `max_tokens`. `all` are those of `windows_of`.
    """
    parser = None
    for text in job.progress(
        texts_of(Path(source["path"]), source["format"], source.get("trees")), desc="documents"
    ):
        if not text.words:
            read["documents without words left out"] += 1
            continue
        keep(text, singletons, read)
        if windows == "first":
            text = cut(text, 0, max_tokens)
        if not text.heads:
            parser = parser or spacy_parsing.load_spacy(source["spacy"])
            parse(text, parser)
        if windows == "first":
            yield text
        else:
            yield from (cut(text, *ends) for ends in windows_of(text, max_tokens))


def main(
    documents: job.Out,
    annotation: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    name: str,
    max_tokens: int,
    windows: str = "first",
    singletons: bool = False,
    seed: int = 1,
) -> None:
    """Write texts, mentions and counts; `singletons` states whether these mentions are kept."""
    read: Counter = Counter()
    if "generate" in source:
        texts = list(stories(source["generate"], seed))
        for text in texts:
            keep(text, singletons, read)
    else:
        texts = list(read_texts(source, max_tokens, windows, singletons, read))
    if not any(text.spans for text in texts):
        raise InputError(f"{source.get('path')}: no mention in the windows; check path and format")
    described = [to_document(text, f"{name}-{k:05d}") for k, text in enumerate(texts)]
    examples = [
        annotations.to_example(document, text.document)
        for document, text in zip(described, texts, strict=True)
    ]
    annotations.write_records(documents, examples)
    annotations.write_records(annotation, described)
    read["mentions outside the words used"] -= sum(len(text.spans) for text in texts)
    kinds = Counter(mention.kind for document in described for mention in document.mentions)
    rows = {
        "annotation": annotations.coreference_annotation(source),
        "documents": len({text.document for text in texts}),
        "texts": len(described),
        "words": sum(len(document.words) for document in described),
        **read,
        "mentions": kinds.total(),
        **{f"{kind} mentions": kinds[kind] for kind in annotations.MENTION_KINDS},
    }
    tables.write_counts(rows, counts)


if __name__ == "__main__":
    job.run(main, globals())
