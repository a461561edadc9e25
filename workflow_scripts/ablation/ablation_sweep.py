"""Logits of a fine-tuned classifier with every head, layer, or all heads but one disabled."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.model.ablation_engine import batch_tokens, sweep, variants_of
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.classifiers import classifier_and_sampler
from workflow_scripts.core.model.interventions import FROM_TEXTS
from workflow_scripts.core.model.running import part_of
from workflow_scripts.core.run import job


def main(
    card: Path,
    table: Path,
    logits: job.Out,
    task: str,
    seed: int,
    sample_seed: int,
    units: dict[str, list[str]],
    examples: int,
    reference: int,
    max_tokens: int,
    pass_tokens: int,
    precision: str = "float32",
    device: str = "auto",
    part: str | None = None,
    parts: list[Path] = (),
) -> None:
    """Write the logits on every development split, with labels and examples' ids.

    At most `examples` of a split are used (0: all), the same for every fine-tuning `seed`, so that
    seeds differ by their training alone. On splits other than `dev`, which are there for
    comparison, only single heads are disabled, in the mode `zero`.

    With `part` (as `2-of-8`) only its share of the batches is swept, and every row is numbered;
    `parts` are all such tables, which are then joined, and nothing is swept.
    """
    if parts:
        tables.write(tables.join_parts(parts), logits)
        return
    model, sampler = classifier_and_sampler(card, table, max_tokens, sample_seed, device)
    limits, texts = {"pass_tokens": pass_tokens, "precision": precision, "seed": sample_seed}, []
    if any(mode in FROM_TEXTS for modes in units.values() for mode in modes):
        texts, _ = sampler.sample("train", reference)
    frames, n_rows = [], 0
    for split in sampler.table["split"].unique():
        if split == "train":
            continue
        tokens, rows = sampler.sample(split, examples)
        split_units = units if split == "dev" else {"head": ["zero"]}
        chosen = np.arange(len(tokens))
        if part is not None:
            lengths = [len(example) for example in tokens]
            chosen = part_of(lengths, batch_tokens(model, pass_tokens), part)
        swept = sweep(model, [tokens[index] for index in chosen], split_units, texts, **limits)
        example = chosen[swept.pop("example")]
        labelled = rows.loc[example, ["id", "label"]].reset_index(drop=True)
        swept = swept.join(labelled).assign(split=split)
        if part is not None:
            variant = np.arange(len(swept)) // max(1, len(chosen))
            swept[tables.ROW] = n_rows + variant * len(tokens) + example
        frames.append(swept)
        variants, _ = variants_of(split_units, n_layers(model), n_heads(model))
        n_rows += len(variants) * len(tokens)
    checkpoint_columns = {"task": task, "seed": seed}
    tables.write(pd.concat(frames, ignore_index=True).assign(**checkpoint_columns), logits)


if __name__ == "__main__":
    job.run(main, globals())
