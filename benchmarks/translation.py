"""Translations with every head disabled by the engine, against a loop of `generate` per head.

The model is trained on generated pairs, and its translations are scored, so that it is known to
translate. The plain side decodes batches of 32 sentences in their order, padded to the longest, by
the same beam search with the same gates. Each number of threads has rounds of its own; `different`
counts the translations that are not the same on both sides, `cpu` is the ratio of processor time.

`stacked` is what the package's own search brings: processor time of `generate` over ours, both with
the same variants stacked, for a sweep of all heads and for random orders of pruning (whose capped
outputs keep all others of a pass in `generate`). `draft` bounds what the intact model's
translations could bring as a draft: processor time of the greedy sweep over that of one pass over
these translations with each head disabled, which tells where a variant first decides otherwise.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from common import Rounds, alternate, arguments, report
from sacrebleu import corpus_bleu
from transformers.modeling_outputs import BaseModelOutput

from workflow_scripts.core.model import running
from workflow_scripts.core.model.ablation_engine import one_head
from workflow_scripts.core.model.attention import n_heads, open_attention, sublayers, watching
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.running import chunks_by_length
from workflow_scripts.core.model.translators import (
    Translator,
    pad_sources,
    search_config,
    sources_of,
    targets_of,
    texts_of,
)
from workflow_scripts.core.stats import effects
from workflow_scripts.translation.decoding import Variants, ends_of, forced_losses, translate
from workflow_scripts.translation.generated_pairs import pairs
from workflow_scripts.translation.translator_training import (
    Pairs,
    TranslatorRecipe,
    new_translator,
    train,
)

BATCH, PAIRS = 32, 4000
PASS_ROWS = 1280  # of studies/multi30k.yaml
SEARCH = {"num_beams": 5, "length_penalty": 1.0, "max_new_tokens": 64}
RECIPE = TranslatorRecipe(
    seed=1,
    vocabulary=800,
    hidden=64,
    feed_forward=256,
    layers=3,
    heads=4,
    epochs=5,
    batch_size=16,
    learning_rate=0.003,
    init_std=0.1,
)


def main() -> None:
    """Run both sides in turn on the same weights and sentences, with one thread and with two."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    translator, sources, references = trained(3 * BATCH if options.full else BATCH)
    model = translator.model
    disabled = one_head(len(sublayers(model)), n_heads(model))
    results: dict[str, list[list[list[int]]]] = {}
    processor: dict[str, list[float]] = {"ours": [], "plain": []}

    def ours() -> None:
        started = time.process_time()
        results["ours"] = translate(translator, sources, disabled, PASS_ROWS)
        processor["ours"].append(time.process_time() - started)

    def plain() -> None:
        started = time.process_time()
        results["plain"] = [plainly(translator, sources, heads) for heads in disabled]
        processor["plain"].append(time.process_time() - started)

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
    torch.set_num_threads(1)
    shape = (len(sublayers(model)), n_heads(model))
    counts = effects.pruning_steps(shape[0] * shape[1], 0.1)
    pruned = np.concatenate(effects.random_orders(shape, counts, 2, RECIPE.seed))
    searches = {
        name: compared(translator, sources[: BATCH // 2], variants)
        for name, variants in {"sweep": disabled, "pruning": pruned}.items()
    }
    different += sum(found["different"] for found in searches.values())
    intact = translate(translator, sources, np.zeros_like(disabled[:1]), PASS_ROWS)
    lengths = [len(tokens) for rows in results["ours"] for tokens in rows]
    loads = [times.others for times in rounds.values()]
    report(
        "translation",
        None if None in loads else max(loads),
        ratio={name: times.ratio("plain", "ours") for name, times in rounds.items()},
        span={name: times.span("plain", "ours") for name, times in rounds.items()},
        different=different,
        cpu=sum(processor["plain"]) / sum(processor["ours"]),
        stacked={name: found["ratio"] for name, found in searches.items()},
        draft=draft_bound(translator, sources, disabled),
        detail={
            "bleu": corpus_bleu(texts_of(translator, intact[0]), [references]).score,
            "device": str(model.device),
            "sentences": len(sources),
            "heads": len(disabled),
            "tokens": {"mean": float(np.mean(lengths)), "longest": max(lengths)},
            "distinct": len({str(rows) for rows in results["ours"]}),
            "capped": {name: found["capped"] for name, found in searches.items()},
            "seconds": {name: times.seconds for name, times in rounds.items()},
        },
    )


def trained(n: int) -> tuple[Translator, list[list[int]], list[str]]:
    """The translator, and `n` sentences new to it, as its encoder reads them, with references."""
    made = pairs({"train": PAIRS, "validation": BATCH, "test": n}, RECIPE.seed)
    texts = {split: list(zip(*rows, strict=True)) for split, rows in made.items()}
    translator = new_translator([*texts["train"][0], *texts["train"][1]], RECIPE)
    model = translator.model
    open_attention(model)
    training, validation = (
        Pairs(sources_of(translator, texts[split][0]), targets_of(translator, texts[split][1]))
        for split in ("train", "validation")
    )
    with tempfile.TemporaryDirectory() as folder:
        train(translator, training, validation, RECIPE, Path(folder) / "state.safetensors")
    model.to(running.pick_device("auto"))
    model.generation_config = search_config(model, translator.tokenizer, None, **SEARCH)
    return translator, sources_of(translator, texts["test"][0]), list(texts["test"][1])


def plainly(translator: Translator, sources: list[list[int]], heads: np.ndarray) -> list[list[int]]:
    """The tokens of each sentence, by `generate` in batches in the order of the sentences."""
    model, found = translator.model, []
    end = model.generation_config.eos_token_id
    gates = Gates(torch.from_numpy(~heads).float().to(model.device))
    for start in range(0, len(sources), BATCH):
        inputs = pad_sources(translator, sources[start : start + BATCH])
        with watching(model, gates), torch.inference_mode():
            made = model.generate(**inputs)[:, 1:].tolist()
        found += [row[: row.index(end) + 1] if end in row else row for row in made]
    return found


def stacked(
    translator: Translator, sources: list[list[int]], heads: np.ndarray
) -> list[list[list[int]]]:
    """The tokens [variant][sentence] as `translate` gives them, but by the search of `generate`."""
    variants, n = Variants(translator, heads, "zero"), len(heads)
    model, ends = translator.model, ends_of(translator.model.generation_config)
    lengths = np.repeat([len(source) for source in sources], n)
    found: list[list[list[int]]] = [[[] for _ in sources] for _ in heads]
    for items in chunks_by_length(lengths, PASS_ROWS // SEARCH["num_beams"])[::-1]:
        sentences, rows = np.divmod(items, n)
        with torch.inference_mode():
            states, inputs = variants.encode(sources, sentences, rows)
            outputs = BaseModelOutput(last_hidden_state=states)
            with watching(model, variants.rows(rows)):
                made = model.generate(**inputs, encoder_outputs=outputs)[:, 1:].tolist()
        for sentence, row, tokens in zip(sentences, rows, made, strict=True):
            end = next((at for at, token in enumerate(tokens, 1) if token in ends), len(tokens))
            found[row][sentence] = tokens[:end]
    return found


def draft_bound(translator: Translator, sources: list[list[int]], heads: np.ndarray) -> float:
    """Processor time of a greedy sweep over that of one pass that knows what to decode."""
    config = translator.model.generation_config
    config.num_beams = 1
    drafts = translate(translator, sources, np.zeros_like(heads[:1]), PASS_ROWS)[0]
    started = time.process_time()
    translate(translator, sources, heads, PASS_ROWS)
    between = time.process_time()
    forced_losses(translator, sources, drafts, heads, PASS_ROWS)
    ratio = (between - started) / (time.process_time() - between)
    config.num_beams = SEARCH["num_beams"]
    return ratio


def compared(
    translator: Translator, sources: list[list[int]], heads: np.ndarray
) -> dict[str, float]:
    """`generate` over ours in processor time, the share of capped outputs, and different ones."""
    started = time.process_time()
    ours = translate(translator, sources, heads, PASS_ROWS)
    between = time.process_time()
    theirs = stacked(translator, sources, heads)
    ratio = (time.process_time() - between) / (between - started)
    pairs = [pair for rows in zip(ours, theirs, strict=True) for pair in zip(*rows, strict=True)]
    different = sum(one != other for one, other in pairs)
    ends = ends_of(translator.model.generation_config)
    capped = float(np.mean([own[-1] not in ends for own, _ in pairs]))
    return {"ratio": ratio, "capped": capped, "different": different}


if __name__ == "__main__":
    main()
