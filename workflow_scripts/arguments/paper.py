"""What Niven and Kao 2019 print in Tables 1, 3 and 4, and counts from the authors' own runs.

The counts (RUNS) are of their published accuracies: runs, and those of them with a training
accuracy below 80%, which the text calls degenerate. The five of BERT-large's twenty are in the text
too; BoV and BiLSTM have no such bound.
"""

from typing import Any

from workflow_scripts.arguments.setups import SETUPS

Numbers = tuple[float | None, ...]

# Mean, standard deviation, median and maximum on the test set, in percent.
TABLE1: dict[str, Numbers] = {
    "Human (trained)": (90.9, 11, None, None),
    "Human (untrained)": (79.8, 16, None, None),
    "BERT (Large)": (67.1, 9, 71.2, 77.0),
    "GIST (Choi and Lee 2018)": (71.1, 1, None, None),
    "BERT (Base)": (62.3, 7, 65.1, 68.5),
    "World Knowledge (Botschen et al. 2018)": (56.8, 3, None, 61.0),
    "BoV": (56.4, 2, 56.9, 59.5),
    "BiLSTM": (55.2, 2, 55.2, 59.2),
}
DEV1: dict[str, Numbers] = {  # mean and standard deviation on the development set
    "BERT (Large)": (70.1, 5),
    "GIST (Choi and Lee 2018)": (71.6, 1),
    "BERT (Base)": (68.0, 2),
    "World Knowledge (Botschen et al. 2018)": (67.4, 1),
    "BoV": (63.9, 2),
    "BiLSTM": (65.8, 1),
}
TABLE3: dict[tuple[str, str], Numbers] = {
    ("BERT (Large)", "full"): (67.1, 9, 71.2, 77.0),
    ("BERT (Large)", "W"): (65.6, 5, 67.5, 71.2),
    ("BERT (Large)", "RW"): (60.0, 10, 57.4, 75.0),
    ("BERT (Large)", "CW"): (53.2, 9, 50.3, 73.2),
    ("BERT (Base)", "full"): (62.3, 7, 65.1, 68.5),  # of Table 1
    ("BoV", "full"): (56.4, 2, 56.9, 59.5),
    ("BoV", "W"): (56.7, 2, 57.2, 60.6),
    ("BoV", "RW"): (55.4, 2, 55.7, 57.9),
    ("BoV", "CW"): (54.5, 2, 54.4, 58.9),
    ("BiLSTM", "full"): (55.2, 2, 55.2, 59.2),
    ("BiLSTM", "W"): (55.0, 2, 54.7, 57.7),
    ("BiLSTM", "RW"): (54.7, 2, 55.1, 57.7),
    ("BiLSTM", "CW"): (55.2, 2, 55.0, 60.1),
}
TABLE4: dict[tuple[str, str], Numbers] = {  # trained and chosen on the adversarial set
    ("BERT (Large)", "full"): (50.4, 1, 50.5, 53.3),
    ("BERT (Large)", "W"): (50.1, 0, 50.1, 50.2),
    ("BERT (Large)", "RW"): (50.0, 0, 50.0, 50.2),
    ("BERT (Large)", "CW"): (50.1, 1, 50.0, 51.8),
}
OTHERS: dict[tuple[str, str], Numbers] = {  # mean and standard deviation of runs not degenerate
    ("BERT (Large)", "full"): (71.6, 4),  # in the caption of Table 1; 71.5 in the authors' runs
}
RUNS: dict[tuple[str, str], tuple[int, int | None]] = {  # runs, degenerate
    ("BERT (Large)", "full"): (20, 5),
    ("BERT (Large)", "W"): (20, 3),
    ("BERT (Large)", "RW"): (20, 13),
    ("BERT (Large)", "CW"): (12, 10),
    ("BERT (Base)", "full"): (20, 5),
    **{(family, setup): (20, None) for family in ("BoV", "BiLSTM") for setup in SETUPS},
}
RUNS4: dict[tuple[str, str], tuple[int, int | None]] = {  # on the adversarial set
    ("BERT (Large)", "full"): (20, 18),
    ("BERT (Large)", "W"): (20, 14),
    ("BERT (Large)", "RW"): (20, 19),
    ("BERT (Large)", "CW"): (20, 16),
}
NAMES = ("mean", "sd", "median", "max")
# Layers and hidden size of the released sizes of BERT, as a model's card states them.
SIZES = {(24, 1024): "BERT (Large)", (12, 768): "BERT (Base)"}


def system_of(card: dict[str, Any]) -> str | None:
    """The paper's name for the model that a card describes; None for one that it did not use."""
    if card["architecture"] != "bert":
        return None
    return SIZES.get((card["n_layers"], card["hidden_size"]))


def columns(
    printed: Numbers | None,
    runs: tuple[int, int | None] | None,
    others: Numbers | None,
    prefix: str,
) -> dict[str, Any]:
    """The paper's numbers under their columns' names; empty cells where it has none."""
    numbers = dict(zip(NAMES, printed or (None,) * 4, strict=True))
    numbers |= dict(zip(("others_mean", "others_sd"), others or (None,) * 2, strict=True))
    named = {f"{prefix}{name}": value for name, value in numbers.items()}
    counts = dict(zip(("paper_runs", "paper_degenerate"), runs or (None,) * 2, strict=True))
    return named | counts
