"""What a model reads of a point in each set-up (Niven and Kao 2019, section 5)."""

from collections.abc import Sequence

import pandas as pd

# The texts before the warrant, in order. The paper writes BERT (W), BERT (R, W), BERT (C, W), and
# BERT alone for the full input.
SETUPS: dict[str, tuple[str, ...]] = {
    "full": ("claim", "reason"),
    "W": (),
    "RW": ("reason",),
    "CW": ("claim",),
}
TITLES = {"full": "C, R, W", "W": "W", "RW": "R, W", "CW": "C, W"}
FAMILIES = {"bert": "BERT", "bov": "BoV", "bilstm": "BiLSTM"}
# The cue is removed; moved to the other warrant; as many other words are removed (the control).
CHANGES = ("removed", "exchanged", "control")
WARRANTS = ("warrant0", "warrant1")


def as_text(texts: Sequence[str]) -> str:
    """The texts as one, each closed with a full stop, as in the released code."""
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts)


def inputs_of(frame: pd.DataFrame, setup: str) -> list[tuple[tuple[str, ...], str]]:
    """The argument and one warrant, both warrants of a point after one another."""
    return [
        (tuple(row[name] for name in SETUPS[setup]), row[warrant])
        for row in frame.to_dict("records")
        for warrant in WARRANTS
    ]
