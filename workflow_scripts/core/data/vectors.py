"""Word vectors: a matrix in safetensors next to its words, one per line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file


@dataclass(frozen=True)
class Vectors:
    """`matrix` is float32 [word, dimension]; `rows` maps each word to its row."""

    rows: dict[str, int]
    matrix: np.ndarray

    def lookup(self, words: Sequence[str]) -> np.ndarray:
        """Vectors of `words`, as they are or in lower case, else 0: float32 [word, dimension]."""
        vectors = np.zeros((len(words), self.matrix.shape[1]), dtype=np.float32)
        for index, word in enumerate(words):
            row = self.rows.get(word, self.rows.get(word.lower()))
            if row is not None:
                vectors[index] = self.matrix[row]
        return vectors

    def __contains__(self, word: str) -> bool:
        return word in self.rows or word.lower() in self.rows


def write_vectors(words: Sequence[str], matrix: np.ndarray, vectors: Path, names: Path) -> None:
    """Write the matrix and the words, in its rows' order."""
    save_file({"vectors": np.ascontiguousarray(matrix, dtype=np.float32)}, vectors)
    names.write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")


def read_vectors(vectors: Path, names: Path) -> Vectors:
    """The vectors at `vectors` of the words at `names`."""
    words = names.read_bytes().decode("utf-8").split("\n")[:-1]
    return Vectors({word: row for row, word in enumerate(words)}, load_file(vectors)["vectors"])
