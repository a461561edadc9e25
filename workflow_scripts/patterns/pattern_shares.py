"""Share of each class among the maps of each head, task by task (Kovaleva et al., Figure 2)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors import safe_open
from safetensors.torch import load_file

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.annotated_maps import CLASSES, classify
from workflow_scripts.patterns.pattern_network import PatternNetwork, folded, predict, to_image

METHODS = ("network", "rules")


def count(cache: Cache, network: PatternNetwork) -> dict[str, np.ndarray]:
    """The number of maps of each class by each of METHODS, and by `both`: [layer, head, class]."""
    shape = (cache.n_layers, cache.n_heads)
    counts = {name: np.zeros((*shape, len(CLASSES)), dtype=int) for name in (*METHODS, "both")}
    layers, heads = np.indices(shape)
    for example in job.progress(cache, len(cache), "maps"):
        images = to_image(example.pattern).flatten(0, 1)
        by_network = predict(network, images).argmax(axis=1).reshape(shape)
        by_rules = classify(example.pattern, example.word < 0, example.segment)
        for method, numbers in (("network", by_network), ("rules", by_rules)):
            counts[method][layers, heads, numbers] += 1
        counts["both"][layers, heads, by_rules] += by_network == by_rules
    return counts


def main(
    classifier: Path, caches: list[Path], cards: list[Path], shares: Out, names: list[list]
) -> None:
    """Write each head's shares of classes; `names` has task, stage and seed of each of `caches`."""
    with safe_open(classifier, "pt") as file:
        about = json.loads(file.metadata()["about"])
    learnt_from = {name: about[name] for name in ("annotated_model", "annotated_stage")}
    network = PatternNetwork()
    network.load_state_dict(load_file(classifier))
    fast = folded(network)
    frames = []
    for path, card, (task, stage, seed) in zip(caches, cards, names, strict=True):
        with Cache(path, read_card(card)) as cache:
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
