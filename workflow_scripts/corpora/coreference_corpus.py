"""Documents with coreferent mentions as the study reads them (Clark et al. 2019, section 4.3).

From files, or written by the study's own grammar (such documents are generated, and every table
made from them says so). The head word of a mention comes from its file or treebank where there is
one, else from spaCy.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import Example, write_examples
from workflow_scripts.core.data.mentions import KINDS, Document, write_documents
from workflow_scripts.core.data.spacy_parsing import load_spacy, to_tree
from workflow_scripts.core.data.trees import ROOT, spans_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.corpora.mention_features import describe
from workflow_scripts.corpora.mention_files import Span, Text, texts_of
from workflow_scripts.corpora.stories import stories

log = logging.getLogger(__name__)
# A window must fit into max_tokens: English words have about 1.2 wordpieces.
WORDS_PER_TOKEN = 0.75


def windows_of(text: Text, max_tokens: int, windows: str) -> Iterator[tuple[int, int]]:
    """Word ranges of `text` that become documents of their own.

    `first` is the start of the text, as in the paper; the model cuts it at `max_tokens`. `all` are
    consecutive windows of whole sentences; a longer sentence is cut.
    """
    if windows == "first":
        yield 0, min(max_tokens, len(text.words))
        return
    budget = max(1, int(max_tokens * WORDS_PER_TOKEN))
    begin = last = 0
    for end in [*text.starts[1:], len(text.words)]:
        if end - begin > budget and last > begin:
            yield begin, last
            begin = last
        while end - begin > budget:
            yield begin, begin + budget
            begin += budget
        last = end
    if begin < len(text.words):
        yield begin, len(text.words)


def cut(text: Text, start: int, end: int) -> Text:
    """The words from `start` to `end` and the mentions that lie in them whole."""
    part = Text(text.document, text.source)
    part.words, part.tags = text.words[start:end], text.tags[start:end]
    part.relations = text.relations[start:end]
    inside = range(start, end)
    part.heads = [head - start if head in inside else ROOT for head in text.heads[start:end]]
    part.starts = [place - start for place in text.starts if place in inside]
    for one in text.spans:
        if one.start >= start and one.end <= end:
            head = None if one.head is None else one.head - start
            part.spans.append(Span(one.start - start, one.end - start, one.chain, head))
    return part


def parse(text: Text, parser: Any) -> None:
    """Give `text` spaCy's tags and trees; sentence breaks are kept where it has them."""
    from spacy.tokens import Doc

    breaks = None
    if text.starts:
        starts = set(text.starts)
        breaks = [index in starts for index in range(len(text.words))]
    doc = parser(Doc(parser.vocab, words=text.words, sent_starts=breaks))
    tree = to_tree([doc])
    text.heads, text.relations = list(tree.heads), list(tree.relations)
    text.tags = text.tags or list(tree.tags)
    text.starts = [sentence.start for sentence in doc.sents]


def to_document(text: Text, name: str) -> Document:
    """The document with its mentions described; the same span and chain counts once."""
    unique = {(one.start, one.end, one.chain): one for one in text.spans}
    mentions = [
        describe(unique[key], text.words, text.tags, text.heads, text.relations)
        for key in sorted(unique)
    ]
    return Document(
        id=name,
        words=tuple(text.words),
        tags=tuple(text.tags),
        heads=tuple(text.heads),
        relations=tuple(text.relations),
        mentions=tuple(mentions),
        source=text.source,
    )


def read_texts(
    source: dict[str, Any], max_tokens: int, windows: str, seen: Counter
) -> Iterator[Text]:
    """The windows of all documents at `source`, with heads; `seen` counts all mentions."""
    parser = None
    for text in job.progress(
        texts_of(Path(source["path"]), source["format"], source.get("trees")), desc="documents"
    ):
        seen["mentions"] += len(text.spans)
        if windows == "first":
            text = cut(text, 0, max_tokens)
        if text.words and not text.heads:
            parser = parser or load_spacy(source["spacy"])
            parse(text, parser)
        for start, end in windows_of(text, max_tokens, windows):
            yield cut(text, start, end)


def main(
    documents: Out,
    annotation: Out,
    counts: Out,
    source: dict[str, Any],
    name: str,
    max_tokens: int,
    windows: str = "first",
    seed: int = 1,
) -> None:
    """Write texts, mentions and counts."""
    seen: Counter = Counter()
    if "generate" in source:
        texts = list(stories(source["generate"], seed))
        seen["mentions"] = sum(len(text.spans) for text in texts)
    else:
        texts = list(read_texts(source, max_tokens, windows, seen))
    if not any(text.spans for text in texts):
        raise InputError(f"{source.get('path')}: no mention in the words that are read")
    found = [to_document(text, f"{name}-{k:05d}") for k, text in enumerate(texts)]
    examples = [
        Example(one.id, text.document, one.source, (" ".join(one.words),), (spans_of(one.words),))
        for one, text in zip(found, texts, strict=True)
    ]
    write_examples(documents, examples)
    write_documents(annotation, found)
    kinds = Counter(mention.kind for one in found for mention in one.mentions)
    rows = {
        "annotation": "generated" if "generate" in source else "gold",
        "documents": len({text.document for text in texts}),
        "texts": len(found),
        "words": sum(len(one.words) for one in found),
        "mentions read": seen["mentions"],
        "mentions outside the words used": seen["mentions"] - sum(len(t.spans) for t in texts),
        "mentions": sum(kinds.values()),
        **{f"{kind} mentions": kinds[kind] for kind in KINDS},
    }
    tables.write_counts(rows, counts)
    log.info("%s", rows)


if __name__ == "__main__":
    job.run(main, globals())
