"""What the documentation states of results is what the claims tables carry."""

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

from tests.claims.independent.verdict import shown_untrained
from tests.claims.judged import CLAIMS
from workflow_scripts.claims.verdicts import (
    CARRIES,
    FAILS,
    INCONCLUSIVE,
    JUDGED,
    MISSES,
    NOT_REPRODUCED,
    REPRODUCED,
    UNTRAINED,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results() -> dict:
    return runpy.run_path(str(ROOT / "docs/results.py"))


@pytest.fixture(scope="module")
def studies(results: dict) -> dict[str, pd.DataFrame]:
    return {name: pd.read_csv(path) for name, path in results["STUDIES"].items()}


def test_the_page_is_what_the_tables_hold(results: dict, studies: dict[str, pd.DataFrame]) -> None:
    assert results["PAGE"].read_text(encoding="utf-8") == results["page"](*studies.values())


def test_the_central_claims_alone_stand_on_the_page(results: dict) -> None:
    page = results["PAGE"].read_text(encoding="utf-8")
    found = {id_: page.count(f"`{id_}`") for id_ in CLAIMS}
    assert found == {id_: int(claim.central is not None) for id_, claim in CLAIMS.items()}


def test_each_word_follows_from_where_the_interval_lies(studies: dict[str, pd.DataFrame]) -> None:
    """The rule that a row shows is the one that it is judged by."""
    words = {"inside": {CARRIES, REPRODUCED}, "outside": {FAILS, NOT_REPRODUCED}}
    # By what else is known: untrained copies, and a statement's second bound, `contrary`.
    others = {UNTRAINED: "inside", MISSES: "outside"}
    for row in pd.concat(studies.values()).to_dict("records"):
        if row["verdict"] in JUDGED and isinstance(row["lies"], str):
            because = str(row["because"]).partition(",")[0]
            if because in others:
                found = row["verdict"], row["lies"], row["kind"]
                assert found == (INCONCLUSIVE, others[because], "statement"), row["id"]
            else:
                assert row["verdict"] in words.get(row["lies"], {INCONCLUSIVE}), row["id"]


def test_what_untrained_copies_show_carries_over_nowhere(studies: dict[str, pd.DataFrame]) -> None:
    tables = [table for table in studies.values() if "untrained_low" in table]
    rows = pd.concat(tables).dropna(subset="untrained_low").query("lies == 'inside'")
    judged = rows[rows["verdict"].isin(JUDGED)].to_dict("records")
    shown = [row["id"] for row in judged if shown_untrained(row)]
    assert shown == [row["id"] for row in judged if row["because"] == UNTRAINED]
    assert 0 < len(shown) < len(judged)


def test_the_readme_states_no_other_numbers(studies: dict[str, pd.DataFrame]) -> None:
    """All are in the rows that a finding's comment names, as <!--default `clark-self`-->."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Findings$(.*?)(?=^## |\Z)", readme, re.M | re.S)
    rows = re.findall(r"^\|.*\|[^|\n]*$", section[1], re.M)[2:]  # after the heading and its line
    assert rows
    for row in rows:
        finding, _, comment = row.partition("<!--")
        ids = re.findall(r"`([a-z0-9-]+)`", comment)
        words = re.sub("`.*?`", "", comment).split()
        named = [name for name in studies if name in words]
        assert ids, f"name the claims of a finding in a comment: {row}"
        claims = pd.concat(studies[name] for name in named or studies)
        cells = claims[claims["id"].isin(ids)].astype(object)
        assert set(ids) <= set(cells["id"]), row
        known = numbers(" ".join(str(cell) for cell in cells.to_numpy().ravel()))
        carried = {round(number, digits) for number in known for digits in (0, 1, 2)}
        assert [number for number in numbers(finding) if number not in carried] == [], row


def numbers(text: str) -> list[float]:
    """The numbers of a text without sign, but for those within names such as SST-2 or 3-10."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return [float(x) for x in re.findall(r"(?<![\w.-])(?:[-+])?(\d+(?:\.\d+)?)(?![\w-])", text)]
