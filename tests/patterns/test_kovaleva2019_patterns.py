"""The printed tables of classes of maps, against scikit-learn and by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from workflow_scripts.core.stats.bootstrap import percentile_ends
from workflow_scripts.patterns import figures as printed
from workflow_scripts.patterns.annotated_maps import CLASSES


def predictions(n: int = 60) -> pd.DataFrame:
    """Three maps of each of `n` / 3 examples, half of them fine-tuned; most are right."""
    rng = np.random.default_rng(3)
    labels = rng.choice(CLASSES[:4], size=n, p=[0.5, 0.3, 0.15, 0.05])
    given = np.where(rng.random(n) < 0.7, labels, rng.choice(CLASSES, size=n))
    frame = pd.DataFrame({"label": labels, "given": given})
    frame["group"] = [f"sst2/{number // 3}" for number in range(n)]
    frame["stage"] = np.where(np.arange(n) < n // 2, "pretrained", "fine-tuned")
    return frame.assign(method="network")


def test_scores_and_intervals_against_samples_written_out() -> None:
    """Examples are sampled with all their maps; a class that a sample lacks leaves its mean."""
    frame = predictions()
    groups = frame["group"].unique()
    counts = np.random.default_rng(9).multinomial(20, np.full(20, 1 / 20), size=200)
    f1, accuracy = [], []
    for count in counts:
        names = np.repeat(groups, count)
        sample = pd.concat([frame[frame["group"] == name] for name in names])
        seen = set(sample["label"]) | set(sample["given"])
        classes = [name for name in frame["label"].unique() if name in seen]
        f1.append(f1_score(sample["label"], sample["given"], labels=classes, average="macro"))
        accuracy.append((sample["label"] == sample["given"]).mean())
    row = printed.scores_of(frame, 200, 9)
    classes = list(frame["label"].unique())
    whole = f1_score(frame["label"], frame["given"], labels=classes, average="macro")
    assert row["macro_f1"] == pytest.approx(whole)
    for name, sampled in (("macro_f1", f1), ("accuracy", accuracy)):
        expected = percentile_ends(np.array(sampled), 20)
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(list(expected))
    assert (row["n"], row["n_examples"]) == (60, 20)


def test_shares_of_both_methods_side_by_side() -> None:
    rows = []
    for task, stage in (("sst2", "fine-tuned"), ("mrpc", "fine-tuned"), ("mrpc", "pretrained")):
        for method, share in (("network", 0.6), ("rules", 0.2)):
            for head, of_head in enumerate((share, share + 0.2)):
                both = (0.2, 0.1)[head]
                row = {"task": task, "stage": stage, "method": method, "head": head, "both": both}
                row |= {"annotated_model": "minilm", "annotated_stage": "pretrained"}
                other = {"class": "block", "share": 1 - of_head, "both": 0.0}
                rows += [row | {"class": "vertical", "share": of_head}, row | other]
    table = printed.shares_table(pd.DataFrame(rows))
    about = table[["task", "stage", "class"]].to_numpy().tolist()
    assert about == [
        [task, stage, name]
        for task, stage in (("MRPC", "pretrained"), ("MRPC", "fine-tuned"), ("SST-2", "fine-tuned"))
        for name in ("vertical", "block")
    ]
    vertical = table.iloc[0]
    assert (vertical["network"], vertical["rules"], vertical["both"]) == pytest.approx((70, 30, 15))
    assert vertical["agreement"] == pytest.approx(100 * 15 / (70 + 30 - 15))
    assert (table.iloc[1]["agreement"], table.iloc[1]["network"]) == pytest.approx((0, 30))
