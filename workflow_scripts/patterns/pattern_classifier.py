"""The classifier of maps, cross-validated on annotated maps (Kovaleva et al. 2019, 4.1, Fig. 1)."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.model_selection import StratifiedGroupKFold

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns import network
from workflow_scripts.patterns.annotated_maps import Map, by_example, maps_of, read_annotations
from workflow_scripts.patterns.builtin_maps import builtin_maps
from workflow_scripts.patterns.rules import CLASSES, classify

log = logging.getLogger(__name__)
NUMBERS = list(range(len(CLASSES)))


def cached_maps(path: Path, caches: dict[str, Path]) -> list[Map]:
    """The annotated maps of a user's file; `caches` maps <model>/<cache> to the cache's file."""
    annotations = read_annotations(path)
    for one in annotations:
        if f"{one.model}/{one.corpus}" not in caches:
            raise InputError(
                f"{one.source}: {one.model}/{one.corpus} is not among the caches of this file; "
                f"add it to them in the config, beside {', '.join(caches) or 'none'}"
            )
    found = []
    for name, place in caches.items():
        mine = by_example(one for one in annotations if f"{one.model}/{one.corpus}" == name)
        with Cache(place) as cache:
            for id_, wanted in mine.items():
                if id_ not in cache.ids:
                    raise InputError(f"{wanted[0].source}: {name} has no example {id_}")
                one = cache[cache.ids.index(id_)]
                found += maps_of(wanted, one.ids, one.pattern, one.word < 0, one.segment)
    return found


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
        known = torch.from_numpy(labels[train])
        fitted = network.fit(images[train], known, replace(recipe, seed=recipe.seed + fold))
        probabilities[test], fold_of[test] = network.predict(fitted, images[test]), fold
    return probabilities, fold_of


def scores_of(
    method: str, labels: np.ndarray, predicted: np.ndarray, fold_of: np.ndarray
) -> list[dict]:
    """Macro F1 of each fold."""
    return [
        {
            "method": method,
            "fold": int(fold),
            "macro_f1": f1_score(
                labels[fold_of == fold],
                predicted[fold_of == fold],
                labels=NUMBERS,
                average="macro",
                zero_division=0,
            ),
            "n": int((fold_of == fold).sum()),
        }
        for fold in np.unique(fold_of)
    ]


def typical(maps: list[Map], probabilities: np.ndarray, labels: np.ndarray, n: int) -> pd.DataFrame:
    """The `n` maps of each class that the network is surest about, each of another example."""
    frames = []
    for number, name in enumerate(CLASSES):
        mine = np.flatnonzero(labels == number)
        ranked = mine[np.argsort(-probabilities[mine, number], kind="stable")]
        seen: set[str] = set()
        for index in ranked:
            one = maps[index].annotation
            if one.example in seen or len(seen) == n:
                continue
            frame = tables.per_pair(maps[index].pattern.astype(np.float32))
            about = {"class": name, "place": len(seen), "example": one.example}
            frames.append(frame.assign(**about, layer=one.layer, head=one.head))
            seen.add(one.example)
    return pd.concat(frames, ignore_index=True)


def main(
    annotations: list[Path],
    caches: list[Path],
    classifier: Out,
    folds: Out,
    confusion: Out,
    maps: Out,
    builtin: bool,
    cache_names: list[str],
    n_folds: int,
    epochs: int,
    learning_rate: float,
    seed: int = 1,
) -> None:
    """Write the classifier, its scores by fold, the confusion matrix and typical maps.

    With `builtin`, the first file is the workflow's own. `cache_names` name `caches`.
    """
    named = dict(zip(cache_names, caches, strict=True))
    found = builtin_maps(read_annotations(annotations[0])) if builtin else []
    for path in annotations[1:] if builtin else annotations:
        found += cached_maps(path, named)
    labels = np.array([one.annotation.label for one in found])
    groups = np.array([f"{one.annotation.corpus}/{one.annotation.example}" for one in found])
    counts = np.bincount(labels, minlength=len(CLASSES))
    log.info("%d maps: %s", len(labels), dict(zip(CLASSES, counts.tolist(), strict=True)))
    if counts.min() < n_folds:
        few = CLASSES[int(counts.argmin())]
        raise InputError(f"patterns: {counts.min()} annotated maps are {few}; annotate more")
    images = torch.stack([network.to_image(one.pattern) for one in found])
    recipe = Recipe(seed, epochs, network.BATCH, learning_rate)
    probabilities, fold_of = cross_validate(images, labels, groups, n_folds, recipe, "folds")
    predicted = probabilities.argmax(axis=1)
    shuffled = np.random.default_rng(seed).permutation(labels)
    control, control_fold = cross_validate(images, shuffled, groups, n_folds, recipe, "control")
    by_rule = np.array([int(classify(one.pattern, one.special, one.segment)) for one in found])
    rows = scores_of("network", labels, predicted, fold_of)
    rows += scores_of("network, shuffled labels", shuffled, control.argmax(1), control_fold)
    rows += scores_of("rules", labels, by_rule, fold_of)
    tables.write(pd.DataFrame(rows), folds)
    matrix = confusion_matrix(labels, predicted, labels=NUMBERS)
    frame = tables.tidy({"true": CLASSES, "predicted": CLASSES}, n=matrix)
    tables.write_csv(frame, confusion)
    tables.write(typical(found, probabilities, labels, 3), maps)
    final = network.fit(images, torch.from_numpy(labels), recipe)
    save_file(final.state_dict(), classifier, metadata={"classes": ",".join(CLASSES)})


if __name__ == "__main__":
    job.run(main, globals())
