"""Rows of the products that Kovaleva et al.'s claims are judged by, made up by hand."""

from collections.abc import Sequence
from typing import Any

Rows = list[dict[str, Any]]


def table1(
    task: str, metric: str, tuned: float, random: float, untuned: float = 30.0, **more: Any
) -> dict:
    """A row of Table 1 in percent, each score with an interval of one point to each side."""
    row = {"task": task, "split": "dev", "metric": metric, "n": 100, "majority": 50.0}
    row |= {"seeds": 1, "official": True, "generated": False}
    scores = {"pretrained_tuned": tuned, "random_tuned": random, "pretrained": untuned}
    for column, value in scores.items():
        row |= {column: value, f"{column}_low": value - 1, f"{column}_high": value + 1}
    return row | more


def features(layer: int, query: str, task: str = "rte", **kinds: float) -> Rows:
    """Attention of one head to each kind, with an interval of 0.01 to each side."""
    return [
        {"layer": layer, "head": 0, "kind": kind, "attention": value, "ci_low": value - 0.01}
        | {"ci_high": value + 0.01, "query": query, "stage": "fine-tuned", "task": task}
        | {"n": 4, "n_without": 1, "seed": 1}
        for kind, value in kinds.items()
    ]


def similarity(task: str, *layers: float) -> Rows:
    """Similarity of two heads in each layer, with an interval of 0.01 to each side."""
    return [
        {"layer": layer, "head": head, "similarity": value, "ci_low": value - 0.01}
        | {"ci_high": value + 0.01, "n": 5, "task": task, "seed": 1}
        for layer, value in enumerate(layers)
        for head in (0, 1)
    ]


def classifier(f1: float, shuffled: float = 0.2) -> Rows:
    """The classifier of maps on fine-tuned maps, and on all of them."""
    about = {"n": 9, "n_examples": 4, "accuracy": 0.7}
    return [
        {"method": method, "maps": maps, "macro_f1": value} | about
        | {"macro_f1_low": value - 0.1, "macro_f1_high": value + 0.1}
        for method, maps, value in (
            ("network", "all", 0.9),
            ("network", "fine-tuned", f1),
            ("network, shuffled labels", "fine-tuned", shuffled),
        )
    ]  # fmt: skip


def shares(*network: float) -> Rows:
    """Shares of heterogeneous maps of heads by the network, half as many by the rules."""
    row = {"head": 0, "class": "heterogeneous", "n": 10, "seed": 1, "stage": "fine-tuned"}
    row |= {"task": "sst2"}
    return [
        row | {"layer": layer, "method": method, "share": factor * share, "both": share / 4}
        for layer, share in enumerate(network)
        for method, factor in (("network", 1.0), ("rules", 0.5))
    ]


def controls(listed: int, possible: int, n: int = 20) -> Rows:
    """`n` heads in each direction, of which so many are frame heads, or may be by their own p."""
    return [
        {"direction": direction, "head": f"1-{number + 1}", "control": 0.1, "difference": 0.05}
        | {"p": 0.01 if number < possible else 0.5, "frame_head": number < listed}
        for direction in ("either", "from predicate", "to predicate")
        for number in range(n)
    ]


def frames(either: float, width: float = 0.01) -> Rows:
    """The heads above the percentile: one for each direction, and a lower one."""
    return [
        {"direction": direction, "head": head, "attention": value, "ci_low": value - width}
        | {"ci_high": value + width, "n": 30, "n_documents": 12}
        for direction, best in (("either", either), ("from predicate", 0.1), ("to predicate", 0.9))
        for head, value in (("1-2", best - 0.05), ("1-1", best))
    ]


def strata(seeds: int = 1, **effects: dict[str, float]) -> dict[str, Rows]:
    """Products: mean effects of kinds of heads on tasks, with a 90% interval of 0.001 each side."""
    table = [
        {"task": task, "stratum": kind, "heads": 3, "effect": value}
        | {"low": value - 0.001, "high": value + 0.001}
        for task, kinds in effects.items()
        for kind, value in kinds.items()
    ]
    scores = {
        f"ablation__{task}_of_pretrained_of_{seed}_of_scores": [{"task": task, "seed": seed}]
        for task in effects
        for seed in range(1, seeds + 1)
    }
    return {"kovaleva2019_strata": table, **scores}


