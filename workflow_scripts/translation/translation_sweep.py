"""Translations and losses with every head disabled, and with all heads of a sublayer but one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import Sublayer
from workflow_scripts.core.model import running, translators
from workflow_scripts.core.model.ablation_engine import all_but_one, one_head
from workflow_scripts.core.model.attention import n_heads, sublayers
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.translation_metrics import COLUMNS, statistics
from workflow_scripts.translation.decoding import ends_of, forced_losses, translate

UNITS = {"head": one_head, "all-but-one": all_but_one}
SENTENCES = 32  # whose translations are scored at a time
VARIANT = ["unit", "mode", "type", "layer", "head"]


def variants_of(
    order: Sequence[Sublayer], heads: int, modes: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """The variants of a sweep, named (unit, mode, type, layer, head), and their disabled heads.

    The latter are bool [variant, sublayer, head]. The first is the model itself. In all-but-one
    `head` is the one that is left in its sublayer.
    """
    names, masks = [("none", "", "", -1, -1)], [np.zeros((1, len(order), heads), bool)]
    cells = [(each.type, each.layer, head) for each in order for head in range(heads)]
    for unit, masks_of in UNITS.items():
        for mode in modes:
            names += [(unit, mode, *cell) for cell in cells]
            masks.append(masks_of(len(order), heads))
    return pd.DataFrame(names, columns=VARIANT), np.concatenate(masks)


def measured(
    translator: translators.Translator,
    pairs: pd.DataFrame,
    disabled: np.ndarray,
    pass_rows: int,
    mode: str = "zero",
) -> dict[str, np.ndarray]:
    """What variants make of `pairs`, by the name of its column: each [variant, sentence].

    `disabled` are the heads without which each variant runs, bool [variant, sublayer, head].
    """
    sources = translators.sources_of(translator, pairs["source"].tolist())
    targets = translators.targets_of(translator, pairs["target"].tolist())
    found = translate(translator, sources, disabled, pass_rows, mode)
    texts = np.array([translators.texts_of(translator, row) for row in found], dtype=object)
    counted = counted_of(texts, pairs["target"].tolist())
    ends = ends_of(translator.model.generation_config)
    columns = {
        "length": np.array([[len(tokens) for tokens in row] for row in found]),
        "capped": np.array([[tokens[-1] not in ends for tokens in row] for row in found]),
        "loss": forced_losses(translator, sources, targets, disabled, pass_rows, mode),
        "tokens": np.broadcast_to([len(target) for target in targets], texts.shape),
        "translation": texts,
    }
    return columns | dict(zip(COLUMNS, np.moveaxis(counted, 2, 0), strict=True))


def counted_of(translations: np.ndarray, references: Sequence[str]) -> np.ndarray:
    """The statistics of `translations` [variant, sentence]: int32 [variant, sentence, statistic].

    Some sentences of all variants at a time, since many variants translate a sentence alike, and
    sacrebleu keeps every n-gram that it counts.
    """
    counted = np.empty((*translations.shape, len(COLUMNS)), np.int32)
    for start in range(0, len(references), SENTENCES):
        some = slice(start, start + SENTENCES)
        texts = translations[:, some].ravel().tolist()
        found = statistics(texts, list(references[some]) * len(translations))
        counted[:, some] = found.reshape(len(translations), -1, len(COLUMNS))
    return counted


def sweep_of(
    translator: translators.Translator, pairs: pd.DataFrame, modes: Sequence[str], pass_rows: int
) -> pd.DataFrame:
    """One row per variant and pair: what `variants_of` names, and the columns of `measured`."""
    model = translator.model
    variants, disabled = variants_of(sublayers(model), n_heads(model), modes)
    run_as = variants["mode"].replace("", modes[0])  # the model itself, too
    frames = []
    for mode in modes:
        chosen = np.flatnonzero(run_as == mode)
        columns = measured(translator, pairs, disabled[chosen], pass_rows, mode)
        frames.append(tables.tidy({"variant": chosen, "id": pairs["id"].to_numpy()}, **columns))
    frame = pd.concat(frames, ignore_index=True)
    return variants.loc[frame.pop("variant")].reset_index(drop=True).join(frame)


def main(
    card: Path,
    pairs: Path,
    sweep: job.Out,
    run: str,
    generation: dict[str, Any],
    sentences: int,
    modes: list[str],
    pass_rows: int,
    sample_seed: int,
    device: str = "auto",
) -> None:
    """Write what every variant makes of validation, test and domains.

    At most `sentences` of each (0: all) are translated, sampled by `sample_seed`: the same for
    every `run`.
    """
    translator = translators.translator_of(read_card(card), generation, running.pick_device(device))
    frame = tables.read(pairs)
    frames = []
    for split in frame["split"].unique():
        if split == "train":
            continue
        chosen = tables.sample_rows(frame[frame["split"] == split], sentences, sample_seed)
        swept = sweep_of(translator, chosen, modes, pass_rows)
        frames.append(swept.assign(split=split))
    tables.write(pd.concat(frames, ignore_index=True).assign(run=run), sweep)


if __name__ == "__main__":
    job.run(main, globals())
