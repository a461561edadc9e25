"""The development examples whose attention is kept, with tags and dependencies by spaCy."""

from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data.examples import Example, write_examples
from workflow_scripts.core.data.glue import read_task, split_of, to_examples
from workflow_scripts.core.data.spacy_parsing import load_spacy
from workflow_scripts.core.data.trees import ROOT, Tree, write_trees
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out


def chosen(frame: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """At most `n` development rows, drawn by `seed`, in their order."""
    dev = split_of(frame, "dev")
    return dev if len(dev) <= n else dev.sample(n, random_state=seed).sort_index()


def annotate(example: Example, docs: list[Any]) -> tuple[Example, Tree]:
    """The example with spaCy's words as character spans, and one tree over both texts.

    Words are counted over both texts, as in the attention cache; each sentence has its own root.
    """
    words = [[token for token in doc if not token.is_space] for doc in docs]
    spans = tuple(tuple((t.idx, t.idx + len(t)) for t in tokens) for tokens in words)
    heads, base = [], 0
    for tokens in words:
        place = {token.i: base + number for number, token in enumerate(tokens)}
        heads += [
            ROOT if token.head.i == token.i else place.get(token.head.i, ROOT) for token in tokens
        ]
        base += len(tokens)
    flat = [token for tokens in words for token in tokens]
    tree = Tree(
        id=example.id,
        words=tuple(token.text for token in flat),
        heads=tuple(heads),
        relations=tuple(token.dep_.lower() for token in flat),
        tags=tuple(token.tag_ for token in flat),
        source=example.source,
    )
    return Example(example.id, example.document, example.source, example.texts, spans), tree


def main(
    table: Path, examples: Out, annotation: Out, n_examples: int, spacy: str, seed: int = 1
) -> None:
    """Write up to `n_examples` development examples and their trees."""
    found = to_examples(chosen(read_task(table), n_examples, seed))
    if not found:
        raise InputError(f"{table}: no development examples; raise n_dev of the task")
    parser = load_spacy(spacy)
    texts = [text for example in found for text in example.texts]
    docs = iter(parser.pipe(job.progress(texts, desc="texts parsed"), batch_size=64))
    pairs = [annotate(example, [next(docs) for _ in example.texts]) for example in found]
    write_examples(examples, [example for example, _ in pairs])
    write_trees(annotation, [tree for _, tree in pairs])


if __name__ == "__main__":
    job.run(main, globals())
