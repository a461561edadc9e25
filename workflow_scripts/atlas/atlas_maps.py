"""The maps of attention that the atlas shows, with their tokens."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workflow_scripts.atlas.texts import (
    Wanted,
    chosen,
    entry_of,
    first_of_drawings,
    opened,
    title_of,
    tokens_of,
    with_maps,
    write_maps,
)
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tables import read
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.measures.forms import PRETRAINED
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import classifier_of, logits_of
from workflow_scripts.core.run import job

Label = str | float
Prediction = dict[str, Label | None]
# Where the files have numbers, or identifiers, for classes.
NAMES = {
    "sst2": ("negative", "positive"),
    "cola": ("unacceptable", "acceptable"),
    "mrpc": ("not a paraphrase", "paraphrase"),
    "qqp": ("not a duplicate", "duplicate"),
    "rte": ("entailment", "not entailment"),
    "qnli": ("entailment", "not entailment"),
}
DECIMALS = 4


def outcomes(
    task: str,
    state: str,
    card: Path,
    labels: Mapping[str, float],
    examples: Sequence[CachedExample],
    device: torch.device,
) -> dict[str, dict[str, Any]]:
    """By the id of each example its gold label, and what the classifier of a card predicts for it.

    Both are the name of a class, or a score; `labels` are numbers by id. The prediction is from
    the tokens that the maps are of; `state` is the classifier's name.
    """
    model, _ = classifier_of(card, device)
    logits = logits_of(model, [tokens_of(example) for example in examples]).astype(np.float64)
    return {
        example.id: {
            "label": _named(task, labels[example.id]),
            "predictions": {state: _prediction(task, each)},
        }
        for example, each in zip(examples, logits, strict=True)
    }


def _prediction(task: str, logits: np.ndarray) -> Prediction:
    """The class of the largest output with its softmax probability, or a score without one."""
    if not TASKS[task].labels:
        return {"label": round(float(logits[0]), DECIMALS), "probability": None}
    shares = np.exp(logits - logits.max())
    best = int(logits.argmax())
    probability = float(shares[best] / shares.sum())
    return {"label": _named(task, best), "probability": round(probability, DECIMALS)}


def _named(task: str, label: float) -> Label:
    names = NAMES.get(task, TASKS[task].labels)
    return names[int(label)] if names else round(float(label), DECIMALS)


def main(
    model: Path,
    attention_caches: list[Path],
    texts: list[Path],
    maps: job.Out,
    kinds: dict,
    segments: int,
    examples: int,
    most_tokens: int,
    tuned: list[Path] = (),
    cards: list[Path] = (),
    tables: list[Path] = (),
    drawings: Path | None = None,
    generated: list = (),
    tuned_seed: int = 1,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the texts of one model, and their maps in each state of it.

    `kinds` states what each corpus and task is; `attention_caches` and `texts` are theirs in
    that order, and `generated` names those that no person wrote. `tuned` and `cards` are of the
    tasks' classifiers and `tables` hold the gold labels, in the order of the tasks. `tuned` is
    empty where the model itself is the classifier.
    """
    card = read_card(model)
    wanted = Wanted(segments, examples, most_tokens, seed, first_of_drawings(drawings))
    tokenizer = models.load_tokenizer(models.directory_of(card))
    tasks = [name for name, kind in kinds.items() if kind == "task"]
    files_of = zip(tasks, tuned or [None] * len(tasks), cards, tables, strict=True)
    classifiers = {task: files for task, *files in files_of}
    sources = {name: f"{name}, generated" if name in generated else name for name in kinds}
    made = []
    with opened(kinds, attention_caches, card) as caches:
        files = dict(zip(kinds, texts, strict=True))
        documents = {name: caches[name].documents(files[name]) for name in kinds}
        shown = chosen(caches, kinds, wanted)
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for name, index in job.progress(shown, desc="maps"):
            example = caches[name][index]
            patterns = {PRETRAINED: example.pattern}
            if name in classifiers:
                cache, card_of, table = classifiers[name]
                state = f"{name}.{tuned_seed}" if cache else PRETRAINED
                if cache:
                    with Cache(cache, read_card(card_of)) as of_classifier:
                        of_classifier.expect(caches[name].ids, str(caches[name].path))
                        patterns[state] = of_classifier[index].pattern
                if name not in found:
                    examples_of = [caches[name][each] for source, each in shown if source == name]
                    labels = read(table).set_index("id")["label"]
                    given = (card_of, labels, examples_of, running.pick_device(device))
                    found[name] = outcomes(name, state, *given)
            text = f"{name}-{index}"
            title = title_of(sources[name], documents[name][index], example.id)
            segment = entry_of(text, card["name"], name, title, example, tokenizer)
            segment |= found.get(name, {}).get(example.id, {})
            made.append(with_maps(segment, patterns))
    write_maps(made, maps)


if __name__ == "__main__":
    job.run(main, globals())
