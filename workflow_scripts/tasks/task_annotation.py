"""The development examples whose attention is kept, with spaCy's tags and dependencies."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, Tree, write_records
from workflow_scripts.core.data.spacy_parsing import load_spacy, parse, to_tree, words_of
from workflow_scripts.core.data.tasks import split_of, to_examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job


def annotate(example: Example, docs: list[Any]) -> tuple[Example, Tree]:
    """The example with spaCy's words as character spans, and one tree over both texts."""
    spans = tuple(tuple((t.idx, t.idx + len(t)) for t in words_of(doc)) for doc in docs)
    return replace(example, words=spans), to_tree(docs, example.id, example.source)


def main(
    table: Path, examples: job.Out, annotation: job.Out, n_examples: int, spacy: str, seed: int = 1
) -> None:
    """Write up to `n_examples` development examples and their trees."""
    rows = split_of(tables.read(table), "dev")
    if len(rows) > n_examples:
        rows = rows.sample(n_examples, random_state=seed).sort_index()
    parsed = to_examples(rows)
    if not parsed:
        raise InputError(f"{table}: no development examples; raise n_dev of the task")
    parser = load_spacy(spacy)
    texts = [(text, example.source) for example in parsed for text in example.texts]
    docs = parse(parser, job.progress(texts, desc="texts parsed"))
    pairs = [annotate(example, [next(docs) for _ in example.texts]) for example in parsed]
    write_records(examples, [example for example, _ in pairs])
    write_records(annotation, [tree for _, tree in pairs])


if __name__ == "__main__":
    job.run(main, globals())
