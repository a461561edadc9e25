"""A treebank as the study reads it: sentences for the model, and their trees next to them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import annotations, tables
from workflow_scripts.core.data.spacy_parsing import load_spacy, parse, to_tree
from workflow_scripts.core.data.text_files import whole_number
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.core.run.sources import load_rows
from workflow_scripts.corpora.tree_files import trees_of

Pairs = Iterator[tuple[str, annotations.Tree]]


def parsed(examples: list[annotations.Example], model: str) -> Pairs:
    """Document and tree of each sentence of running text, parsed by spaCy."""
    texts = [(text, example) for example in examples for text in example.texts]
    docs = parse(load_spacy(model), [(text, example.source) for text, example in texts])
    for doc, (_, example) in zip(docs, texts, strict=True):
        for sentence in doc.sents:
            tree = to_tree([sentence], source=example.source)
            if tree.words:
                yield example.document, tree


def from_hub(source: dict[str, Any]) -> Pairs:
    """Trees of a hub dataset with the columns tokens, head and deprel (Universal Dependencies)."""
    for number, row in enumerate(load_rows(source, ("tokens", "head", "deprel")), start=1):
        where = f"{source['hub']}/{source.get('split', 'train')}:{number}"
        columns = row["tokens"], row["head"], row["deprel"], row.get("xpos") or row["deprel"]
        lists = all(isinstance(column, list) for column in columns)
        if not lists or len(set(map(len, columns))) > 1:
            raise InputError(f"{where}: not as many heads and relations as words; fix the dataset")
        rows = zip(*columns, strict=True)
        # No multiword ranges, whose heads are no numbers.
        rows = [each for each in rows if whole_number(str(each[1])) is not None]
        tokens, heads, relations, tags = zip(*rows, strict=True) if rows else ((),) * 4
        indices = tuple(int(head) - 1 if int(head) else annotations.ROOT for head in heads)
        if any(index >= len(rows) for index in indices):
            raise InputError(f"{where}: a head is outside its sentence; fix the dataset")
        if wrong := annotations.misshapen(indices):
            raise InputError(f"{where}: {wrong[1]}; fix the dataset")
        words = tuple(" ".join(word.split()) for word in tokens)
        tags = tuple(tag or "" for tag in tags)
        yield where.rpartition(":")[0], annotations.Tree("", words, indices, relations, tags, where)


def main(
    sentences: job.Out,
    annotation: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    name: str,
    n_sentences: int = 0,
    seed: int = 1,
    text: Path | None = None,
) -> None:
    """Write sentences, trees and counts; `text` is the corpus to parse, if `source` has `parse`."""
    if "parse" in source:
        pairs = list(parsed(annotations.read_examples(text), source["spacy"]))
    elif "hub" in source:
        pairs = list(from_hub(source))
    else:
        pairs = list(trees_of(Path(source["path"]), source.get("format", "auto")))
    usable = [(document, tree) for document, tree in pairs if len(tree.words) > 1]
    chosen = [
        (document, replace(tree, id=f"{name}-{k:05d}"))
        for k, (document, tree) in enumerate(tables.sample(usable, n_sentences, seed))
    ]
    annotations.write_records(
        sentences, (annotations.to_example(tree, document) for document, tree in chosen)
    )
    annotations.write_records(annotation, (tree for _, tree in chosen))
    rows = {
        "annotation": "silver" if "parse" in source else "gold",
        "documents": len({document for document, _ in chosen}),
        "sentences read": len(pairs),
        "sentences of one word": len(pairs) - len(usable),
        "sentences not sampled": len(usable) - len(chosen),
        "sentences": len(chosen),
        "words": sum(len(tree.words) for _, tree in chosen),
    }
    tables.write_counts(rows, counts)


if __name__ == "__main__":
    job.run(main, globals())
