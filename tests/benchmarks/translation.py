"""Translations with every head disabled by the engine, against a loop of `generate` per head.

The model is a Marian of the size of studies/multi30k.yaml: 4 and 4 layers, 128 wide, 4 heads, 4,000
words. It is trained for seconds on the study's generated pairs, until its outputs are sentences
that end, but hardly translations. The plain side decodes batches of 32 sentences in their order,
padded to the longest, by the same beam search with the same gates. Each number of threads has
rounds of its own; `different` counts the translations that are not the same on both sides.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from common import Rounds, alternate, arguments, report

from workflow_scripts.core.model.ablation_engine import one_head
from workflow_scripts.core.model.attention import n_heads, open_attention, sublayers, watching
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.translator_checks import search_config
from workflow_scripts.core.model.translators import (
    Generation,
    Languages,
    Translator,
    pad_sources,
    sources_of,
    targets_of,
)
from workflow_scripts.translation.decoding import translate
from workflow_scripts.translation.generated_pairs import pairs
from workflow_scripts.translation.translator_training import Pairs, Recipe, new_translator, train

BATCH, WORDS, TRAINING = 32, 4000, 3000
PASS_ROWS = 640
SEARCH = Generation(beams=5, length_penalty=1.0, max_new_tokens=64)
RECIPE = Recipe(
    seed=1,
    vocabulary=WORDS,
    hidden=128,
    feed_forward=512,
    layers=4,
    heads=4,
    epochs=2,
    batch_size=32,
    learning_rate=0.002,
)


def main() -> None:
    """Run both sides in turn on the same weights and sentences, with one thread and with two."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    translator, sources = trained(3 * BATCH if options.full else BATCH)
    model = translator.model
    disabled = one_head(len(sublayers(model)), n_heads(model))
    results: dict[str, list[list[list[int]]]] = {}

    def ours() -> None:
        results["ours"] = translate(translator, sources, disabled, PASS_ROWS).ids

    def plain() -> None:
        results["plain"] = [plainly(translator, sources, heads) for heads in disabled]

    translate(translator, sources[:2], disabled[:2], PASS_ROWS)
    plainly(translator, sources[:2], disabled[0])
    rounds: dict[str, Rounds] = {}
    different = 0
    for threads in (1, 2):
        torch.set_num_threads(threads)
        sides = {"ours": ours, "plain": plain}
        rounds[f"{threads}_threads"] = alternate(sides, 3 if options.full else 1, warm_up=False)
        both = zip(results["ours"], results["plain"], strict=True)
        different += sum(one != other for rows in both for one, other in zip(*rows, strict=True))
    lengths = [len(tokens) for rows in results["ours"] for tokens in rows]
    loads = [times.others for times in rounds.values()]
    report(
        "translation",
        None if None in loads else max(loads),
        ratio={name: times.ratio("plain", "ours") for name, times in rounds.items()},
        span={name: times.span("plain", "ours") for name, times in rounds.items()},
        different=different,
        detail={
            "sentences": len(sources),
            "heads": len(disabled),
            "tokens": {"mean": float(np.mean(lengths)), "longest": max(lengths)},
            "distinct": len({str(rows) for rows in results["ours"]}),
            "capped": sum(length == SEARCH.max_new_tokens for length in lengths),
            "seconds": {name: times.seconds for name, times in rounds.items()},
        },
    )


def trained(n: int) -> tuple[Translator, list[list[int]]]:
    """The translator, and `n` sentences that it was not trained on, as its encoder reads them."""
    made = pairs({"train": TRAINING, "validation": BATCH, "test": n}, RECIPE.seed)
    texts = {split: list(zip(*rows, strict=True)) for split, rows in made.items()}
    translator = new_translator([*texts["train"][0], *texts["train"][1]], RECIPE)
    model = translator.model
    model.resize_token_embeddings(WORDS)
    training, validation = (
        Pairs(sources_of(translator, texts[split][0]), targets_of(translator, texts[split][1]))
        for split in ("train", "validation")
    )
    with tempfile.TemporaryDirectory() as folder:
        train(translator, training, validation, RECIPE, Path(folder) / "state.safetensors")
    model.generation_config = search_config(
        model,
        translator.tokenizer,
        None,
        num_beams=SEARCH.beams,
        length_penalty=SEARCH.length_penalty,
        max_new_tokens=SEARCH.max_new_tokens,
    )
    open_attention(model.eval())
    made = Translator(model, translator.tokenizer, Languages(), SEARCH)
    return made, sources_of(made, texts["test"][0])


def plainly(translator: Translator, sources: list[list[int]], heads: np.ndarray) -> list[list[int]]:
    """The tokens of each sentence, by `generate` in batches in the order of the sentences."""
    model, found = translator.model, []
    end = model.generation_config.eos_token_id
    gates = Gates(torch.from_numpy(~heads).float())
    for start in range(0, len(sources), BATCH):
        inputs = pad_sources(translator, sources[start : start + BATCH])
        with watching(model, gates), torch.inference_mode():
            made = model.generate(**inputs)[:, 1:].tolist()
        found += [row[: row.index(end) + 1] if end in row else row for row in made]
    return found


if __name__ == "__main__":
    main()
