"""The structural probe of Hewitt & Manning 2019: trees from distances between hidden states.

A linear map is fitted so that the squared distance of two words' states is their distance in the
tree. The minimum spanning tree over the fitted distances is compared with the tree's undirected
edges (UUAS).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from torch import nn

from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.model import devices, models, padding
from workflow_scripts.core.model.batches import by_length, in_chunks
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.probes.probe_fitting import descend

CONTROL = ("first", "last")  # "itself" would not be an edge


def word_states(
    directory: Path, examples: Sequence[Example], max_tokens: int, device: str, batch_tokens: int
) -> dict[str, np.ndarray]:
    """Hidden states float16 [layer, word, hidden] by example id, averaged over wordpieces.

    Layer 0 are the embeddings. A word without a wordpiece has zeros.
    """
    model = models.load_body(directory, devices.pick(device))
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, models.max_positions(model.config))
    found = {}
    for batch in job.progress(by_length([len(one) for one in tokens], batch_tokens), desc="states"):
        with torch.inference_mode():
            output = model(
                **padding.pad([tokens[index] for index in batch], model), output_hidden_states=True
            )
        states = torch.stack(output.hidden_states).cpu().numpy()
        for row, index in enumerate(batch):
            word, length = tokens[index].word, len(tokens[index])
            member = (word == np.arange(tokens[index].n_words)[:, None]).astype(np.float32)
            mean = member / np.maximum(member.sum(axis=1, keepdims=True), 1)
            found[tokens[index].id] = (mean @ states[:, row, :length]).astype(np.float16)
    return found


def edges_of(heads: np.ndarray) -> set[tuple[int, int]]:
    """Undirected edges between words, of heads that are 0 at the root and k + 1 for word k."""
    pairs = ((word, head - 1) for word, head in enumerate(heads) if head > 0)
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def tree_distances(heads: np.ndarray) -> np.ndarray:
    """Edges between every two words, float [word, word]; further roots hang on the first."""
    edges = edges_of(heads)
    roots = np.flatnonzero(heads == 0)
    edges |= {(min(roots[0], root), max(roots[0], root)) for root in roots[1:]}
    graph = np.zeros((len(heads), len(heads)))
    for a, b in edges:
        graph[a, b] = 1
    return shortest_path(graph, directed=False, unweighted=True)


def control_tree(heads: np.ndarray) -> np.ndarray:
    """A tree of control heads that are the first or the last word: these two are joined."""
    tree = heads.copy()
    tree[0] = 0
    tree[-1] = 1 if len(tree) > 1 else 0
    return tree


def squared_distances(projected: torch.Tensor) -> torch.Tensor:
    """Squared distances [..., word, word] of projected states [..., word, rank]."""
    norm = (projected**2).sum(dim=-1)
    cross = projected @ projected.transpose(-1, -2)
    return (norm[..., :, None] + norm[..., None, :] - 2 * cross).clamp_min(0)


class StructuralProbe(nn.Module):
    """A linear map `matrix` [hidden, rank], under which distances are those in the tree."""

    def __init__(self, hidden: int, rank: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.matrix = nn.Parameter(torch.randn(hidden, rank, generator=generator) * 0.05)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Squared distances [..., word, word] of states [..., word, hidden]."""
        return squared_distances(states @ self.matrix)


def fit(
    states: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    rank: int,
    recipe: Recipe,
    device: torch.device,
) -> torch.Tensor:
    """The map [hidden, rank] for states [word, hidden] and tree distances [word, word].

    The loss is the mean absolute difference over a sentence's pairs, averaged over sentences.
    """
    probe = StructuralProbe(states[0].shape[1], rank, recipe.seed).to(device)

    def loss_of(batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
        vectors, distances, mask = (part.to(device) for part in batch)
        errors = (probe(vectors.float()) - distances).abs() * mask
        pairs = mask.sum(dim=(1, 2)).clamp_min(1)
        return (errors.sum(dim=(1, 2)) / pairs).mean()

    chunks = in_chunks([len(words) for words in states], recipe.batch_size)
    batches = [_pad(chunk, states, targets) for chunk in chunks]
    descend(probe, batches, loss_of, recipe)
    return probe.matrix.detach().cpu()


def _pad(
    chunk: np.ndarray, states: Sequence[np.ndarray], targets: Sequence[np.ndarray]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    longest = max(len(states[k]) for k in chunk)
    vectors = np.zeros((len(chunk), longest, states[0].shape[1]), dtype=np.float16)
    distances = np.zeros((len(chunk), longest, longest), dtype=np.float32)
    mask = np.zeros((len(chunk), longest, longest), dtype=np.float32)
    for row, k in enumerate(chunk):
        size = len(states[k])
        vectors[row, :size] = states[k]
        distances[row, :size, :size] = targets[k]
        mask[row, :size, :size] = 1
    return torch.from_numpy(vectors), torch.from_numpy(distances), torch.from_numpy(mask)


def spanning_edges(distances: np.ndarray, words: np.ndarray) -> set[tuple[int, int]]:
    """Edges of the minimum spanning tree among `words` (indices) by `distances` [word, word]."""
    # A distance of 0 would be no edge to SciPy.
    among = distances[np.ix_(words, words)] + 1e-6
    tree = minimum_spanning_tree(np.triu(among, k=1)).tocoo()
    return {(min(pair), max(pair)) for pair in zip(words[tree.row], words[tree.col], strict=True)}


def counts(
    matrix: torch.Tensor,
    states: Sequence[np.ndarray],
    heads: Sequence[np.ndarray],
    scored: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Edges found and all edges of every sentence, int [sentence]; punctuation is left out."""
    right, total = [], []
    for vectors, sentence_heads, counted in zip(states, heads, scored, strict=True):
        words = np.flatnonzero(counted)
        kept = set(words.tolist())
        gold = {edge for edge in edges_of(sentence_heads) if kept.issuperset(edge)}
        found = set()
        if len(words) > 1:
            projected = torch.from_numpy(vectors).float() @ matrix
            found = spanning_edges(squared_distances(projected).numpy(), words)
        right.append(len(gold & found))
        total.append(len(gold))
    return np.array(right), np.array(total)
