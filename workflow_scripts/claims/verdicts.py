"""Our number held against a claim: one of six verdicts, by the rule written in the claim's file."""

import math
from dataclasses import dataclass

from workflow_scripts.claims.published import Claim

REPRODUCED = "reproduced"
DIRECTION = "same direction"
NOT_REPRODUCED = "not reproduced"
CANNOT_TELL = "cannot tell"
NOT_COMPARABLE = "not comparable"
NOT_MEASURED = "not measured"
VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, CANNOT_TELL, NOT_COMPARABLE, NOT_MEASURED)


@dataclass(frozen=True)
class Measured:
    """Our number for a claim, with the ends of its 95% interval, in the claim's unit."""

    value: float
    low: float
    high: float
    n: int | None = None  # what was sampled or counted: segments, words, examples, heads, runs
    of: str = ""  # the name of what `n` counts
    case: str = ""  # the task, pair of sets or the like, where a claim is judged on each
    seeds: int | None = None
    reference: float | None = None  # our own baseline; instead of the claim's reference
    about: str = ""  # the head, or whatever else a reader must know
    not_comparable: str = ""  # why this number cannot be held against the claim
    task: str = ""  # the study's name of the GLUE task of the case
    run: str = ""  # the translator of the case
    own_head: bool = False  # whether the masked-LM head is the checkpoint's own


def judge(claim: Claim, measured: Measured, same_model: bool) -> str:
    """The verdict on a number that may be compared.

    reproduced: the whole interval lies where the rule wants the number. same direction: it does
    not, but the whole interval lies on that side of the reference. not reproduced: the whole
    interval lies outside and not on that side. cannot tell: the interval holds both.
    The number of another model than the paper's can at most go in the same direction, where the
    claim is a value.
    """
    if any(map(math.isnan, (measured.value, measured.low, measured.high))):
        return CANNOT_TELL
    reference = claim.reference if measured.reference is None else measured.reference
    if claim.kind == "value" and not same_model:
        if reference is None:
            return NOT_COMPARABLE
        return _by_direction(claim, measured, reference)
    inside, outside = _position(claim, measured)
    if inside:
        return REPRODUCED
    if reference is not None and _side(claim, measured, reference) == 1:
        return DIRECTION
    return NOT_REPRODUCED if outside else CANNOT_TELL


def _position(claim: Claim, measured: Measured) -> tuple[bool, bool]:
    """Whether the whole interval lies where the rule wants it, and whether none of it does."""
    if claim.rule == "above":
        return measured.low > claim.value, measured.high <= claim.value
    if claim.rule == "below":
        return measured.high < claim.value, measured.low >= claim.value
    low, high = claim.target
    rounding = 1e-9  # the bounds count as inside, and are sums of decimal numbers
    inside = measured.low >= low - rounding and measured.high <= high + rounding
    return inside, measured.high < low - rounding or measured.low > high + rounding


def _by_direction(claim: Claim, measured: Measured, reference: float) -> str:
    side = _side(claim, measured, reference)
    return {1: DIRECTION, -1: NOT_REPRODUCED, 0: CANNOT_TELL}[side]


def _side(claim: Claim, measured: Measured, reference: float) -> int:
    """1 where the whole interval lies on the claim's side of the reference, -1 on the other.

    A value's side is that of the paper's own baseline, where the claim has one as its reference.
    """
    if claim.rule in ("above", "below"):
        up = claim.rule == "above"
    else:
        own = reference if claim.reference is None else claim.reference
        up = sum(claim.target) / 2 > own
    if measured.low > reference:
        return 1 if up else -1
    if measured.high < reference:
        return -1 if up else 1
    return 0
