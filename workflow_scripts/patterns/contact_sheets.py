"""Contact sheets of maps to annotate by eye, with a CSV file to fill in (Kovaleva et al., 4.1)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.patterns.annotated_maps import COLUMNS, digest_of, write_maps

ROWS, PER_ROW = 5, 6
CELL = 1.6  # inches


def draw_sheet(
    maps: Sequence[np.ndarray], ends: Sequence[int], titles: Sequence[str], path: Path
) -> None:
    """Draw maps as the classifier sees them; a tick marks the end of the first segment, `ends`."""
    with figures.style():
        figure, cells = figures.new(PER_ROW * CELL, ROWS * (CELL + 0.15), PER_ROW, ROWS)
        for axes in cells[len(maps) :]:
            axes.axis("off")
        for axes, pattern, end, title in zip(cells, maps, ends, titles, strict=False):
            scale = {"vmin": 0, "vmax": 1, "interpolation": "nearest"}
            axes.imshow(np.sqrt(pattern / pattern.max()), cmap=colours.IN_GREY, **scale)
            axes.set_xticks([end], [""])
            axes.set_yticks([end], [""])
            axes.set_title(title, fontsize=7, pad=2)
        figures.save_png(figure, path, dpi=110)


def main(
    attention: Path, card: Path, sheets: Out, model: str, corpus: str, n_maps: int, seed: int = 1
) -> None:
    """Write sheet-1.png, ..., annotation.csv to fill in, and maps.h5, to be kept next to it."""
    sheets.mkdir()
    rows, maps, ends, about = [], [], [], []
    with Cache(attention, read_card(card)) as cache:
        shape = (len(cache), cache.n_layers, cache.n_heads)
        total = int(np.prod(shape))
        sampled = np.random.default_rng(seed).choice(total, min(n_maps, total), replace=False)
        for index, layer, head in np.transpose(np.unravel_index(sampled, shape)).tolist():
            example = cache[index]
            maps.append(example.pattern[layer, head].astype(np.float32))
            about.append((example.word < 0, example.segment))
            ends.append(int(np.flatnonzero(example.segment == 0)[-1]))
            rows.append((model, corpus, example.id, layer, head, "", digest_of(example.ids)))
    size = ROWS * PER_ROW
    titles = [str(line) for line in range(2, len(maps) + 2)]  # lines of the CSV file
    for number, start in enumerate(job.progress(range(0, len(maps), size), desc="sheets"), 1):
        part = slice(start, start + size)
        draw_sheet(maps[part], ends[part], titles[part], sheets / f"sheet-{number}.png")
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    tables.write_csv(frame, sheets / "annotation.csv")
    stored = [(pattern, *tokens) for pattern, tokens in zip(maps, about, strict=True)]
    write_maps(sheets / "maps.h5", [(*row[:5], row[6]) for row in rows], stored)


if __name__ == "__main__":
    job.run(main, globals())
