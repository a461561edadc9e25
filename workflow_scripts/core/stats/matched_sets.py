"""A randomisation test of matched sets: does the first member of each stand out among its controls?

The members of a set are what is tested, first, and its controls.

In each draw every set chooses one of its members at random, the same for all heads, as if it had
been the first. Where no head distinguishes the first member from its controls, what was observed is
one more draw, however few or skewed the values are.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from workflow_scripts.core.stats.randomisation import smallest_p

BLOCK = 200  # draws at a time, which bounds memory


def matched_p_values(
    sets: Sequence[np.ndarray], weights: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values of the first members' mean excess, and the same corrected for all heads.

    A set is [member, family, head], of two members or more, and its excess the first member's value
    minus the mean of the others; `weights` [set] are the sets' shares of the mean. The p-values
    [family, head] are corrected for the heads of a family by the smallest p of each draw.
    """
    excess = np.concatenate([excesses(values) for values in sets])
    excess *= np.repeat(weights, [len(values) for values in sets])[:, None, None]
    n_members = np.array([len(values) for values in sets])
    first = n_members.cumsum() - n_members
    observed = excess[first].sum(axis=0)
    flat = excess.reshape(len(excess), -1)
    sampled = np.concatenate([chosen @ flat for chosen in _chosen(first, n_members, draws, seed)])
    sampled = sampled.reshape(draws, *observed.shape)
    tests = [smallest_p(observed[k], sampled[:, k]) for k in range(len(observed))]
    return np.stack([test.p for test in tests]), np.stack([test.corrected for test in tests])


def excesses(values: np.ndarray) -> np.ndarray:
    """Each member's value minus the mean of the other members, float64 [member, ...]."""
    values = values.astype(np.float64)
    others = (values.sum(axis=0) - values) / (len(values) - 1)
    return values - others


def sampled_members(n_members: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """The member that each set chooses in each draw, int [draw, set], in blocks of draws."""
    rng = np.random.default_rng(seed)
    for start in range(0, draws, BLOCK):
        yield rng.integers(0, n_members, size=(min(BLOCK, draws - start), len(n_members)))


def _chosen(
    first: np.ndarray, n_members: np.ndarray, draws: int, seed: int
) -> Iterator[np.ndarray]:
    """1 for the members that are chosen, else 0: float64 [draw, member of any set], in blocks."""
    for members in sampled_members(n_members, draws, seed):
        chosen = np.zeros((len(members), n_members.sum()))
        np.put_along_axis(chosen, first + members, 1.0, axis=1)
        yield chosen
