"""Contact sheets of maps to annotate by eye, with a CSV file to fill in (Kovaleva et al., 4.1)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.annotated_maps import COLUMNS, digest_of

ROWS, PER_ROW = 5, 6
CELL = 1.6  # inches


def draw_sheet(
    maps: Sequence[np.ndarray], ends: Sequence[int], titles: Sequence[str], path: Path
) -> None:
    """Draw maps [query, key], as the classifier sees them: roots, as shares of the largest.

    A tick stands at the last token of the first segment, `ends`.
    """
    with figures.style():
        figure, axes = figures.new(PER_ROW * CELL, ROWS * (CELL + 0.15), PER_ROW, ROWS)
        for place in axes[len(maps) :]:
            place.axis("off")
        for place, pattern, end, title in zip(axes, maps, ends, titles, strict=False):
            place.imshow(
                np.sqrt(pattern / pattern.max()),
                cmap="Greys",
                vmin=0,
                vmax=1,
                interpolation="nearest",
            )
            place.set_xticks([end], [""])
            place.set_yticks([end], [""])
            place.set_title(title, fontsize=7, pad=2)
        figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def sample(cache: Cache, n: int, seed: int) -> list[tuple[int, int, int]]:
    """`n` different maps, drawn by `seed`: example, layer, head."""
    shape = (len(cache), cache.n_layers, cache.n_heads)
    total = int(np.prod(shape))
    chosen = np.random.default_rng(seed).choice(total, size=min(n, total), replace=False)
    return [tuple(map(int, np.unravel_index(one, shape))) for one in chosen]


def main(attention: Path, sheets: Out, model: str, corpus: str, n_maps: int, seed: int = 1) -> None:
    """Write sheet-1.png, ... and annotation.csv, whose column class is yours to fill in."""
    sheets.mkdir()
    rows, drawn = [], []
    with Cache(attention) as cache:
        for index, layer, head in sample(cache, n_maps, seed):
            example = cache[index]
            end = int(np.flatnonzero(example.segment == 0)[-1])
            drawn.append((example.pattern[layer, head].astype(np.float32), end))
            place = (model, corpus, example.id, layer, head)
            rows.append((*place, "", digest_of(example.ids)))
    size = ROWS * PER_ROW
    for number, start in enumerate(job.progress(range(0, len(drawn), size), desc="sheets"), 1):
        part = drawn[start : start + size]
        titles = [str(start + place + 2) for place in range(len(part))]  # lines of the CSV file
        maps, ends = zip(*part, strict=True)
        draw_sheet(maps, ends, titles, sheets / f"sheet-{number}.png")
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame.to_csv(sheets / "annotation.csv", index=False)


if __name__ == "__main__":
    job.run(main, globals())
