"""Word vectors: from a GloVe file or gensim's downloader, or trained on the study's own text."""

import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.text_files import read_lines, whole_number
from workflow_scripts.core.data.vectors import write_vectors
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.run import job

TOKEN = re.compile(r"\w+|[^\w\s]")
MIN_COUNT = 2  # times that a word must occur to get a vector


def from_glove(path: Path, read: Counter) -> tuple[list[str], np.ndarray]:
    """Words and vectors of a text file in GloVe's format: a word and its numbers on each line.

    A word may have blanks in it, as some of GloVe's largest file have. A first line of two numbers,
    as in word2vec's text format, gives the number of lines and their length. Of two lines of the
    same word, the first counts; `read` counts all lines and those that are left out.
    """
    rows: dict[str, np.ndarray] = {}
    announced: list[int] = []
    size = n_lines = 0
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        fields = line.rstrip(" ").split(" ")
        if number == 1 and len(fields) == 2 and None not in map(whole_number, fields):
            announced = [int(field) for field in fields]
            size = announced[1]
            continue
        size = size or len(fields) - 1
        name = fields[: max(0, len(fields) - size)]  # the word, in pieces
        if size and name and ("" in fields or "\t" in line):
            raise InputError(f"{where}: not separated by one blank each; fix the line")
        if not size or not name or (len(name) > 1 and _is_number(name[-1])):
            n = sum(map(_is_number, fields[1:]))
            raise InputError(f"{where}: {n} numbers, {size} expected; fix the line")
        row = _numbers(fields[len(name) :], where)
        n_lines += 1
        rows.setdefault(" ".join(name), row)
    if not rows:
        raise InputError(f"{path}: no vector; use a text file in GloVe's format")
    if announced and announced[0] != n_lines:
        raise InputError(
            f"{path}:1: {announced[0]} vectors announced, but {n_lines} follow; copy the file again"
        )
    read.update({"lines read": n_lines, "lines of an earlier word": n_lines - len(rows)})
    return list(rows), np.stack(list(rows.values()))


def _is_number(text: str) -> bool:
    """Whether Python reads it as a number, nan and 1_0 among them."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(fields: list[str], where: str) -> np.ndarray:
    """The fields as finite numbers, float32 [field]."""
    try:
        with np.errstate(over="ignore"):
            row = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{where}: {error}; fix the line") from error
    if not np.isfinite(row).all():
        field = fields[int(np.flatnonzero(~np.isfinite(row))[0])]
        raise InputError(f"{where}: {field!r} is not a finite number of 32 bits; fix the line")
    return row


def from_downloader(name: str, read: Counter) -> tuple[list[str], np.ndarray]:
    """Words and vectors of gensim's downloader by `name`; only its data are read and counted."""
    from gensim import downloader
    from gensim.models import KeyedVectors

    try:
        # Without return_path it would import a Python file that it has downloaded.
        path = downloader.load(name, return_path=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"download: {name}: gensim cannot fetch it ({one_line(error)}); connect this "
            "machine to the network, or use a text file in GloVe's format (path)"
        ) from error
    if ".bin" not in path and "google" not in name:
        return from_glove(Path(path), read)
    try:
        vectors = KeyedVectors.load_word2vec_format(path, binary=True)
        if not np.isfinite(vectors.vectors).all():
            raise ValueError("numbers that are not finite")
    except (OSError, ValueError, EOFError, IndexError, zlib.error) as error:
        raise InputError(
            f"download: {name}: {path} is not a file of word vectors ({error}); name vectors, or "
            "delete the file and run again"
        ) from error
    return list(vectors.index_to_key), vectors.vectors


def trained(
    texts: list[str], dimensions: int, epochs: int, seed: int
) -> tuple[list[str], np.ndarray]:
    """Words and vectors by gensim's Word2Vec on `texts`, in lower case.

    One thread, so that the result is repeatable.
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
    vectors: job.Out,
    words: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    dimensions: int = 100,
    epochs: int = 10,
    seed: int = 1,
    texts: list[Path] = (),
) -> None:
    """Write the vectors, their words and their origin; `texts` are the corpora to train on."""
    read: Counter[str] = Counter()
    if "path" in source:
        names, matrix = from_glove(Path(source["path"]), read)
        origin = source["path"]
    elif "download" in source:
        names, matrix = from_downloader(source["download"], read)
        origin = source["download"]
    else:
        examples = [example for path in texts for example in read_examples(path)]
        running = [text for example in examples for text in example.texts]
        names, matrix = trained(running, dimensions, epochs, seed)
        origin = f"trained on {source['train']}"
    write_vectors(names, matrix, vectors, words)
    rows = {"source": origin, **read, "words": len(names), "dimensions": matrix.shape[1]}
    tables.write_counts(rows, counts)


if __name__ == "__main__":
    job.run(main, globals())
