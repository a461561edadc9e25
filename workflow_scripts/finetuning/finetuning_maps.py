"""Every head's map of one example, before and after fine-tuning (Kovaleva et al., appendix A)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.finetuning.finetuning_tables import STAGES


def choose(lengths: np.ndarray, maximum: int, seed: int) -> int:
    """A random example of at most `maximum` tokens; the shortest where there is none."""
    fitting = np.flatnonzero(lengths <= maximum)
    if not len(fitting):
        return int(lengths.argmin())
    return int(np.random.default_rng(seed).choice(fitting))


def main(
    body: Path,
    tuned: Path,
    model: Path,
    card: Path,
    maps: job.Out,
    most_tokens: int,
    task: str,
    seed: int = 1,
) -> None:
    """Write the maps of one example of the task, sampled by `seed`."""
    frames, names = [], ("layer", "head", "query", "key")
    for stage, path, card_path in zip(STAGES, (body, tuned), (model, card), strict=True):
        with Cache(path, read_card(card_path)) as cache:
            example = cache[choose(cache.lengths, most_tokens, seed)]
        axes = dict(zip(names, map(range, example.pattern.shape), strict=True))
        frame = tables.tidy(axes, weight=example.pattern.astype(np.float32))
        frames.append(frame.assign(stage=stage, example=example.id))
    tables.write(pd.concat(frames, ignore_index=True).assign(task=task), maps)


if __name__ == "__main__":
    job.run(main, globals())
