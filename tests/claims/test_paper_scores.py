"""What the papers' own numbers score by the rules, with their own sampling error."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.claims.judged import CLAIMS
from tests.claims.test_verdicts import CLAIM
from workflow_scripts.claims.claim_verdicts import paper_scores
from workflow_scripts.claims.numbers import paper_number, share
from workflow_scripts.claims.published import PAPER_INTERVALS
from workflow_scripts.claims.verdicts import REPRODUCED

WITHOUT_ERROR = "reproduced, without its sampling error"
# Accuracies in percent that a claim's number is made of, and n, from the papers' tables.
SHARES = {
    "clark-no-parser": ((34.5, 26.3), 39581),  # Table 1
    "clark-words-help": ((77, 58), 34878),  # Table 3
    "clark-attention-alone": ((61, 58), 34878),
    "kovaleva-pretraining": ((92, 80.5), 872),  # SST-2
    "kovaleva-random-below-untuned": ((52.8, 49.5), 5463),  # QNLI
    "niven-peak-gap": ((77.0, 71.2), 444),
    "niven-not-explains": ((77.0, 71.2, 75.0, 73.2), 444),
}
# F1 and accuracy in percent, and n.
F1 = {
    "kovaleva-table1-mrpc-f1-random": (81.2, 68.3, 408),
    "kovaleva-table1-mrpc-f1-pretrained": (87.9, 82.3, 408),
    "kovaleva-table1-qqp-f1-pretrained": (65.2, 78.6, 40430),
}
# Michel et al., Table 4: examples a second with all heads and with half, and their deviations.
SPEEDS = {
    "michel-speed-1": (17.0, 0.3, 17.3, 0.6),
    "michel-speed-4": (67.3, 1.3, 69.1, 1.3),
    "michel-speed-16": (114, 3.6, 134, 3.6),
    "michel-speed-64": (124.7, 2.9, 146.6, 3.4),
}
# Kovaleva et al., Table 1: accuracy with and without fine-tuning, and n, but for STS-B.
TUNED = ((82.3, 31.6, 408), (92, 49.1, 872), (78.6, 60.9, 40430), (64.6, 52.7, 277))
TUNED += ((84.4, 52.8, 5463), (78.6, 31.7, 9815))
# Without a true positive F1 is 0 on every sample of the examples.
NO_POSITIVES = ("mrpc-f1-untuned", "qqp-f1-untuned", "qqp-f1-random")


def variance(percent: float, n: int) -> float:
    """Of an accuracy in percent."""
    return percent * (100 - percent) / n


def apart(shares: Sequence[float], n: int) -> float:
    """Half of the interval of a sum or difference of accuracies, as if they were independent."""
    return 1.96 * math.sqrt(sum(variance(accuracy, n) for accuracy in shares))


def of_f1(f1: float, accuracy: float, n: int) -> float:
    """Half of the interval of an F1, from samples of the true positives and the errors."""
    wrong = 1 - accuracy / 100
    # F1 = 2 TP / (2 TP + FP + FN), but with rounding there may be no true negatives left.
    found = min(f1 / 100 * wrong / (2 - 2 * f1 / 100), 1 - wrong)
    counts = np.random.default_rng(5).multinomial(n, (found, wrong, 1 - found - wrong), 200_000)
    return 196 * np.std(2 * counts[:, 0] / (2 * counts[:, 0] + counts[:, 1]))


def of_speed(all_heads: float, deviation: float, half: float, its_deviation: float) -> float:
    """Half of the interval of percent faster, from two times six measurements (t = 2.228)."""
    relative = math.hypot(deviation / all_heads, its_deviation / half) / math.sqrt(6)
    return 2.228 * 100 * half / all_heads * relative


def average_gain() -> float:
    """Half of the interval of the mean gain over seven tasks; STS-B's are correlations."""
    squares = [sum(variance(accuracy, n) for accuracy in pair) for *pair, n in TUNED]
    squares.append(sum(100**2 * (1 - r * r) ** 2 / 1500 for r in (0.827, 0.331)))
    return 1.96 * math.sqrt(sum(squares)) / 7


def half_widths() -> dict[str, float]:
    found = {id_: apart(*numbers) for id_, numbers in SHARES.items()}
    found |= {id_: of_f1(*numbers) for id_, numbers in F1.items()}
    found |= {id_: of_speed(*numbers) for id_, numbers in SPEEDS.items()}
    found |= {f"kovaleva-table1-{name}": 0 for name in NO_POSITIVES}
    found["kovaleva-fine-tuning-average"] = average_gain()
    # On 14 relations; nn's 70.4 is not significantly above its offset's 70.2.
    assert apart((70.4, 70.2), 3192) > 70.4 - 70.2
    assert apart((99.1, 91.4), 116) < 99.1 - 91.4  # prt, of the fewest words
    found["clark-specialists"] = 100 / 14
    # The interval of each of the four reaches 75%, and no more than 1.5 points below.
    four = {86.8: 1591, 94.3: 3337, 76.3: 3720, 80.5: 708}
    assert all(share(round(x / 100 * n), n)[0] > 73.5 for x, n in four.items())
    return found | {"clark-four-relations": 0}


def test_the_papers_own_numbers_bear_out_its_statements() -> None:
    """No rule asks for more than the paper's own number at the paper's own n can give.

    Where its sampling error cannot be computed from what the paper prints, the number alone must
    follow the rule, and the verdict says so.
    """
    scored = {id_: paper_scores(claim) for id_, claim in CLAIMS.items()}
    found = {id_: score for id_, score in scored.items() if score is not None}
    assert sum(score == REPRODUCED for score in found.values()) > 100
    assert set(found.values()) == {REPRODUCED, WITHOUT_ERROR}


def test_stated_half_widths_follow_from_the_papers_numbers() -> None:
    stated = {
        id_: float(claim.paper_interval)
        for id_, claim in CLAIMS.items()
        if claim.paper_interval not in PAPER_INTERVALS
    }
    assert stated == pytest.approx(half_widths(), abs=0.05)
    for id_, half in stated.items():
        assert CLAIMS[id_].rule != "within" or half <= CLAIMS[id_].to, id_


def test_the_papers_own_interval_by_hand() -> None:
    claim = replace(CLAIM, value=50.0)
    assert paper_number(claim) is None
    half = paper_number(replace(claim, paper_value=50.0, paper_n=100.0, paper_interval="share"))
    # Wilson: (0.5 + z^2/200 +- z sqrt(0.0025 + z^2/40000)) / (1 + z^2/100), z = 1.96.
    assert (half.low, half.high) == pytest.approx((40.38, 59.62), abs=0.01)
    correlation = replace(claim, unit="r", paper_n=96.0, paper_interval="correlation")
    r = paper_number(replace(correlation, paper_value=0.56))
    assert (r.low, r.high) == pytest.approx((0.406, 0.683), abs=0.002)  # tanh(0.633 +- 1.96/9.64)
    stated = paper_number(replace(claim, paper_value=4.0, paper_interval="1.5"))
    assert (stated.low, stated.value, stated.high) == (2.5, 4, 5.5)
