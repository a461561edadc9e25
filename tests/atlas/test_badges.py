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


def badges(found: Tables) -> Iterator[Badge]:
    if ROLES in found:
        for name in ("induction", "copying"):
            where, of = {"role": name, "holds": True}, {"induction": "role.induction"}
            yield Badge(name, name.title(), "By hand.", ROLES, where, of.get(name))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpModel:
    """A decoder of 4 layers by 8 heads, four of which share keys; in one chapter, of roles."""
    chapter = SimpleNamespace(forms=forms, badges=badges)
    monkeypatch.setattr(atlas_data, "MEASURES", {"made-up": chapter})
    model = MadeUpModel(tmp_path, shape=(4, 8))
    write_card(read_card(model.card) | {"n_kv_heads": 2, "bidirectional": False}, model.card)
    return model


def roles(holding: dict[str, list[tuple[int, int]]]) -> pd.DataFrame:
    """Every head's row for each role, the last first."""
    rows: list[dict[str, Any]] = [
        {"role": role, "layer": layer, "head": head, "score": 0.5, "holds": (layer, head) in heads}
        for role, heads in holding.items()
        for layer in reversed(range(4))
        for head in reversed(range(8))
    ]
    return pd.DataFrame(rows).assign(ci_low=0.4, ci_high=0.6, n=20)


def test_heads_have_the_roles_that_the_table_states(model: MadeUpModel) -> None:
    model.write(ROLES.file, roles({"induction": [(1, 1), (0, 3)], "copying": [(1, 1)]}))
    path = written(model.folder.parent, model)
    assert check(path) == 1
    (entry,) = read(path)["models"]
    induction, copying = entry["badges"]
    assert (induction["heads"], copying["heads"]) == ([3, 9], [9])
    assert induction["title"] == "Induction"
    assert (induction["measure"], copying["measure"]) == ("role.induction", None)
    table = f"{model.name}/{ROLES.file}"
    assert induction["source"] == {"table": table, "where": {"role": "induction", "holds": True}}


def test_a_decoder_states_what_its_heads_share(model: MadeUpModel, tmp_path: Path) -> None:
    (entry,) = read(written(model.folder.parent, model))["models"]
    assert (entry["n_kv_heads"], entry["causal"]) == (2, True)
    assert "badges" not in entry
    (encoder,) = read(written(tmp_path, MadeUpModel(tmp_path, "encoder")))["models"]
    assert not {"n_kv_heads", "causal", "badges"} & encoder.keys()


def test_a_role_of_more_than_a_tenth_of_the_heads_has_no_badge(model: MadeUpModel) -> None:
    most = [(0, 0), (1, 0), (2, 0)]
    model.write(ROLES.file, roles({"induction": [*most, (3, 0)], "copying": most}))
    content = read(written(model.folder.parent, model))
    assert [badge["id"] for badge in content["models"][0]["badges"]] == ["copying"]
    (sentence,) = content["left_out"]
    assert sentence.endswith("which have no badge: Induction (4 of 32).")
    assert "role.induction" in [measure["id"] for measure in content["measures"]]


def effects(model: MadeUpModel, task: str, harmed: dict[str, list[int]]) -> None:
    """A task's table of ablation, where in each mode heads of layer 0 lose half of the score."""
    model.ablation([task], [1])
    path = model.products[-2]
    frame = pd.read_parquet(path).assign(p_corrected=0.5, effect=-0.5)
    for mode, heads in harmed.items():
        at = frame["mode"].eq(mode) & frame["layer"].eq(0) & frame["head"].isin(heads)
        frame.loc[at, "p_corrected"] = 0.01
    gained = frame["layer"].eq(0) & frame["head"].eq(7)
    frame.loc[gained, ["p_corrected", "effect"]] = 0.01, 0.5
    frame.to_parquet(path)


def test_a_badge_of_harm_names_its_task_score_and_way(tmp_path: Path) -> None:
    """A gain has none, and what every mode shows has not those of single modes, too."""
    model = MadeUpModel(tmp_path, shape=(4, 8))
    effects(model, "stsb", {"uniform": [1, 2], "zero": [2, 3]})
    effects(model, "sst2", {})
    path = written(tmp_path, model)
    check(path)
    badges = {badge["title"]: badge for badge in read(path)["models"][0]["badges"]}
    score = "STS-B: Pearson's correlation falls"
    assert {title: badge["heads"] for title, badge in badges.items()} == {
        f"{score} in all modes (uniform, zero)": [2],
        f"{score} (uniform)": [1],
        f"{score} (zero)": [3],
    }
    one = badges[f"{score} (zero)"]
    assert one["measure"] == "disabling.stsb.1.head.zero.dev"
