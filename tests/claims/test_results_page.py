"""What the documentation states of results is what the claims tables carry."""

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "claims/published.csv"


@pytest.fixture(scope="module")
def results() -> dict:
    return runpy.run_path(str(ROOT / "docs/results.py"))


@pytest.fixture(scope="module")
def studies(results: dict) -> list[pd.DataFrame]:
    return [pd.read_csv(path) for path in results["STUDIES"].values()]


def test_the_page_is_what_the_tables_hold(results: dict, studies: list[pd.DataFrame]) -> None:
    assert results["PAGE"].read_text(encoding="utf-8") == results["page"](*studies)


def test_every_claim_stands_once_on_the_page(results: dict, studies: list[pd.DataFrame]) -> None:
    published = set(pd.read_csv(PUBLISHED)["id"])
    for study in studies:
        assert set(study["id"]) == published
    assert results["unplaced"](studies[0]) == []


def test_the_readme_states_no_other_numbers(studies: list[pd.DataFrame]) -> None:
    """Every number of a finding, but its heads, is in the rows of the claims that it names."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## First findings$(.*?)^## ", text, re.M | re.S)
    assert section is not None
    findings = re.findall(r"^\* (.*?)(?=^\* |\n\n)", section[1], re.M | re.S)
    assert findings
    claims = pd.concat(studies).astype(object).set_index("id")
    for finding in findings:
        ids = re.findall(r"`([a-z0-9-]+)`", finding)
        assert ids, finding
        cells = " ".join(str(cell) for cell in claims.loc[ids].to_numpy().ravel())
        carried = {round(number, 1) for number in numbers(cells)}
        carried |= {float(round(number)) for number in numbers(cells)}
        stated = numbers(re.sub(r"`[^`]*`", "", finding))
        assert [number for number in stated if number not in carried] == [], finding


def numbers(text: str) -> list[float]:
    """The numbers of a text without sign, but for those within names such as SST-2 or 3-10."""
    return [float(x) for x in re.findall(r"(?<![\w.-])(?:[-+])?(\d+(?:\.\d+)?)(?![\w-])", text)]
