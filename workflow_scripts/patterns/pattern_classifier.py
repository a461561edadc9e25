"""The classifier of maps, cross-validated on annotated maps (Kovaleva et al. 2019, 4.1, Fig. 1)."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedGroupKFold

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.annotated_maps import (
    CLASSES,
    STAGES,
    Map,
    by_example,
    classify,
    maps_of,
    read_annotations,
    stored_maps,
)
from workflow_scripts.patterns.builtin_maps import builtin_maps
from workflow_scripts.patterns.pattern_network import BATCH, fit, predict, to_image

log = logging.getLogger(__name__)
NUMBERS = list(range(len(CLASSES)))
OF_MAP = ("model", "corpus", "example", "layer", "head")  # of an annotation, in the predictions


def cached_maps(path: Path, caches: dict[str, tuple[Path, Path]]) -> list[Map]:
    """The annotated maps of a user's file; `caches` has cache and card by <model>/<cache>."""
    annotations = read_annotations(path)
    for annotation in annotations:
        if f"{annotation.model}/{annotation.corpus}" not in caches:
            raise InputError(
                f"{annotation.source}: {annotation.model}/{annotation.corpus} is not among the "
                "caches of this file; add it to them in the config, next to "
                f"{', '.join(caches) or 'none'}"
            )
    maps = []
    for name, (cache_path, card) in caches.items():
        annotated = by_example(row for row in annotations if f"{row.model}/{row.corpus}" == name)
        with Cache(cache_path, read_card(card)) as cache:
            for id_, of_example in annotated.items():
                if id_ not in cache.ids:
                    raise InputError(f"{of_example[0].source}: {name} has no example {id_}")
                example = cache[cache.ids.index(id_)]
                special = example.word < 0
                maps += maps_of(of_example, example.ids, example.pattern, special, example.segment)
    return maps


