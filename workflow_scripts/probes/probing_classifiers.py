"""The probing classifiers of Clark et al. 2019, section 5, and their baselines.

Each scores every candidate head of every word: [sentence, dependent, candidate], candidate 0 the
root and k + 1 word k. A batch holds `pairs` [sentence, word i, 2 heads, word j], attention from i
to j and then from j to i; `edges` [sentence, word, 2 heads, 2], attention to (and from) the start
and the end token; `vectors` [sentence, word, dimension]; and `candidates` [sentence, candidate,
dimension], the vectors of the same words as candidates, with zeros for the root.
"""

from dataclasses import dataclass

import torch
from torch import nn

N_DISTANCES = 8


@dataclass
class Batch:
    """Padded sentences; `mask` [sentence, word] is true where there is a word.

    `heads` [sentence, word] are the correct candidates.
    """

    pairs: torch.Tensor
    edges: torch.Tensor
    vectors: torch.Tensor
    candidates: torch.Tensor
    mask: torch.Tensor
    heads: torch.Tensor


class AttentionOnly(nn.Module):
    """A weight for every head and direction, and two for attention to the start and end token."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * n_heads))
        self.root = nn.Parameter(torch.full((2,), 0.5))

    def forward(self, batch: Batch) -> torch.Tensor:
        """Scores [sentence, dependent, candidate]."""
        # A single row for every word: a vector would make matmul copy all pairs.
        weight = self.weight.expand(*batch.pairs.shape[:2], 1, -1)
        words = (weight @ batch.pairs)[:, :, 0]
        root = torch.matmul(self.weight, batch.edges) @ self.root
        return torch.cat([root[..., None], words], dim=-1)


class AttentionAndWords(nn.Module):
    """A weight for every head and direction, computed from the vectors of both words."""

    def __init__(self, n_heads: int, dimension: int) -> None:
        super().__init__()
        self.dependent = nn.Linear(dimension, 2 * n_heads)
        self.candidate = nn.Linear(dimension, 2 * n_heads, bias=False)
        self.root = nn.Parameter(torch.full((2,), 0.5))
        for layer in (self.dependent, self.candidate):
            nn.init.zeros_(layer.weight)
        nn.init.zeros_(self.dependent.bias)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Scores [sentence, dependent, candidate]."""
        first = self.dependent(batch.vectors)
        # Seen from the candidate, attention from i to j is attention to it: the halves swap.
        second = self.candidate(batch.candidates)
        turned = torch.cat(second[:, 1:].chunk(2, dim=-1)[::-1], dim=-1)
        both = torch.stack([first, turned], dim=2) @ batch.pairs
        words = both[:, :, 0] + both[:, :, 1].transpose(1, 2)
        root = ((first + second[:, :1]) * (batch.edges @ self.root)).sum(dim=-1)
        return torch.cat([root[..., None], words], dim=-1)


class DistancesAndWords(nn.Module):
    """One hidden layer over both words' vectors and their distance (footnote 4)."""

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.dependent = nn.Linear(dimension, hidden)
        self.candidate = nn.Linear(dimension, hidden, bias=False)
        self.distance = nn.Linear(N_DISTANCES, hidden, bias=False)
        self.out = nn.Linear(hidden, 1, bias=False)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Scores [sentence, dependent, candidate]."""
        candidates = self.candidate(batch.candidates)
        features = self.distance(distances(batch.mask))
        hidden = self.dependent(batch.vectors)[:, :, None] + candidates[:, None] + features
        return self.out(hidden.tanh())[..., 0]


def distances(mask: torch.Tensor) -> torch.Tensor:
    """Distance features [sentence, dependent, candidate, 8] of padded sentences.

    How far ahead and how far behind the candidate is, as a share of the length; indicators of the
    distances -2 to 2; an indicator of the root, for which all others are 0.
    """
    length = mask.sum(dim=1).clamp_min(1)
    positions = torch.arange(mask.shape[1], device=mask.device)
    offset = (positions[None, :] - positions[:, None]).float()
    share = offset / length[:, None, None]
    near = [(offset == k).float().expand_as(share) for k in range(-2, 3)]
    root = torch.zeros_like(share)
    features = torch.stack([share.clamp_min(0), (-share).clamp_min(0), *near, root], dim=-1)
    first = torch.zeros_like(features[:, :, :1])
    first[..., -1] = 1
    return torch.cat([first, features], dim=2)
