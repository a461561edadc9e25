"""What the documentation states of results is what the claims tables carry."""

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
ID = r"`([a-z0-9-]+)`"


@pytest.fixture(scope="module")
def results() -> dict:
    return runpy.run_path(str(ROOT / "docs/results.py"))


@pytest.fixture(scope="module")
def studies(results: dict) -> dict[str, pd.DataFrame]:
    return {name: pd.read_csv(path) for name, path in results["STUDIES"].items()}


def run(page: str) -> list[str]:
    """The lines of a page without those of claims that no study has run yet."""
    return [
        line for line in page.splitlines() if not re.search(r"` (\| \*not yet run\* )+\|$", line)
    ]


def test_the_page_has_every_claim_once_as_the_tables_hold_it(
    results: dict, studies: dict[str, pd.DataFrame]
) -> None:
    page = results["page"](*studies.values())
    assert run(page) == run(results["PAGE"].read_text(encoding="utf-8"))
    claims = [*results["CLAIMS"], *results["OF_DECODER"]]
    assert [claim.id for claim in claims if page.count(f"`{claim.id}`") != 1] == []


def test_a_claim_that_is_younger_than_a_table_is_not_yet_run(
    results: dict, studies: dict[str, pd.DataFrame]
) -> None:
    claim, default = results["CLAIMS"][0], studies["default"]
    for younger in (replace(claim, id="new"), replace(claim, since="2100-01-01")):
        assert results["_row"](younger, default).endswith("| *not yet run* |")
    assert "not yet run" not in results["_row"](claim, default)


def test_the_readme_states_the_verdicts_and_numbers_of_the_claims_that_it_names(
    results: dict, studies: dict[str, pd.DataFrame]
) -> None:
    """Verdicts in the words of the tables; numbers, but for heads', as the rows have them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## First findings$(.*?)^## ", text, re.M | re.S)
    findings = re.findall(r"^\* (.*?)(?=^\* |\n\n)", section[1], re.M | re.S)
    assert len(findings) > 3
    claims = pd.concat(studies.values()).astype(object).set_index("id")
    for finding in (" ".join(finding.split()) for finding in findings):
        ids = re.findall(ID, finding)
        for id_ in ids:
            assert f"`{id_}` {results['verdicts'](id_, studies)}" in finding
        cells = " ".join(str(cell) for cell in claims.loc[ids].to_numpy().ravel())
        carried = {round(number, digits) for number in numbers(cells) for digits in (0, 1, 2)}
        stated = numbers(finding.partition(" Verdicts: ")[0])
        assert [number for number in stated if number not in carried] == [], finding


def numbers(text: str) -> list[float]:
    """The numbers of a text without sign, but for those within names such as SST-2 or 3-10."""
    return [float(x) for x in re.findall(r"(?<![\w.-])(?:[-+])?(\d+(?:\.\d+)?)(?![\w-])", text)]