def cross_validate(
    images: torch.Tensor,
    labels: np.ndarray,
    groups: np.ndarray,
    folds: int,
    recipe: Recipe,
    desc: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities [map, class] from networks that saw no map of the same group, and the fold.

    The recipe's seed draws the folds; each fold's network has the seed after it.
    """
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=recipe.seed)
    splits = list(splitter.split(labels, labels, groups))
    probabilities = np.zeros((len(labels), len(CLASSES)), dtype=np.float32)
    fold_of = np.zeros(len(labels), dtype=int)
    for fold, (train, test) in enumerate(job.progress(splits, desc=desc)):
        fold_recipe = replace(recipe, seed=recipe.seed + fold)
        network = fit(images[train], torch.from_numpy(labels[train]), fold_recipe)
        probabilities[test], fold_of[test] = predict(network, images[test]), fold
    return probabilities, fold_of


def predictions_of(
    method: str, maps: Sequence[Map], labels: np.ndarray, given: np.ndarray, fold_of: np.ndarray
) -> pd.DataFrame:
    """A row per map: what it is of, its label and the class that the method gives it, by name.

    `group` is the map's example, the same before and after fine-tuning; `labels`, `given` and
    `fold_of` are [map].
    """
    names = np.array(CLASSES)
    frame = pd.DataFrame([map_.annotation.key[:-1] for map_ in maps], columns=list(OF_MAP))
    frame["stage"] = [map_.annotation.stage for map_ in maps]
    frame["group"] = [map_.annotation.group for map_ in maps]
    return frame.assign(method=method, fold=fold_of, label=names[labels], given=names[given])


def without_fine_tuned(
    images: torch.Tensor, labels: np.ndarray, tuned: np.ndarray, recipe: Recipe
) -> np.ndarray:
    """The classes that a network gives the fine-tuned maps which saw pretrained maps alone.

    `tuned` (bool [map]) marks the fine-tuned maps, some of all; the classes' numbers are [tuned].
    """
    network = fit(images[~tuned], torch.from_numpy(labels[~tuned]), recipe)
    return predict(network, images[tuned]).argmax(axis=1)


def typical(maps: list[Map], probabilities: np.ndarray, labels: np.ndarray, n: int) -> pd.DataFrame:
    """The `n` maps of each class with the highest probability, each of another example."""
    frames = []
    for number, name in enumerate(CLASSES):
        members = np.flatnonzero(labels == number)
        ranked = members[np.argsort(-probabilities[members, number], kind="stable")]
        seen: set[str] = set()
        for index in ranked:
            annotation = maps[index].annotation
            if annotation.example in seen or len(seen) == n:
                continue
            frame = tables.per_pair(maps[index].pattern.astype(np.float32))
            labelled = {"class": name, "place": len(seen), "example": annotation.example}
            labelled["stage"] = annotation.stage
            frames.append(frame.assign(**labelled, layer=annotation.layer, head=annotation.head))
            seen.add(annotation.example)
    return pd.concat(frames, ignore_index=True)


def main(
    annotations: list[Path],
    builtin: list[Path],
    stored: list[Path],
    caches: list[Path],
    cards: list[Path],
    classifier: Out,
    predictions: Out,
    confusion: Out,
    maps: Out,
    cache_names: list[str],
    n_folds: int,
    epochs: int,
    learning_rate: float,
    seed: int = 1,
) -> None:
    """Write the classifier, predictions out of fold, the confusion matrix and typical maps.

    `annotations` are the study's own, of maps in `caches`, which `cache_names` name; `cards` are
    those of their models. `builtin` is the workflow's file of pretrained maps, `stored` that of
    fine-tuned maps and the maps; or none.
    """
    pairs = zip(caches, cards, strict=True)
    cache_of = dict(zip(cache_names, pairs, strict=True))
    annotated = [map_ for path in builtin for map_ in builtin_maps(read_annotations(path))]
    if stored:
        annotated += stored_maps(stored[1], read_annotations(stored[0]))
    for path in annotations:
        annotated += cached_maps(path, cache_of)
    labels = np.array([map_.annotation.label for map_ in annotated])
    stages = np.array([map_.annotation.stage for map_ in annotated])
    groups = np.array([map_.annotation.group for map_ in annotated])
    counts = np.bincount(labels, minlength=len(CLASSES))
    log.info("%d maps: %s", len(labels), dict(zip(CLASSES, counts.tolist(), strict=True)))
    if counts.min() < n_folds:
        rarest = CLASSES[int(counts.argmin())]
        raise InputError(f"patterns: {counts.min()} annotated maps are {rarest}; annotate more")
    images = torch.stack([to_image(map_.pattern) for map_ in annotated])
    recipe = Recipe(seed=seed, epochs=epochs, batch_size=BATCH, learning_rate=learning_rate)
    probabilities, fold_of = cross_validate(images, labels, groups, n_folds, recipe, "folds")
    predicted = probabilities.argmax(axis=1)
    shuffled = np.random.default_rng(seed).permutation(labels)
    control, control_fold = cross_validate(images, shuffled, groups, n_folds, recipe, "control")
    rules = (classify(map_.pattern, map_.special, map_.segment) for map_ in annotated)
    by_rules = np.array([int(number) for number in rules])
    given = {
        "network": (labels, predicted, fold_of),
        "network, shuffled labels": (shuffled, control.argmax(axis=1), control_fold),
        "rules": (labels, by_rules, fold_of),
    }
    frames = [predictions_of(method, annotated, *of_map) for method, of_map in given.items()]
    tuned = stages == STAGES[1]
    if tuned.any() and not tuned.all():
        unseen = without_fine_tuned(images, labels, tuned, recipe)
        maps_tuned = [map_ for map_ in annotated if map_.annotation.stage == STAGES[1]]
        name = "network, trained without fine-tuned maps"
        frames.append(predictions_of(name, maps_tuned, labels[tuned], unseen, fold_of[tuned]))
    tables.write(pd.concat(frames, ignore_index=True), predictions)
    matrix = confusion_matrix(labels, predicted, labels=NUMBERS)
    frame = tables.tidy({"true": CLASSES, "predicted": CLASSES}, n=matrix)
    tables.write_csv(frame, confusion)
    tables.write(typical(annotated, probabilities, labels, 3), maps)
    final = fit(images, torch.from_numpy(labels), recipe)
    models = sorted({map_.annotation.model for map_ in annotated})
    about = {"classes": CLASSES, "annotated_model": models}
    about["annotated_stage"] = [stage for stage in STAGES if stage in stages]
    # One key: safetensors writes several in an order of chance.
    metadata = {"about": json.dumps({name: ",".join(values) for name, values in about.items()})}
    save_file(final.state_dict(), classifier, metadata=metadata)


if __name__ == "__main__":
    job.run(main, globals())
