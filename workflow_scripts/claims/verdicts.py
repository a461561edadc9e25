"""Our number held against a claim: a word, by the rule written in the claim's file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workflow_scripts.claims.published import Claim

# On the paper's own model and data; on another model; and on either.
REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not reproduced", "not run"
CARRIES, FAILS, NOT_TESTED = "carries over", "does not carry over", "not tested"
INCONCLUSIVE = "inconclusive"
JUDGED = (REPRODUCED, CARRIES, FAILS, NOT_REPRODUCED, INCONCLUSIVE)
OTHER_MODEL = "another model"
INSIDE, OUTSIDE, TOO_WIDE = "inside", "outside", "too wide"
BOUNDS = "bounds of the count"
ROUNDING = 1e-9  # the bounds of rules are sums of decimals
UNTRAINED = "an untrained model shows it too"
NO_BASELINE = "baseline missing: the paper has none for this number"
MISSES = "the interval misses the rule"
NO_RULE = "none: a number of the paper's model alone"
PREMISE_ABSENT = "premise absent"
UNDERPOWERED, LEAST_POWER = "underpowered", 0.5


@dataclass(frozen=True)
class Measured:
    """Our number for a claim, with the ends of its interval, in the claim's unit.

    The interval is of 95% and resamples what `n` counts, unless `interval` states another.
    """

    value: float
    low: float
    high: float
    n: int | None = None  # what was sampled or counted: segments, words, examples, heads, runs
    of: str = ""  # the name of what `n` counts
    case: str = ""  # the part of the run, pair of sets or the like, if not the whole task or run
    seeds: int | None = None
    reference: float | None = None  # our own baseline; instead of the claim's reference
    about: str = ""  # the head, or whatever else a reader must know
    because: str = ""  # why this number cannot be held against the claim
    task: str = ""  # the study's name of the GLUE task of the case
    run: str = ""  # the translator of the case
    own_head: bool = False  # whether the masked-LM head is the checkpoint's own
    interval: str = ""  # what the interval is, such as "range over folds"
    binomial: bool = False  # whether it is a percentage of `n` with Wilson's interval
    expected: float | None = None  # what it would be if the claim held, where the paper has none
    # So many numbers with their ends, [3, draws], as they would be sampled if the claim held.
    drawn: Callable[[np.random.Generator, int], np.ndarray] | None = None


def lies(claim: Claim, measured: Measured) -> str:
    """Whether the interval lies inside or outside of what the rule wants, or is too wide to tell.

    Empty without an interval. A number `within` a distance of the paper's is inside, too, where its
    interval covers the paper's and reaches no farther than that distance from itself: with as many
    examples as the paper had, the paper's own number is.
    """
    number = np.array([measured.value, measured.low, measured.high])
    if np.isnan(number).any():
        return ""
    inside, outside = inside_outside(claim, number)
    return INSIDE if inside else OUTSIDE if outside else TOO_WIDE


def inside_outside(claim: Claim, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether numbers with their ends, [3, ...], lie inside and outside of what the rule wants."""
    (ours, low, high), value = numbers, claim.value
    least, most = claim.target[0] - ROUNDING, claim.target[1] + ROUNDING  # the bounds are inside
    inside = (low >= least) & (high <= most)
    outside = (high < least) | (low > most)
    if claim.rule == "above":
        inside, outside = low > value, high <= value
    elif claim.rule == "below":
        inside, outside = high < value, low >= value
    elif claim.rule == "not below":
        inside, outside = inside & (high >= value), high < value
    elif claim.rule == "within":
        covers = (low <= value) & (value <= high)
        inside |= covers & (np.maximum(ours - low, high - ours) <= (claim.to or 0.0) + ROUNDING)
    return inside, outside


def opposite(claim: Claim, measured: Measured) -> tuple[str, float | None]:
    """On which side the paper has its number, above or below, and from where ours is against it.

    That is the claim's own `contrary`, else the reference, else the rule's bound, which a count
    must miss by one where it can. A number's side is that of the paper's baseline, so that without
    one it has none, nor has a range.
    """
    if claim.rule in ("within", "between"):
        if claim.reference is None:
            return "", None
        side = "above" if sum(claim.target) / 2 > claim.reference else "below"
    else:
        side = "below" if claim.rule == "below" else "above"
    reference = claim.reference if measured.reference is None else measured.reference
    end = next((end for end in (claim.contrary, reference) if end is not None), None)
    if end is None:
        end = claim.value
        if measured.interval.startswith(BOUNDS) and measured.n:
            most = 100 if claim.unit.startswith("%") else measured.n
            one = most / measured.n
            end = min(end + one, most) if side == "below" else max(end - one, 0)
    return side, end


def untrained_shows(claim: Claim, row: Mapping[str, Any], copies: int) -> bool:
    """Whether untrained copies of the model, whose range the row has, show the claim, too.

    They do where it reaches what the rule wants, unless there are two copies or more and the whole
    interval of the model lies more than twice as far beyond `contrary` as the farthest copy.
    """
    low, high = row["untrained_low"], row["untrained_high"]
    if not copies or lies(claim, Measured(low, low, high)) == OUTSIDE:
        return False
    if copies < 2 or row["contrary"] is None:
        return True
    sign, near, far = 1, row["ci_low"], high
    if row["direction"] == "below":
        sign, near, far = -1, row["ci_high"], low
    effect, untrained = sign * (near - row["contrary"]), sign * (far - row["contrary"])
    return effect <= 2 * max(untrained, 0)


def word(row: Mapping[str, Any]) -> tuple[str, str]:
    """The word for a row of the table by its other columns, and the reason where it needs one.

    `because` of the row states why its number cannot test the claim, or why there is none.
    """
    same, because = row["rests_on"] != OTHER_MODEL, row["because"]
    if row["ours"] is None:
        return NOT_RUN if same else NOT_TESTED, because
    number = row["rule_low"] is not None and row["rule_high"] is not None
    if not because and row["kind"] == "value" and not (same or row["direction"]):
        because = NO_BASELINE
    if because:
        return NOT_TESTED, because
    where, contrary = row["lies"], row["contrary"]
    if not where:
        return INCONCLUSIVE, "no interval"
    too_wide = "interval too wide"
    if row["power"] is not None and row["power"] < LEAST_POWER:
        too_wide = f"{UNDERPOWERED}: the rule comes out in {row['power']:.0%} of samples like this,"
        too_wide += " if the claim holds"
    if same:
        words = {INSIDE: REPRODUCED, OUTSIDE: NOT_REPRODUCED}
        return words.get(where, INCONCLUSIVE), "" if where in words else too_wide
    up = row["direction"] == "above"
    on_other_side = contrary is not None and (
        row["ci_high"] <= contrary + ROUNDING if up else row["ci_low"] >= contrary - ROUNDING
    )
    clear = contrary is None or (row["ci_low"] > contrary if up else row["ci_high"] < contrary)
    if where == INSIDE and (clear or row["kind"] == "statement"):
        return CARRIES, ""
    if on_other_side or (number and where == OUTSIDE):
        return FAILS, ""
    if where == INSIDE:
        return INCONCLUSIVE, "not clear of the baseline"
    if where == OUTSIDE:
        only = f"only if all of it were at {'most' if up else 'least'} {contrary:g}"
        return INCONCLUSIVE, f"{MISSES}, but would contradict the claim {only}"
    return INCONCLUSIVE, too_wide
