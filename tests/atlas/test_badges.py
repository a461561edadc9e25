"""Roles of heads: which heads have one, in the words of the chapter that declares it."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from tests.atlas.made_up_tables import MadeUpModel, written
from tests.atlas.plainly import check, read
from workflow_scripts.atlas import atlas_data
from workflow_scripts.core.data.cards import read_card, write_card
from workflow_scripts.core.measures.forms import Badge, Form, Study, Table, Tables

ROLES = Table("made-up/roles.parquet", "score", keys=("role",), n="n")


def forms(found: Tables, study: Study) -> Iterator[Form]:
    if ROLES in found:
        words = "Attention to the token after the first copy."
        group = {"paper": "beyond", "group": "Roles"}
        yield ROLES.form("role.induction", "Induction", words, {"role": "induction"}, **group)


def badges(found: Tables, study: Study) -> Iterator[Badge]:
    if ROLES in found:
        for name, mark in {"induction": "I", "copying": "C"}.items():
            where, of = {"role": name, "holds": True}, {"induction": "role.induction"}
            yield Badge(name, mark, name.title(), "By hand.", ROLES, where, of.get(name))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpModel:
    """A decoder of 2 layers by 4 heads, two of which share keys; in one chapter, of roles."""
    chapter = SimpleNamespace(forms=forms, badges=badges)
    monkeypatch.setattr(atlas_data, "MEASURES", {"made-up": chapter})
    model = MadeUpModel(tmp_path, shape=(2, 4))
    write_card(read_card(model.card) | {"n_kv_heads": 2, "bidirectional": False}, model.card)
    return model


def roles(holding: dict[str, list[tuple[int, int]]]) -> pd.DataFrame:
    """Every head's row for each role, the last first."""
    rows: list[dict[str, Any]] = [
        {"role": role, "layer": layer, "head": head, "score": 0.5, "holds": (layer, head) in heads}
        for role, heads in holding.items()
        for layer in (1, 0)
        for head in (3, 2, 1, 0)
    ]
    return pd.DataFrame(rows).assign(ci_low=0.4, ci_high=0.6, n=20)


def test_heads_have_the_roles_that_the_table_states(model: MadeUpModel) -> None:
    model.write(ROLES.file, roles({"induction": [(1, 1), (0, 3)], "copying": [(1, 1)]}))
    path = written(model.folder.parent, model)
    assert check(path) == 1
    (entry,) = read(path)["models"]
    induction, copying = entry["badges"]
    assert (induction["heads"], copying["heads"]) == ([3, 5], [5])
    assert (induction["mark"], induction["title"]) == ("I", "Induction")
    assert (induction["measure"], copying["measure"]) == ("role.induction", None)
    table = f"{model.name}/{ROLES.file}"
    assert induction["source"] == {"table": table, "where": {"role": "induction", "holds": True}}


def test_a_decoder_states_what_its_heads_share(model: MadeUpModel, tmp_path: Path) -> None:
    (entry,) = read(written(model.folder.parent, model))["models"]
    assert (entry["n_kv_heads"], entry["causal"]) == (2, True)
    assert "badges" not in entry
    (encoder,) = read(written(tmp_path, MadeUpModel(tmp_path, "encoder")))["models"]
    assert not {"n_kv_heads", "causal", "badges"} & encoder.keys()
