"""Training of the attention-and-words probe in batches against one sentence at a time.

The plain side is the released code's way: one sentence a step, its features built anew each time
(those of distance too, which this probe does not read), and a weight computed for every pair of
words from both vectors joined. Both sides train on the same sentences for as many passes; their
scores on other sentences must agree within 0.5 points.
"""

import numpy as np
import torch
from common import alternate, arguments, report
from torch.nn import functional

from workflow_scripts.core.data.annotations import Tree
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.probes import probing_classifiers
from workflow_scripts.probes.probe_sentences import Sentence
from workflow_scripts.probes.probing_classifiers import AttentionAndWords

HEADS, DIMENSION, KINDS, EPOCHS = 72, 100, 12, 10
CPU = torch.device("cpu")


class OneByOne(torch.nn.Module):
    """The released probe: a dense layer over the joined vectors of every pair of words."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = torch.nn.Linear(2 * DIMENSION, 2 * HEADS)
        self.root = torch.nn.Parameter(torch.full((2,), 0.5))
        torch.nn.init.zeros_(self.weights.weight)
        torch.nn.init.zeros_(self.weights.bias)

    def forward(self, sentence: Sentence) -> torch.Tensor:
        """Scores [word, candidate] of one sentence."""
        attention = torch.from_numpy(sentence.attention).float()
        edges = torch.from_numpy(sentence.edges).float()
        vectors = torch.from_numpy(sentence.vectors)
        maps = torch.cat([attention, attention.transpose(1, 2)])
        both = torch.cat([edges[:2], edges[2:]], dim=1)
        root = self.root[0] * both[0] + self.root[1] * both[1]
        maps = torch.cat([root[..., None], maps], dim=-1).permute(1, 2, 0)
        n = len(sentence)
        candidates = torch.cat([torch.zeros(1, DIMENSION), vectors])
        pairs = torch.cat(
            [vectors[:, None].expand(n, n + 1, -1), candidates[None].expand(n, n + 1, -1)], dim=-1
        )
        scores = (self.weights(pairs) * maps).sum(dim=-1)
        own = functional.pad(torch.eye(n, dtype=torch.bool), (1, 0))
        return scores.masked_fill(own, -torch.inf)


def main() -> None:
    """Train both on made-up sentences."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    torch.set_num_threads(2)
    train, dev = made_up(1500 if options.full else 600, 0), made_up(300, 1)
    results: dict[str, float] = {}

    def ours() -> None:
        torch.manual_seed(1)
        probe = AttentionAndWords(HEADS, DIMENSION)
        batches = probing_classifiers.Batches(train, [sentence.heads for sentence in train], 32)
        recipe = Recipe(seed=1, epochs=EPOCHS, batch_size=32, learning_rate=0.02)
        probing_classifiers.fit(probe, batches, recipe, CPU)
        scored = probing_classifiers.Batches(dev, [sentence.heads for sentence in dev], 32)
        predicted = probing_classifiers.predictions(probe, scored, CPU)
        heads = [dev[k].heads for k in scored.order]
        results["ours"] = 100 * float((np.concatenate(predicted) == np.concatenate(heads)).mean())

    def released() -> None:
        torch.manual_seed(1)
        results["released"] = one_by_one(train, dev)

    rounds = alternate({"ours": ours, "released": released}, 3 if options.full else 1)
    report(
        "probes",
        rounds.others,
        ratio=rounds.ratio("released", "ours"),
        span=rounds.span("released", "ours"),
        uas_difference=results["ours"] - results["released"],
        detail={
            "sentences": len(train),
            "epochs": EPOCHS,
            "uas": results,
            "seconds": rounds.seconds,
        },
    )


def one_by_one(train: list[Sentence], dev: list[Sentence]) -> float:
    """UAS in percent after training with one sentence a step, at the released learning rate."""
    probe = OneByOne()
    optimizer = torch.optim.Adam(probe.parameters(), lr=0.002)
    rng = np.random.default_rng(1)
    for _ in range(EPOCHS):
        for index in rng.permutation(len(train)):
            sentence = train[index]
            distance_features(len(sentence))
            loss = functional.cross_entropy(
                probe(sentence), torch.from_numpy(sentence.heads), reduction="sum"
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.inference_mode():
        correct = [(probe(sentence).argmax(dim=-1).numpy() == sentence.heads) for sentence in dev]
    return 100 * float(np.concatenate(correct).mean())


def distance_features(n: int) -> np.ndarray:
    """Features [8, word, candidate] of one sentence, word by word as the released code has it."""
    ahead = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i < j:
                ahead[i, j] = (j - i) / n
    maps = [ahead, ahead.T, *(np.eye(n, k=k) for k in range(-2, 3))]
    root = np.zeros((1, n, n + 1))
    root[:, :, 0] = 1
    words = np.concatenate([np.zeros((len(maps), n, 1)), np.stack(maps)], axis=-1)
    return np.concatenate([words, root])


def made_up(n: int, seed: int) -> list[Sentence]:
    """Sentences whose heads one attention head sees; which one depends on the word's kind."""
    rng = np.random.default_rng(seed)
    kinds = np.random.default_rng(7).normal(size=(KINDS, DIMENSION)).astype(np.float32)
    sentences = []
    for number in range(n):
        length = int(np.clip(rng.gamma(4, 5.5), 5, 60))
        heads = (np.arange(length) + rng.integers(1, length, size=length)) % length + 1
        heads[rng.integers(length)] = 0
        kind = rng.integers(KINDS, size=length)
        logits = rng.normal(scale=1.5, size=(HEADS, length, length + 2))
        columns = np.where(heads == 0, length, heads - 1)
        logits[kind, np.arange(length), columns] += 4
        weights = np.exp(logits)
        weights /= weights.sum(axis=-1, keepdims=True)
        edges = np.stack([weights[..., -2], weights[..., -1]])
        tree = Tree(str(number), ("w",) * length, (), (), (), "")
        sentences.append(
            Sentence(
                tree=tree,
                document=str(number),
                attention=weights[..., :length].astype(np.float16),
                edges=np.concatenate([edges, rng.random(edges.shape) / length]).astype(np.float16),
                vectors=kinds[kind] + rng.normal(scale=0.3, size=(length, DIMENSION)).astype("f4"),
                heads=heads,
                scored=np.ones(length, dtype=bool),
            )
        )
    return sentences


if __name__ == "__main__":
    main()
