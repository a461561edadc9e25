"""Share of each class among the maps of each head, task by task (Kovaleva et al., Figure 2)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors import safe_open
from safetensors.torch import load_file

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.run import job
from workflow_scripts.patterns.annotated_maps import CLASSES, classify
from workflow_scripts.patterns.pattern_network import PatternNetwork, folded, predict, to_image

METHODS = ("network", "rules")


def count(patterns: Patterns, network: PatternNetwork) -> dict[str, np.ndarray]:
    """The number of maps of each class by each of METHODS, and by `both`: [layer, head, class]."""
    shape = (patterns.n_layers, patterns.n_heads, len(CLASSES))
    counts = {name: np.zeros(shape, dtype=int) for name in (*METHODS, "both")}

    def update(example: CachedExample) -> None:
        images = to_image(example.pattern).flatten(0, 1)
        by_rules = classify(example.pattern, example.word < 0, example.segment)
        by_network = predict(network, images).argmax(axis=1).reshape(by_rules.shape)
        layers, heads = np.indices(by_rules.shape)
        of_layers = {name: numbers[example.layers] for name, numbers in counts.items()}  # views
        for method, numbers in (("network", by_network), ("rules", by_rules)):
            of_layers[method][layers, heads, numbers] += 1
        of_layers["both"][layers, heads, by_rules] += by_network == by_rules

    patterns.each(update)
    return counts


def main(
    classifier: Path, caches: list[Path], cards: list[Path], shares: job.Out, names: list[list]
) -> None:
    """Write each head's shares of classes; `names` has task, stage and seed of each of `caches`.

    A cache may be Patterns in the place of a path.
    """
    with safe_open(classifier, "pt") as file:
        about = json.loads(file.metadata()["about"])
    learnt_from = {name: about[name] for name in ("annotated_model", "annotated_stage")}
    network = PatternNetwork()
    network.load_state_dict(load_file(classifier))
    fast = folded(network)
    frames = []
    for path, card, (task, stage, seed) in zip(caches, cards, names, strict=True):
        with open_patterns(path, read_card(card)) as cache:
            axes = {"layer": range(cache.n_layers), "head": range(cache.n_heads), "class": CLASSES}
            counts = count(cache, fast)
            shared = counts.pop("both") / len(cache)
            for method, of_method in counts.items():
                frame = tables.tidy(axes, share=of_method / len(cache), both=shared)
                labels = {"method": method, "task": task, "stage": stage, "seed": seed}
                frames.append(frame.assign(n=len(cache), **labels, **learnt_from))
    tables.write(pd.concat(frames, ignore_index=True), shares)


if __name__ == "__main__":
    job.run(main, globals())
