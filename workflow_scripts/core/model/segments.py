"""Segments of running text whose next tokens a causal model predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from workflow_scripts.core.data.examples import Example, read_examples
from workflow_scripts.core.data.sampling import sample
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models


@dataclass(frozen=True)
class Segments:
    """Segments of a corpus as tokens, with the document of each."""

    tokens: list[Tokens]
    documents: list[str]

    @classmethod
    def of(cls, examples: Sequence[Example], card: dict[str, Any], max_tokens: int) -> Self:
        """The segments of `examples`, for the model of a card.

        Raises InputError for one of a single token, which has no next one.
        """
        tokenizer = models.load_tokenizer(models.directory_of(card))
        tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
        for example, each in zip(examples, tokens, strict=True):
            if len(each) < 2:
                raise InputError(f"{example.source}: one token, without a next; remove this text")
        return cls(tokens, [example.document for example in examples])

    @property
    def n_scored(self) -> np.ndarray:
        """The number of tokens of each segment whose loss is known, int [segment]."""
        return np.array([len(each) - 1 for each in self.tokens])

    def take(self, chosen: np.ndarray) -> Self:
        """Some of the segments, by their numbers."""
        return type(self)([self.tokens[at] for at in chosen], [self.documents[at] for at in chosen])


def sampled(corpus: Path, n: int, seed: int) -> tuple[Sequence[Example], list[Example]]:
    """`n` segments of a corpus (0: all), sampled by `seed`, and the others."""
    examples = read_examples(corpus)
    chosen = sample(examples, n, seed)
    known = {id(example) for example in chosen}
    return chosen, [example for example in examples if id(example) not in known]
