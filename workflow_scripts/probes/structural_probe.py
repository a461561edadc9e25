"""The structural probe of Hewitt & Manning 2019: trees from distances between hidden states.

A linear map is fitted so that the squared distance of two words' states is their distance in the
tree; the minimum spanning tree over these is compared with the tree's undirected edges (UUAS).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.probes.probe_scores import edges_of
from workflow_scripts.probes.probing_classifiers import descend

CONTROL = ("first", "last")  # "itself" would not be an edge


def word_states(
    directory: Path,
    examples: Sequence[Example],
    max_tokens: int,
    max_positions: int,
    device: str,
    batch_tokens: int,
) -> dict[str, np.ndarray]:
    """Hidden states float16 [layer, word, hidden] by example id, averaged over wordpieces."""
    model = models.load_body(directory, running.pick_device(device))
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, max_positions)
    states_of = {}
    batches = running.by_length([len(example) for example in tokens], batch_tokens)
    for batch in job.progress(batches, desc="hidden states"):
        inputs = running.pad([tokens[index] for index in batch], model)
        with torch.inference_mode(), running.OneDNN():
            output = model(**inputs, output_hidden_states=True)
        states = torch.stack(output.hidden_states).cpu().numpy()
        for row, index in enumerate(batch):
            word, length = tokens[index].word, len(tokens[index])
            member = (word == np.arange(tokens[index].n_words)[:, None]).astype(np.float32)
            mean = member / np.maximum(member.sum(axis=1, keepdims=True), 1)
            states_of[tokens[index].id] = (mean @ states[:, row, :length]).astype(np.float16)
    return states_of


def tree_distances(heads: np.ndarray) -> np.ndarray:
    """Number of edges between two words, float [word, word]; all roots are joined to the first."""
    edges = edges_of(heads)
    roots = np.flatnonzero(heads == 0)
    edges |= {(min(roots[0], root), max(roots[0], root)) for root in roots[1:]}
    graph = np.zeros((len(heads), len(heads)))
    for a, b in edges:
        graph[a, b] = 1
    return shortest_path(graph, directed=False, unweighted=True)


def squared_distances(projected: torch.Tensor) -> torch.Tensor:
    """Squared distances [..., word, word] of projected states [..., word, rank]."""
    norm = (projected**2).sum(dim=-1)
    cross = projected @ projected.transpose(-1, -2)
    return (norm[..., :, None] + norm[..., None, :] - 2 * cross).clamp_min(0)


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
    generator = torch.Generator().manual_seed(recipe.seed)
    start = torch.randn(states[0].shape[1], rank, generator=generator) * 0.05
    probe = nn.ParameterDict({"matrix": start.to(device)})

    def loss_of(batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
        vectors, distances, mask = (part.to(device) for part in batch)
        found = squared_distances(vectors.float() @ probe["matrix"])
        errors = (found - distances).abs() * mask
        pairs = mask.sum(dim=(1, 2)).clamp_min(1)
        return (errors.sum(dim=(1, 2)) / pairs).mean()

    chunks = running.chunks_by_length([len(words) for words in states], recipe.batch_size)
    batches = [_pad([states[k] for k in chunk], [targets[k] for k in chunk]) for chunk in chunks]
    descend(probe, batches, loss_of, recipe)
    return probe["matrix"].detach().cpu()


def _pad(
    states: Sequence[np.ndarray], targets: Sequence[np.ndarray]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """States [sentence, word, hidden], and distances and mask [sentence, word, word] as float32."""
    vectors = pad_sequence([torch.from_numpy(words) for words in states], batch_first=True)
    n, longest, _ = vectors.shape
    distances, mask = torch.zeros(2, n, longest, longest)
    for row, target in enumerate(targets):
        length = len(target)
        distances[row, :length, :length] = torch.from_numpy(target)
        mask[row, :length, :length] = 1
    return vectors, distances, mask


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
    """Correct edges and all edges of every sentence, int [sentence]; punctuation is left out."""
    correct, total = [], []
    for vectors, sentence_heads, is_scored in zip(states, heads, scored, strict=True):
        words = np.flatnonzero(is_scored)
        gold = edges_of(sentence_heads, is_scored)
        predicted = set()
        if len(words) > 1:
            projected = torch.from_numpy(vectors).float() @ matrix
            predicted = spanning_edges(squared_distances(projected).numpy(), words)
        correct.append(len(gold & predicted))
        total.append(len(gold))
    return np.array(correct), np.array(total)
