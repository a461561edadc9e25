"""Tables of a made-up study that claims of Kovaleva et al. read."""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from tests.claims.made_up import products

if TYPE_CHECKING:
    from tests.claims.made_up_study import MadeUpStudy

TASKS = {"mrpc": "MRPC", "stsb": "STS-B", "sst2": "SST-2", "rte": "RTE", "qnli": "QNLI"}
SEVEN = TASKS | {"qqp": "QQP", "mnli": "MNLI"}
KINDS = ("cls", "sep", "punctuation", "noun", "verb", "negation")
STAGES = ("pretrained", "fine-tuned")
DIRECTIONS = ("either", "from predicate", "to predicate")

Number = Callable[..., dict[str, float]]


def write(study: "MadeUpStudy", number: Number) -> None:
    """Write random tables; `number` gives a random number of a name with its interval."""
    _of_heads(study)
    rng = study.rng

    def with_ends(name: str, least: float = 0, most: float = 100) -> dict[str, float]:
        ends = number(name, least, most)
        return dict(zip((name, f"{name}_low", f"{name}_high"), ends.values(), strict=True))

    table1 = [
        {"task": title, "split": "dev", "metric": metric, "n": 200, "majority": 50.0}
        | {"official": task != "sst2", "generated": False, "seeds": len(study.seeds)}
        | with_ends("pretrained") | with_ends("random_tuned") | with_ends("pretrained_tuned")
        for task, title in SEVEN.items()
        for metric in (("pearson",) if task == "stsb" else ("accuracy", "f1"))
    ]  # fmt: skip
    classifier = [
        {"method": method, "maps": maps, "n": 60, "n_examples": 20, "accuracy": 0.7}
        | with_ends("macro_f1", 0, 1)
        for method, maps in product(("network", "network, shuffled labels"), ("all", STAGES[1]))
    ]
    heads = [f"{layer + 1}-{head + 1}" for layer in range(6) for head in range(4)]
    controls = [
        {"direction": direction, "head": head, "control": rng.random(), "p": p / 5}
        | {"difference": 0.5, "p_corrected": p, "frame_head": bool(p < 0.05)}
        for direction in DIRECTIONS
        for head, p in zip(heads, rng.random(len(heads)), strict=True)
    ]
    linking = [
        {"direction": direction, "head": head, "n": 40, "n_documents": 30}
        | dict(zip(("attention", "ci_low", "ci_high"), number("x", 0, 1).values(), strict=True))
        for direction in DIRECTIONS
        for head in heads[:3]
    ]
    links = [
        {"task": title, "stage": stage, "far": far, "link": link, "head": head, "n": 30}
        | with_ends("neighbours", 0, 1)
        for title, stage, far in product(TASKS.values(), STAGES, (False, True))
        for link, head in product(("verb-subject", "subject-verb", "noun-pronoun"), heads[:3])
    ]
    gains = [
        {"task": title, "metric": "pearson" if task == "stsb" else "accuracy", "naive": 2.0}
        | {"unit": unit, "mode": mode, "split": "dev", "seed": seed, "n": 200}
        | with_ends("gain", -5, 5)
        for (task, title), unit, mode, seed in product(
            TASKS.items(), ("head", "layer"), ("uniform", "zero"), study.seeds
        )
    ]
    strata = [_stratum(study, task, kind) for task in TASKS for kind in ("frames", "other", "all")]
    tables = {"table1": table1, "classifier": classifier, "frame_controls": controls}
    tables |= {"frames": linking, "links": links, "strata": strata}
    printed = {f"kovaleva2019_{name}": rows for name, rows in tables.items()}
    products(study.folder, **printed, michel2019_gains=gains)


def _stratum(study: "MadeUpStudy", task: str, kind: str) -> dict[str, Any]:
    effect, half = study.rng.normal(0, 0.01), study.rng.random() / 100
    row = {"task": task, "stratum": kind, "heads": 4, "effect": effect}
    return row | {"low": effect - half, "high": effect + half}


def _of_heads(study: "MadeUpStudy") -> None:
    """Tables with a row for each head or layer."""
    shares = [
        study.rows({"class": ("block", "heterogeneous")}, "share", both=0.05, n=20).assign(
            task=task, stage=stage, method=method, seed=seed
        )
        for task, stage in product(("sst2", "mrpc"), STAGES)
        for method, seed in product(("network", "rules"), study.seeds)
    ]
    study.write("patterns/shares.parquet", pd.concat(shares, ignore_index=True))
    ends = ("ci_low", "ci_high")
    for task, seed in product(TASKS, study.seeds):
        name, run = f"finetuning/{task}.{seed}", {"task": task, "seed": seed}
        frame = study.rows({}, "similarity", *ends, n=6, **run)
        study.write(f"{name}.similarity.parquet", frame)
        axes = {"kind": KINDS, "query": ("all", "cls"), "stage": STAGES}
        frame = study.rows(axes, "attention", *ends, share=0.1, n=5, n_without=1, **run)
        frame.loc[frame["kind"] == "negation", ["attention", *ends]] = float("nan")
        study.write(f"{name}.features.parquet", frame)
        axes = {"link": ("verb-subject", "noun-pronoun"), "far": (False, True), "stage": STAGES}
        frame = study.rows(axes, "attention", *ends, **run)
        far = 9 * list(TASKS).index(task)  # links are of the data, so the same for each seed
        frame["links"] = frame["far"].map({False: 40, True: far})
        study.write(f"{name}.links.parquet", frame)
        axes = {"measure": ("copy", "shared"), "stage": STAGES}
        study.write(f"{name}.shared.parquet", study.rows(axes, "excess", *ends, n=5, **run))
        axes = {"unit": ("head", "layer"), "mode": ("uniform", "zero"), "split": ("dev",)}
        metric = "pearson" if task == "stsb" else "accuracy"
        frame = study.rows(axes, "effect", *ends, metric=metric, n=50, **run)
        frame = frame[(frame["unit"] == "head") | (frame["head"] == 0)]
        frame.loc[frame["unit"] == "layer", "head"] = -1
        study.write(f"ablation/{task}.pretrained.{seed}.scores.parquet", frame)
    heads = study.rows({}, *(f"effect_{task}" for task in TASKS), kinds="other", stratum="other")
    heads.loc[heads["layer"] == 0, "kinds"] = "syntactic, frames"
    for task in TASKS:
        half = study.rng.random(len(heads)) / 100
        heads[f"low_{task}"] = heads[f"effect_{task}"] - half
        heads[f"high_{task}"] = heads[f"effect_{task}"] + half
    heads["name"] = [f"{row.layer + 1}-{row.head + 1}" for row in heads.itertuples()]
    study.write("tables/kovaleva2019-heads.csv", heads)