def kinds_of_heads(task: str, seeds: int = 1, **effects: Sequence[float]) -> dict[str, Rows]:
    """Products: effects of the heads of each kind, each with a 90% interval of 0.001 each side."""
    of_heads = [(kind, value) for kind, values in effects.items() for value in values]
    table = [
        {"name": f"1-{number}", "kinds": kind, f"effect_{task}": value}
        | {f"low_{task}": value - 0.001, f"high_{task}": value + 0.001}
        for number, (kind, value) in enumerate(of_heads, 1)
    ]
    scores = {
        f"ablation__{task}_of_pretrained_of_{seed}_of_scores": [{"task": task, "seed": seed}]
        for seed in range(1, seeds + 1)
    }
    return {"kovaleva2019_heads": table, **scores}


def gain(task: str, metric: str, unit: str, value: float, width: float = 0.2, **more: Any) -> dict:
    """A row of the honest gains, in points."""
    row = {"task": task, "metric": metric, "unit": unit, "mode": "uniform", "split": "dev"}
    row |= {"seed": 1, "n": 100, "naive": 1.5, "gain": value}
    return row | {"gain_low": value - width, "gain_high": value + width} | more


def layer_scores(task: str, first: float, others: float = 0.0, seed: int = 1) -> Rows:
    """Effects of disabling each of twelve layers, with an interval of 0.001 to each side."""
    row = {"unit": "layer", "mode": "uniform", "task": task, "split": "dev", "n": 50}
    row |= {"metric": "accuracy", "seed": seed}
    return [
        row | {"layer": layer, "effect": effect, "ci_low": effect - 0.001}
        | {"ci_high": effect + 0.001}
        for layer, effect in enumerate([first] + [others] * 11)
    ]  # fmt: skip


def head_scores(task: str, *effects: float, seed: int = 1) -> Rows:
    """Effects of disabling heads of one layer, with an interval of 0.001 to each side."""
    row = {"unit": "head", "mode": "uniform", "task": task, "split": "dev", "n": 50, "layer": 0}
    row |= {"metric": "pearson" if task == "stsb" else "accuracy", "seed": seed}
    return [
        row | {"head": head, "effect": effect, "ci_low": effect - 0.001}
        | {"ci_high": effect + 0.001}
        for head, effect in enumerate(effects)
    ]  # fmt: skip


def links(task: str, seeds: int = 1, **neighbours: float | Sequence[float]) -> dict[str, Rows]:
    """Products: the printed table of links, of three heads, so much attention on neighbours.

    It is the same of all three, or that of each.
    """
    shares = {
        link: (value,) * 3 if isinstance(value, float) else value
        for link, value in neighbours.items()
    }
    table = [
        {"task": task, "stage": stage, "far": far, "link": link.replace("_", "-"), "n": 7}
        | {"head": f"1-{number}", "neighbours": value if stage != "pretrained" and not far else 0.1}
        | {"neighbours_low": value - 0.02, "neighbours_high": value + 0.02}
        for link, of_heads in shares.items()
        for stage in ("pretrained", "fine-tuned")
        for far in (False, True)
        for number, value in enumerate(of_heads, 1)
    ]
    name = task.lower()
    by_head = {
        f"finetuning__{name}_of_{seed}_of_links": [{"task": name, "seed": seed}]
        for seed in range(1, seeds + 1)
    }
    return {"kovaleva2019_links": table, **by_head}


def shared_words(task: str, excess: dict[tuple[int, int], float]) -> dict[str, Rows]:
    """Products of two layers of two heads: 2-2 is the most costly, with so much to copies."""
    costs = {(0, 0): 0.01, (1, 1): -0.05}
    heads = [
        {"name": f"{layer + 1}-{head + 1}", "layer": layer, "head": head, f"effect_{task}": cost}
        for (layer, head), cost in costs.items()
    ]
    rows = [
        {"layer": layer, "head": head, "excess": value, "ci_low": value - 0.01, "n": 5}
        | {"ci_high": value + 0.01, "task": task, "stage": "fine-tuned", "seed": 1}
        | {"measure": measure}
        for (layer, head), value in excess.items()
        for measure in ("copy", "shared")
    ]
    return {"kovaleva2019_heads": heads, f"finetuning__{task}_of_1_of_shared": rows}
