"""A translator's maps of attention that the atlas shows: encoder, encoder-decoder and decoder.

The decoder is given the reference (teacher forcing), so that every translator reads the same
tokens. What it reads is the reference shifted by one: at each token, it predicts the next.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from workflow_scripts.atlas.texts import encode, sampled, title_of, write_maps
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import ATTENTION_TYPES
from workflow_scripts.core.data.tokens import token_texts
from workflow_scripts.core.measures.forms import named_by_run
from workflow_scripts.core.model import running, translators
from workflow_scripts.core.model.attention import Capture, sublayers, watching
from workflow_scripts.core.run import job

TASK = "translation"
SPACES = ("▁", "Ġ")  # how the wordpieces that begin a word are marked


def forced_maps(
    translator: translators.Translator, source: Sequence[int], target: Sequence[int]
) -> tuple[list[int], dict[str, np.ndarray]]:
    """What the decoder reads of a target, and the weights of each type of attention.

    Weights are float32 [layer, head, query, key].
    """
    model, capture, read = translator.model, Capture(), []
    hook = model.get_decoder().register_forward_pre_hook(
        lambda _, __, given: read.extend(given["input_ids"][0].tolist()), with_kwargs=True
    )
    try:
        with torch.inference_mode(), running.OneDNN(), watching(model, capture):
            inputs, labels = (
                translators.pad_sources(translator, [source]),
                translators.pad_targets(translator, [target]),
            )
            model(**inputs, labels=labels, use_cache=False)
    finally:
        hook.remove()
    order = [sublayer.type for sublayer in sublayers(model)]
    found = list(zip(order, capture.patterns, strict=True))
    weights = {
        kind: torch.stack([each[0].float() for of, each in found if of == kind]).cpu().numpy()
        for kind in ATTENTION_TYPES
    }
    return read, weights


def described(translator: translators.Translator, ids: Sequence[int]) -> dict[str, list]:
    """The texts of tokens, and the word that each is part of (-1: special token)."""
    tokenizer = translator.tokenizer
    special, words, word = set(tokenizer.all_special_ids), [], -1
    for token, text in zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True):
        begins = word < 0 or text.startswith(SPACES)
        word += int(token not in special and begins)
        words.append(-1 if token in special else word)
    return {"tokens": token_texts(tokenizer, np.array(ids)), "word": words}


def chosen(pairs: pd.DataFrame, n: int, most_words: int, seed: int) -> pd.DataFrame:
    """`n` random test pairs of at most `most_words` words on each side; the shortest if none is.

    Words and not tokens, so that runs with vocabularies of their own have the same pairs.
    """
    frame = pairs[pairs["split"] == "test"]
    words = frame[["source", "target"]].map(lambda text: len(text.split())).max(axis=1).to_numpy()
    return frame.iloc[sampled(words, n, most_words, seed)]


def main(
    card: Path,
    pairs: Path,
    maps: job.Out,
    generation: dict[str, Any],
    examples: int,
    most_words: int,
    generated: bool,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write a translator's maps of `examples` test pairs: the same ones for every run."""
    model, state = named_by_run(TASK, card.name.removesuffix(".card.json"))
    translator = translators.translator_of(read_card(card), generation, running.pick_device(device))
    frame = chosen(tables.read(pairs), examples, most_words, seed)
    sources = translators.sources_of(translator, frame["source"].tolist())
    targets = translators.targets_of(translator, frame["target"].tolist())
    corpus = f"{TASK}, generated" if generated else TASK
    made = []
    for pair, source, target in zip(frame["id"], sources, targets, strict=True):
        read, weights = forced_maps(translator, source, target)
        identity = f"{TASK}-{pair}"
        names = {kind: f"{model}.{identity}.{state}.{kind}" for kind in weights}
        about = {"id": identity, "model": model, "corpus": TASK}
        about |= {"title": title_of(corpus, pair, pair)} | described(translator, source)
        shown = {"target": described(translator, read), "maps": {state: names}}
        encoded = {names[kind]: encode(values) for kind, values in weights.items()}
        made.append((about | shown, encoded))
    write_maps(made, maps)


if __name__ == "__main__":
    job.run(main, globals())
