"""The verdicts of the code at hand on the tables of a study, made up or finished."""

import json
from pathlib import Path

import pandas as pd

from tests.atlas.made_up_tables import declared
from tests.claims.independent.check import ENCODERS, FOLDER
from workflow_scripts.claims import claim_verdicts
from workflow_scripts.claims.products import is_one_of
from workflow_scripts.claims.published import read

CLAIMS = {
    claim.id: claim
    for name in (*ENCODERS, "decoders")
    for claim in read(FOLDER / f"{name}.csv", claim_verdicts.MEASURES)
}
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
    files: tuple[str, ...] = ENCODERS,
    translator: bool = False,
) -> pd.DataFrame:
    """The claims table of a study whose tables are below `results`, written to `folder`.

    With a `size` the model passes for the paper's of that name. Not the study's own claims.csv,
    which may be older than this code.
    """
    known = declared()
    others = [card.parents[1] for card in results.glob("*/attention/model.json")]
    others.remove(results / model)
    products = [
        path
        for path in sorted(results.rglob("*"))
        if path.suffix in {".csv", ".parquet"}
        and not any(map(path.is_relative_to, others))
        and "untrained" not in path.parts
        and (path.parent.name == "tables" or is_one_of(path.as_posix(), known))
    ]
    card = json.loads((results / model / "attention/model.json").read_text(encoding="utf-8"))
    path = folder / "model.json"
    path.write_text(json.dumps(card | SIZES.get(size, {})), encoding="utf-8")
    table = folder / "claims.csv"
    published = [FOLDER / f"{name}.csv" for name in files]
    cases = folder / "cases"
    claim_verdicts.main(published, path, products, table, cases, data or {}, translator)
    return pd.read_csv(table, keep_default_na=False, na_values=[""])
