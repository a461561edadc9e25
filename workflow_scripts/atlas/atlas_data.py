"""Everything the study found out about every head, as one tidy JSON file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

PAPERS = {
    "clark2019": "Clark et al. 2019",
    "kovaleva2019": "Kovaleva et al. 2019",
    "michel2019": "Michel et al. 2019",
    "niven2019": "Niven and Kao 2019",
    "beyond": "Beyond the papers",
}


def model_entry(card: Mapping[str, Any]) -> dict[str, Any]:
    """What the atlas says of a model."""
    kind, name = next(iter(card["source"].items()))
    about = {"name": card["name"], "title": card["name"], "architecture": card["architecture"]}
    about |= {"n_layers": card["n_layers"], "n_heads": card["n_heads"]}
    return about | {
        "source": f"{kind} {name}",
        "states": [{"name": "pretrained", "title": "pretrained"}],
    }


def main(cards: list[Path], products: list[Path], atlas: Out, study: str, seed: int = 1) -> None:
    """Write the data of the atlas; `products` are tables, `cards` the models' cards."""
    content = {
        "format": "attention-atlas",
        "version": 1,
        "study": {"name": study, "seed": seed, "about": []},
        "models": [model_entry(read_card(path)) for path in cards],
        "papers": [{"name": name, "title": title} for name, title in PAPERS.items()],
        "measures": [],
        "distances": {},
        "segments": [],
        "maps": {},
        "left_out": [],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    atlas.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
