"""The norms of what heads read from each token of the texts that the atlas shows."""

import json
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.atlas import texts
from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.head_maps import ValueNorms, output_grams
from workflow_scripts.core.run import job


def value_norms(model: PreTrainedModel, grams: torch.Tensor, example: CachedExample) -> np.ndarray:
    """||f(x)|| of every token of an example, float32 [layer, head, key]."""
    found: list[torch.Tensor] = []
    watcher = ValueNorms(grams, lambda layer, pattern, norms: found.append(norms[0]))
    with torch.inference_mode(), attention.watching(model, watcher):
        model(**running.pad([texts.tokens_of(example)], model))
    return torch.stack(found).float().cpu().numpy()


def main(
    model: Path,
    attention_caches: list[Path],
    norms: job.Out,
    kinds: dict,
    segments: int,
    examples: int,
    most_tokens: int,
    drawings: Path | None = None,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the norms of the texts that the atlas shows, by their ids.

    `kinds` states what each corpus and task is, in the order of the caches.
    """
    card = read_card(model)
    wanted = texts.Wanted(segments, examples, most_tokens, seed, texts.first_of_drawings(drawings))
    body = models.load_body(models.directory_of(card), running.pick_device(device))
    body = attention.open_attention(body)
    found, left_out = {}, []
    try:
        grams = output_grams(body)
    except InputError:
        what = f"{card['name']}: norms, as the projections of {card['architecture']} are not known."
        left_out.append(what)
    else:
        with texts.opened(kinds, attention_caches, card) as caches:
            for name, index in job.progress(texts.chosen(caches, kinds, wanted), desc="norms"):
                values = value_norms(body, grams, caches[name][index])
                found[f"{name}-{index}"] = texts.encode(values)
    content = {"norms": found, "left_out": left_out}
    norms.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
