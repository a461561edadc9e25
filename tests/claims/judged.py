"""The workflow's own verdicts on a finished study, anew by the code at hand."""

import json
from pathlib import Path

import pandas as pd

from workflow_scripts.chapters import collect
from workflow_scripts.claims import claim_verdicts

CLAIMS = Path(__file__).parents[2] / "claims/published.csv"
# A model's card where it is to pass for the paper's.
SIZES = {
    "BERT-base": {"architecture": "bert", "n_layers": 12, "n_heads": 12, "hidden_size": 768},
    "BERT-large": {"architecture": "bert", "n_layers": 24, "n_heads": 16, "hidden_size": 1024},
}


def judged(
    results: Path,
    model: str,
    folder: Path,
    size: str = "",
    data: dict[str, str] | None = None,
    translator: bool = False,
) -> pd.DataFrame:
    """The claims table of a study whose tables are below `results`, written to `folder`.

    With a `size` the model passes for the paper's of that name. Not the study's own claims.csv,
    which may be older than this code.
    """
    declared = [table for chapter in collect("measures").values() for table in chapter.TABLES]
    products = [
        path
        for path in sorted(results.rglob("*"))
        if path.suffix in {".csv", ".parquet"}
        and (path.parent.name == "tables" or any(map(at(path), declared)))
    ]
    card = json.loads((results / model / "attention/model.json").read_text(encoding="utf-8"))
    path = folder / "model.json"
    path.write_text(json.dumps(card | SIZES.get(size, {})), encoding="utf-8")
    table = folder / "claims.csv"
    claim_verdicts.main(
        [CLAIMS], path, products, table, folder / "cases", data or {}, translator=translator
    )
    return pd.read_csv(table, keep_default_na=False, na_values=[""])


def at(path: Path):
    """Whether a declared table stands at the path."""
    return lambda table: table.at("/".join(path.parts[-2:])) is not None
