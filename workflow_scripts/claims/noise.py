"""Whether effects of heads are known well enough for what is judged of them."""

import math

from workflow_scripts.claims.intervals import apart
from workflow_scripts.claims.verdicts import Measured


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


def order_of_noise(scores: Measured, random: Measured | None) -> str:
    """Why no order can be held against that by scores; empty where one can, or none is random.

    Scores on few examples order the heads by chance: theirs must beat a random order, by an
    interval above 0.
    """
    if random is None or apart(scores, random)[1] > 0:
        return ""
    return "the order by scores may be noise: it does not surely beat a random one"
