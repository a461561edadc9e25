"""Whether effects of heads are known well enough for a correlation between two sets of examples."""

import math


def reliability(halves: float) -> float:
    """The reliability of effects on a whole set, from their correlation between its halves.

    By Spearman and Brown's formula (1910) for twice the length; 0 where halves disagree.
    """
    halves = max(halves, 0.0)
    return 2 * halves / (1 + halves)


def ceiling(one: float, other: float) -> float:
    """What effects on two sets would correlate by if all heads mattered alike on both.

    The numbers are the correlations between the halves of each set. Noise attenuates a correlation
    by the root of the product of both reliabilities (Spearman 1904).
    """
    return math.sqrt(reliability(one) * reliability(other))


def too_noisy(one: float, other: float, paper: float) -> str:
    """Why a correlation cannot be held against the paper's; empty where it can."""
    if (most := ceiling(one, other)) >= paper:
        return ""
    why = f"too noisy: by their halves the sets can correlate by {most:.2f}"
    return f"{why}, the paper's do by {paper:g}"
