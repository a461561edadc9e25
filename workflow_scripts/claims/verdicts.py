"""Our number held against a claim: a verdict, by the rule written in the claim's file."""

import math
from dataclasses import dataclass

from workflow_scripts.claims.published import Claim

REPRODUCED = "reproduced"
DIRECTION = "same direction"
NOT_REPRODUCED = "not reproduced"
# The same two on another model than the paper's.
HOLDS = "holds here"
FAILS = "does not hold here"
CANNOT_TELL = "cannot tell"
NOT_COMPARABLE = "not comparable"
NOT_MEASURED = "not measured"
VERDICTS = (REPRODUCED, HOLDS, DIRECTION, FAILS, NOT_REPRODUCED)
VERDICTS += (CANNOT_TELL, NOT_COMPARABLE, NOT_MEASURED)


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
    not_comparable: str = ""  # why this number cannot be held against the claim
    task: str = ""  # the study's name of the GLUE task of the case
    run: str = ""  # the translator of the case
    own_head: bool = False  # whether the masked-LM head is the checkpoint's own
    interval: str = ""  # what the interval is, such as "range over folds"


def judge(claim: Claim, measured: Measured, same_model: bool) -> str:
    """The verdict on a number that may be compared.

    reproduced: the interval lies where the rule wants the number. same direction: it does not, but
    the whole interval lies on that side of the reference. not reproduced: the whole interval lies
    outside and not on that side. cannot tell: the interval holds both.
    On another model than the paper's a statement holds here, or does not; a value is rated same
    direction at best.
    """
    if any(map(math.isnan, (measured.value, measured.low, measured.high))):
        return CANNOT_TELL
    holds, fails = (REPRODUCED, NOT_REPRODUCED) if same_model else (HOLDS, FAILS)
    side = _side(claim, measured)
    if claim.kind == "value" and not same_model:
        return {None: NOT_COMPARABLE, 1: DIRECTION, -1: fails, 0: CANNOT_TELL}[side]
    met = rule_met(claim, measured)
    if met == "yes":
        return holds
    if side == 1:
        return DIRECTION
    return fails if met == "no" else CANNOT_TELL


def rule_met(claim: Claim, measured: Measured) -> str:
    """Whether the interval lies where the rule wants the number: yes, no, or undecided.

    It says nothing on the claim, and so is known of generated data and other models too.
    A number `within` a distance of the paper's is there too where its interval covers the paper's
    and reaches no farther than that distance from itself: with as many examples as the paper had,
    the paper's own number is.
    """
    if any(map(math.isnan, (measured.value, measured.low, measured.high))):
        return "undecided"
    value, rounding = claim.value, 1e-9  # the bounds count as inside, and are sums of decimals
    low, high = claim.target[0] - rounding, claim.target[1] + rounding
    inside = measured.low >= low and measured.high <= high
    outside = measured.high < low or measured.low > high
    if claim.rule == "above":
        inside, outside = measured.low > value, measured.high <= value
    elif claim.rule == "below":
        inside, outside = measured.high < value, measured.low >= value
    elif claim.rule == "not below":
        inside, outside = inside and measured.high >= value, measured.high < value
    elif claim.rule == "within":
        covers = measured.low <= value <= measured.high
        farthest = max(measured.value - measured.low, measured.high - measured.value)
        inside |= covers and farthest <= (claim.to or 0.0) + rounding
    return "yes" if inside else "no" if outside else "undecided"


def _side(claim: Claim, measured: Measured) -> int | None:
    """1 where the whole interval lies on the claim's side of the reference, -1 on the other.

    None without a reference, and where the rule has no side: that of a number, or of a range, is
    the side of the paper's own baseline on which it lies, so that ours alone gives it none.
    """
    of_number = claim.rule in ("within", "between")
    if claim.reference is None and (of_number or measured.reference is None):
        return None
    reference = claim.reference if measured.reference is None else measured.reference
    up = sum(claim.target) / 2 > claim.reference if of_number else claim.rule != "below"
    if measured.low > reference:
        return 1 if up else -1
    if measured.high < reference:
        return -1 if up else 1
    return 0
