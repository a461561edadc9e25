"""Made-up tables that the claims of Michel et al. are judged by, of classifiers and translators."""

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tests.claims.made_up import products

if TYPE_CHECKING:
    from tests.claims.made_up_study import MadeUpStudy

METRICS = {"MRPC": "accuracy", "SST-2": "accuracy", "STS-B": "pearson", "CoLA": "accuracy"}
METRICS |= {"MNLI": "accuracy"}
TYPES = ("encoder", "encoder-decoder", "decoder")
SHARES = (0.0, 0.2, 0.45, 0.7, 0.8, 1.0)


def classifiers(study: "MadeUpStudy") -> None:
    """Heads masked, left alone and pruned, with each seed; MNLI has two sets."""
    sets = [(task, "dev") for task in METRICS] + [("MNLI", "dev_mismatched")]
    heads, layers = [], []
    for (task, split), seed, metric in product(sets, study.seeds, ("f1", "main")):
        row = {"task": task, "split": split, "seed": seed, "mode": "zero", "n": 400}
        row["metric"] = METRICS[task] if metric == "main" else "f1"
        for at in range(24):
            p = study.rng.uniform(0, 0.05)
            tested = {"p": p, "p_t": np.nan if task == "STS-B" else p / 2}
            heads.append(row | tested | ends(study, "effect", -3, 1, "ci") | {"head": f"1-{at}"})
        for at in range(6):
            p = study.rng.uniform(0, 0.05)
            alone = {"p": p, "p_t": p, "layer": at + 1, "head": f"{at + 1}-1"}
            effects = ends(study, "effect", -5, 2, "ci") | ends(study, "gain", -3, 1)
            layers.append(row | alone | effects)
    power = [
        {"unit": "head", "loss": 1.5, **{name: row[name] for name in ("task", "split", "metric")}}
        | {"mode": "zero", "seed": row["seed"]}
        for row in heads
    ]
    curves = [
        {"task": task, "metric": metric, "strategy": order, "share": share, "n": 400}
        | {"runs": len(study.seeds)}
        | ends(study, "change", -0.1, 0.05)
        for task, metric in METRICS.items()
        for order in ("importance", "ablation", "random")
        for share in (0.0, 12.5, 41.7, 50.0, 58.3, 100.0)
    ]
    one_head = [
        {"task": task, "metric": metric, "kept": kept, "unpruned": 80.0, "n": 400}
        | {"runs": len(study.seeds)}
        | ends(study, "change", -20, 2)
        for task, metric in METRICS.items()
        for kept in ("most important", "random")
    ]
    speed = [
        {"task": "MRPC", "batch_size": size, "device": device, "threads": 1, "repeats": repeats}
        | {"original": 100.0, "original_sd": 2.0, "pruned": study.rng.uniform(95, 130)}
        | {"pruned_sd": 3.0}
        for size, device, repeats in ((1, "cpu", 3), (4, "cuda", 3), (16, "cuda", 8))
    ]
    pairs = [
        {"kind": kind, "mode": "zero", "one": one, "other": other, "n": 24}
        | ends(study, "pearson", 0, 1)
        for kind, one, other in (
            ("datasets", "MNLI matched", "mismatched"),
            ("datasets", "SST-2 mismatched", "other"),  # of no task's own set
        )
    ]
    pairs += [
        pairs[0] | {"kind": "halves", "one": one, "other": "other half", "pearson": halves}
        for one, halves in (("MNLI matched", 0.6), ("MNLI mismatched", 0.8))
    ]
    printed = {"table1": heads, "table3": layers, "power": power, "fig3": curves}
    printed |= {"one_head": one_head, "table4": speed, "pairs": pairs}
    products(study.folder, **{f"michel2019_{name}": rows for name, rows in printed.items()})
    axes = {"unit": ["head"], "mode": ["zero"], "split": ["dev"], "metric": ["accuracy"]}
    for seed in study.seeds:
        scores = study.rows(axes, "effect", "ci_low", "ci_high", task="mnli", seed=seed)
        study.write(f"ablation/mnli.pretrained.{seed}.scores.parquet", scores)


def translators(study: "MadeUpStudy") -> None:
    """Two translators, of which the second hardly translates."""
    pairs = []
    for run, bleu in (("1", 30.0), ("2", 6.0)):
        about = {"run": run, "n": 200, "baseline": bleu, "metric": "bleu"}
        scores = [
            about
            | {"type": kind, "layer": layer, "head": head, "unit": unit, "mode": "zero"}
            | {"split": split, "p_corrected": 0.5, "p_paper": study.rng.uniform(0, 0.03)}
            | ends(study, "effect", -2, 0.5, "ci")
            for kind, layer, head in product(TYPES, range(3), range(4))
            for unit in ("head", "all-but-one")
            for split in ("validation", "test", "web")
        ]
        curves = [
            curve(study, about, order, scope, share) | {"draw": draw}
            for order, draw in (("importance", 0), ("score", 0), ("random", 0), ("random", 1))
            for scope in ("all", *TYPES)
            for share in SHARES
        ]
        training = [
            curve(study, about | {"baseline": base}, "importance", "all", share) | {"epoch": epoch}
            for epoch, base in ((1, 0.5), (2, 9.0), (10, bleu), (12, bleu))
            for share in SHARES
        ]
        types = [
            about
            | {"split": "test", "type": kind, "measure": f"best head left{ending}", "other": other}
            | ends(study, "value", -2, 2, "ci")
            for kind in TYPES
            for other in ("", *TYPES)
            for ending in ("", ", but the last layer")
            if other != kind
        ]
        pairs += [
            about
            | {"kind": "splits", "mode": "zero", "type": "all", "one": one, "other": other}
            | ends(study, "pearson", 0, 1)
            for one, other in (("validation", "test"), ("test", "web"))
        ]
        pairs += [
            pairs[-1] | {"kind": "halves", "one": split, "other": "other half", "pearson": halves}
            for split, halves in (("test", 0.3), ("web", -0.1))
        ]
        named = {"scores": scores, "curves": curves, "training": training, "types": types}
        products(
            study.results, **{f"translation__{run}_of_{name}": rows for name, rows in named.items()}
        )
    products(study.results, michel2019_translation_pairs=pairs)


def curve(study: "MadeUpStudy", about: dict, order: str, scope: str, share: float) -> dict:
    """A point of a curve: BLEU with a share of 20 heads pruned."""
    kept = study.rng.uniform(0.3, 1) if share else 1.0
    row = {"strategy": order, "scope": scope, "share": share, "pruned": round(20 * share)}
    row |= {"heads": 20, "kept": kept, "kept_low": kept - 0.05, "kept_high": kept + 0.06}
    score = about["baseline"] * kept
    return about | row | {"score": score, "ci_low": score - 1, "ci_high": score + 1}


def ends(study: "MadeUpStudy", name: str, least: float, most: float, of: str = "") -> dict:
    """A random number and its interval, whose ends are called after it or after `of`."""
    value, half = study.rng.uniform(least, most), study.rng.uniform(0, (most - least) / 5)
    return {name: value, f"{of or name}_low": value - half, f"{of or name}_high": value + half}
