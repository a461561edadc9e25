"""Modes of disabling compared: how well effects agree, and heads whose verdict depends on it."""

from pathlib import Path

import pandas as pd

from workflow_scripts.ablation import mode_agreement
from workflow_scripts.ablation.mode_effects import Settings, of_classifier, of_decoder
from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    table: Out,
    heads: Out,
    bootstrap: int,
    permutations: int,
    seed: int,
    points: float,
    nats: float,
    logits: list[Path] = (),
    scores: list[Path] = (),
    losses: list[Path] = (),
) -> None:
    """Write a row per two modes, and a row per head, for each measure of each model.

    `logits` and `scores` are those of classifiers' sweeps, `losses` those of a decoder. `points`
    and `nats` are the bounds within which the change of a score, or of a loss, counts as none.
    """
    settings = Settings(bootstrap, permutations, seed, points, nats)
    effects = [of_decoder(tables.read(path), settings) for path in losses]
    for path, tested in zip(logits, scores, strict=True):
        effects += of_classifier(tables.read(path), tables.read(tested), settings)
    rows = [row for each in effects for row in mode_agreement.pairs(each)]
    tables.write_csv(pd.DataFrame(rows), table)
    found = [mode_agreement.verdicts(each) for each in effects]
    tables.write_csv(pd.concat(found, ignore_index=True), heads)


if __name__ == "__main__":
    job.run(main, globals())
