"""The classifier of maps, cross-validated on annotated maps (Kovaleva et al. 2019, 4.1, Fig. 1)."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import StratifiedGroupKFold

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.annotated_maps import (
    STAGES,
    Map,
    by_example,
    maps_of,
    read_annotations,
)
from workflow_scripts.patterns.builtin_maps import builtin_maps
from workflow_scripts.patterns.pattern_network import BATCH, fit, predict, to_image
from workflow_scripts.patterns.pattern_rules import CLASSES, classify
from workflow_scripts.patterns.stored_maps import stored_maps

log = logging.getLogger(__name__)
NUMBERS = list(range(len(CLASSES)))


def cached_maps(path: Path, caches: dict[str, Path]) -> list[Map]:
    """The annotated maps of a user's file; `caches` maps <model>/<cache> to the cache's file."""
    annotations = read_annotations(path)
    for annotation in annotations:
        if f"{annotation.model}/{annotation.corpus}" not in caches:
            raise InputError(
                f"{annotation.source}: {annotation.model}/{annotation.corpus} is not among the "
                "caches of this file; add it to them in the config, next to "
                f"{', '.join(caches) or 'none'}"
            )
    maps = []
    for name, cache_path in caches.items():
        annotated = by_example(row for row in annotations if f"{row.model}/{row.corpus}" == name)
        with Cache(cache_path) as cache:
            for id_, of_example in annotated.items():
                if id_ not in cache.ids:
                    raise InputError(f"{of_example[0].source}: {name} has no example {id_}")
                example = cache[cache.ids.index(id_)]
                maps += maps_of(
                    of_example,
                    ids=example.ids,
                    pattern=example.pattern,
                    special=example.word < 0,
                    segment=example.segment,
                )
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


def scores_of(
    method: str, labels: np.ndarray, predicted: np.ndarray, fold_of: np.ndarray
) -> list[dict]:
    """Macro F1 of each fold, over the classes that occur in any, and accuracy."""
    rows = []
    for fold in np.unique(fold_of):
        true, given = labels[fold_of == fold], predicted[fold_of == fold]
        score = f1_score(true, given, labels=np.unique(labels), average="macro", zero_division=0)
        row = {"method": method, "fold": int(fold), "macro_f1": score}
        rows.append(row | {"accuracy": accuracy_score(true, given), "n": len(true)})
    return rows


def scores_by_stage(
    labels: np.ndarray,
    stages: np.ndarray,
    predicted: dict[str, np.ndarray],
    fold_of: np.ndarray,
) -> list[dict]:
    """Scores of each method in `predicted` on pretrained and on fine-tuned maps apart.

    `stages` has the stage of each map. None where all maps are of one stage.
    """
    rows = []
    for stage in STAGES if len(set(stages)) > 1 else ():
        of_stage = stages == stage
        for method, given in predicted.items():
            name = f"{method} on {stage} maps"
            rows += scores_of(name, labels[of_stage], given[of_stage], fold_of[of_stage])
    return rows


def without_fine_tuned(
    images: torch.Tensor,
    labels: np.ndarray,
    stages: np.ndarray,
    fold_of: np.ndarray,
    recipe: Recipe,
) -> list[dict]:
    """Scores on fine-tuned maps of a network that saw pretrained maps alone; none without both."""
    tuned = stages == STAGES[1]
    if tuned.all() or not tuned.any():
        return []
    network = fit(images[~tuned], torch.from_numpy(labels[~tuned]), recipe)
    predicted = predict(network, images[tuned]).argmax(axis=1)
    name = "network on fine-tuned maps, trained without them"
    return scores_of(name, labels[tuned], predicted, fold_of[tuned])


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
    classifier: Out,
    folds: Out,
    confusion: Out,
    maps: Out,
    cache_names: list[str],
    n_folds: int,
    epochs: int,
    learning_rate: float,
    seed: int = 1,
) -> None:
    """Write the classifier, its scores by fold, the confusion matrix and typical maps.

    `annotations` are the study's own, of maps in `caches`, which `cache_names` name. `builtin` is
    the workflow's file of pretrained maps, `stored` that of fine-tuned maps and the maps; or none.
    """
    cache_of = dict(zip(cache_names, caches, strict=True))
    annotated = [map_ for path in builtin for map_ in builtin_maps(read_annotations(path))]
    if stored:
        annotated += stored_maps(stored[1], read_annotations(stored[0]))
    for path in annotations:
        annotated += cached_maps(path, cache_of)
    labels = np.array([map_.annotation.label for map_ in annotated])
    stages = np.array([map_.annotation.stage for map_ in annotated])
    groups = np.array([_group(map_) for map_ in annotated])
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
    by_rules = np.array(
        [int(classify(map_.pattern, map_.special, map_.segment)) for map_ in annotated]
    )
    rows = scores_of("network", labels, predicted, fold_of)
    rows += scores_of("network, shuffled labels", shuffled, control.argmax(1), control_fold)
    rows += scores_of("rules", labels, by_rules, fold_of)
    both = {"network": predicted, "rules": by_rules}
    rows += scores_by_stage(labels, stages, both, fold_of)
    rows += without_fine_tuned(images, labels, stages, fold_of, recipe)
    tables.write(pd.DataFrame(rows), folds)
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


def _group(map_: Map) -> str:
    """The example of a map, the same before and after fine-tuning."""
    return f"{map_.annotation.corpus.partition('.')[0]}/{map_.annotation.example}"


if __name__ == "__main__":
    job.run(main, globals())
