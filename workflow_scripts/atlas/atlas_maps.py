"""The maps of attention that the atlas shows, with their tokens.

The most wanted texts come first: the page leaves out the last ones where it has no room for them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workflow_scripts.atlas.chosen import Sources, Wanted, first_of_drawings, identity
from workflow_scripts.atlas.encoding import encode
from workflow_scripts.atlas.outcomes import gold_labels, predictions
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import token_texts
from workflow_scripts.core.model import devices, models
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def title_of(source: str, document: str, identity: str) -> str:
    """Where a text is from: corpus, document and example, one name where these are the same."""
    return f"{source}: {document}" + (f", {identity}" if identity != document else "")


@dataclass(frozen=True)
class Classifier:
    """A task's gold labels, and its classifier: the name of its state, its cache and its card."""

    task: str
    state: str
    cache: Path
    card: Path
    labels: dict[str, Any]

    def pattern(self, body: Cache, index: int) -> np.ndarray:
        """Its pattern of the example `index` of the pretrained model's cache `body`."""
        with Cache(self.cache, read_card(self.card)) as cache:
            cache.expect(body.ids, str(body.path))
            return cache[index].pattern

    def outcomes(
        self, examples: Sequence[CachedExample], device: torch.device
    ) -> dict[str, dict[str, Any]]:
        """The gold label of each example, and the prediction from the tokens that its maps are of.

        By the id of the example; the classifier is loaded once.
        """
        predicted = predictions(self.task, self.card, examples, device)
        return {
            example.id: {"label": self.labels[example.id], "predictions": {self.state: each}}
            for example, each in zip(examples, predicted, strict=True)
        }


def with_maps(
    segment: dict[str, Any], patterns: Mapping[str, np.ndarray], norms: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A text that names its maps and the pretrained model's norms, and these by their names."""
    names = {state: f"{segment['model']}.{segment['id']}.{state}" for state in patterns}
    maps = {names[state]: encode(pattern) for state, pattern in patterns.items()}
    norm_names = {} if norms is None else {"pretrained": f"{names['pretrained']}.norms"}
    maps |= {name: norms for name in norm_names.values()}
    return segment | {"maps": names, "norms": norm_names}, maps


def main(
    model: Path,
    attention_caches: list[Path],
    texts: list[Path],
    maps: Out,
    kinds: dict,
    segments: int,
    examples: int,
    most_tokens: int,
    tuned: list[Path] = (),
    cards: list[Path] = (),
    tables: list[Path] = (),
    drawings: Path | None = None,
    norms: Path | None = None,
    generated: list = (),
    tuned_seed: int = 1,
    device: str = "auto",
    seed: int = 1,
    checkpoints: list[Path] = (),
) -> None:
    """Write the texts of one model, and their maps in each state of it.

    `kinds` states what each corpus and task is; `attention_caches` and `texts` are theirs in
    that order, and `generated` names those that no person wrote. `tuned` and `cards` are of the
    tasks' classifiers and `tables` hold the gold labels, in the order of the tasks; `checkpoints`
    are the directories that the cards name.
    """
    card = read_card(model)
    wanted = Wanted(segments, examples, most_tokens, seed, first_of_drawings(drawings))
    tokenizer = models.load_tokenizer(models.directory_of(card))
    measured = json.loads(norms.read_text(encoding="utf-8")) if norms else {}
    tasks = [name for name, kind in kinds.items() if kind == "task"]
    classifiers = {
        task: Classifier(task, f"{task}.{tuned_seed}", *files, gold_labels(task, table))
        for task, table, *files in zip(tasks, tables, tuned, cards, strict=True)
    }
    sources_named = {name: f"{name}, generated" if name in generated else name for name in kinds}
    content = {"segments": [], "maps": {}, "left_out": measured.get("left_out", [])}
    with Sources(kinds, attention_caches, card) as sources:
        files = dict(zip(kinds, texts, strict=True))
        documents = {name: sources.caches[name].documents(files[name]) for name in kinds}
        shown = sources.chosen(wanted)
        outcomes: dict[str, dict[str, Any]] = {}
        for name, index in job.progress(shown, desc="maps"):
            example = sources.caches[name][index]
            patterns = {"pretrained": example.pattern}
            outcome = {}
            if classifier := classifiers.get(name):
                patterns[classifier.state] = classifier.pattern(sources.caches[name], index)
                if name not in outcomes:
                    of_task = [sources.caches[task][each] for task, each in shown if task == name]
                    outcomes[name] = classifier.outcomes(of_task, devices.pick(device))
                outcome = outcomes[name][example.id]
            text = identity(name, index)
            segment = {
                "id": text,
                "model": card["name"],
                "corpus": name,
                "title": title_of(sources_named[name], documents[name][index], example.id),
                "tokens": token_texts(tokenizer, example.ids),
                "word": example.word.tolist(),
                **outcome,
            }
            kept = with_maps(segment, patterns, measured.get("norms", {}).get(text))
            content["segments"].append(kept[0])
            content["maps"] |= kept[1]
    maps.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
