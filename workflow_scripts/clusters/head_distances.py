"""Average Jensen-Shannon divergence between all pairs of heads (Clark et al. 2019, section 6).

With s = p + q, JS(p, q) = H(s / 2) - (H(p) + H(q)) / 2 and H(s / 2) = log 2 - (sum of s log s) / 2:
one addition and one logarithm per pair and weight, no division. JS is symmetric, so half the
pairs are enough; and blocks of a few queries keep the working set in the processor's cache.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import torch

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TINY = 1e-20  # added to every weight: log(0) never occurs, and nothing else changes
BLOCK = 32  # queries


def distances(
    pattern: np.ndarray, device: torch.device | None = None, smoothing: float = 0.0
) -> np.ndarray:
    """Mean Jensen-Shannon divergence of all pairs of heads, in nats, float64 [heads, heads].

    `pattern` is [layer, head, query, key] of one example; heads are flattened, layer by layer.
    The mean is over queries. `smoothing` is the share of uniform attention mixed into every map.
    """
    maps = torch.from_numpy(pattern.astype(np.float32)).to(device or "cpu").flatten(0, 1)
    n_heads, n_queries = maps.shape[:2]
    maps = maps * (1 - smoothing) + (smoothing / n_queries + TINY)
    products = torch.zeros(
        n_heads, n_heads, device=maps.device
    )  # sums of s log s, of pairs and single heads
    single = torch.zeros(n_heads, device=maps.device)
    for block in maps.split(BLOCK, dim=1):
        flat = block.flatten(1).contiguous()
        single += (flat * flat.log()).sum(dim=1)
        add_pairs(flat, products)
    sums = products.double() - single.double()[:, None] - single.double()
    divergence = np.log(2) - sums / 2 / n_queries
    upper = divergence.clamp_min(0).triu(1)  # rounding may go a little below 0
    return (upper + upper.T).cpu().numpy()


def add_pairs(flat: torch.Tensor, products: torch.Tensor) -> None:
    """Add the sum of s log s, s = p + q, to `products` for each pair of rows of [head, weight]."""
    sums, logs = torch.empty_like(flat), torch.empty_like(flat)  # buffers
    for first in range(len(flat) - 1):
        later = slice(first + 1, None)
        count = len(flat) - first - 1
        mixed = torch.add(flat[later], flat[first], out=sums[:count])
        terms = torch.log(mixed, out=logs[:count]).mul_(mixed)
        products[first, later] += terms.sum(dim=1)


def main(
    attention: Path,
    model: Path,
    distances_table: Out,
    n_segments: int,
    smoothing: float,
    device: str = "auto",
) -> None:
    """Write the mean distance of every pair of heads over the first `n_segments` examples."""
    torch_device = devices.pick(device)
    with Cache(attention, read_card(model)) as cache:
        n, n_heads = min(n_segments, len(cache)), cache.n_heads
        total = np.zeros((cache.n_layers * n_heads,) * 2)
        queries = 0
        for index in job.progress(range(n), desc="distances"):
            pattern = cache[index].pattern
            total += distances(pattern, torch_device, smoothing) * pattern.shape[-1]
            queries += pattern.shape[-1]
    a, b = np.triu_indices(len(total), k=1)
    columns = {"layer_a": a // n_heads, "head_a": a % n_heads}
    columns |= {"layer_b": b // n_heads, "head_b": b % n_heads}
    frame = pd.DataFrame(columns).assign(distance=total[a, b] / queries, n=n)
    tables.write(frame, distances_table)


if __name__ == "__main__":
    job.run(main, globals())
