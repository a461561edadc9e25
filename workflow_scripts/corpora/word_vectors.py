"""Word vectors: from a GloVe file or gensim's downloader, or trained on the study's own text."""

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.data.vectors import write_vectors
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out

log = logging.getLogger(__name__)
TOKEN = re.compile(r"\w+|[^\w\s]")
MIN_COUNT = 2  # times that a word must occur to get a vector


def from_glove(path: Path) -> tuple[list[str], np.ndarray]:
    """Words and vectors of a text file in GloVe's format: a word and its numbers on each line.

    A first line of two numbers, as in word2vec's text format, is skipped. Of two lines of the same
    word, the first counts. Raises InputError, with the line, if the numbers are wrong.
    """
    words: dict[str, int] = {}
    rows: list[np.ndarray] = []
    size = 0
    for number, line in read_lines(path):
        fields = line.rstrip(" ").split(" ")
        if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
            continue
        size = size or len(fields) - 1
        word = " ".join(fields[: len(fields) - size])
        if size < 1 or not word:
            raise InputError(
                f"{path}:{number}: {len(fields) - 1} numbers, {size} expected; fix the line"
            )
        try:
            row = np.array(fields[len(fields) - size :], dtype=np.float32)
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}; fix the line") from error
        if word not in words:
            words[word] = len(rows)
            rows.append(row)
    if not rows:
        raise InputError(f"{path}: no vector; use a text file in GloVe's format")
    return list(words), np.stack(rows)


def from_downloader(name: str) -> tuple[list[str], np.ndarray]:
    """Words and vectors of gensim's downloader by `name`; only its data are read."""
    from gensim import downloader
    from gensim.models import KeyedVectors

    try:
        # Without return_path it would import a Python file that it has downloaded.
        path = downloader.load(name, return_path=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"download: {name}: gensim cannot fetch it ({str(error).strip()}); connect this "
            "machine to the network, or use a text file in GloVe's format (path)"
        ) from error
    vectors = KeyedVectors.load_word2vec_format(path, binary=".bin" in path or "google" in name)
    return list(vectors.index_to_key), vectors.vectors


def trained(
    texts: list[str], dimensions: int, epochs: int, seed: int
) -> tuple[list[str], np.ndarray]:
    """Words and vectors by gensim's Word2Vec on `texts`, in lower case.

    One thread, so that the result is repeatable. Raises InputError if the text is too short.
    """
    from gensim.models import Word2Vec

    sentences = [TOKEN.findall(text.lower()) for text in texts]
    options = {"vector_size": dimensions, "epochs": epochs, "seed": seed, "workers": 1}
    model = Word2Vec(min_count=MIN_COUNT, window=5, sg=1, negative=5, **options)
    model.build_vocab(sentences)
    if not model.wv.index_to_key:
        raise InputError("vectors: no word occurs twice in the text; use more text")
    model.train(sentences, total_examples=len(sentences), epochs=epochs)
    return list(model.wv.index_to_key), model.wv.vectors


def main(
    vectors: Out,
    words: Out,
    counts: Out,
    source: dict[str, Any],
    dimensions: int = 100,
    epochs: int = 10,
    seed: int = 1,
    texts: list[Path] = (),
) -> None:
    """Write the vectors, their words and their origin; `texts` are the corpora to train on."""
    if "path" in source:
        names, matrix = from_glove(Path(source["path"]))
        origin = source["path"]
    elif "download" in source:
        names, matrix = from_downloader(source["download"])
        origin = source["download"]
    else:
        examples = [example for path in texts for example in read_examples(path)]
        running = [text for example in examples for text in example.texts]
        names, matrix = trained(running, dimensions, epochs, seed)
        origin = f"trained on {source['train']}"
    write_vectors(names, matrix, vectors, words)
    rows = {"source": origin, "words": len(names), "dimensions": matrix.shape[1]}
    tables.write_counts(rows, counts)
    log.info("%s", rows)


if __name__ == "__main__":
    job.run(main, globals())
