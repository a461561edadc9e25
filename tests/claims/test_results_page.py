"""What the documentation states of results is what the claims tables carry."""

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

from tests.claims.judged import CLAIMS

ROOT = Path(__file__).parents[2]
ID = r"`([a-z0-9-]+)`"


@pytest.fixture(scope="module")
def results() -> dict:
    return runpy.run_path(str(ROOT / "docs/results.py"))


@pytest.fixture(scope="module")
def studies(results: dict) -> list[pd.DataFrame]:
    return [pd.read_csv(path) for path in results["STUDIES"].values()]


def test_the_page_is_what_the_tables_hold(results: dict, studies: list[pd.DataFrame]) -> None:
    assert results["PAGE"].read_text(encoding="utf-8") == results["page"](*studies)


def test_every_claim_stands_once_on_the_page(results: dict) -> None:
    page = results["PAGE"].read_text(encoding="utf-8")
    assert [id_ for id_ in CLAIMS if page.count(f"`{id_}`") != 1] == []


@pytest.fixture(scope="module")
def findings() -> list[str]:
    """The findings of README, each on one line."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## First findings$(.*?)^## ", text, re.M | re.S)
    assert section is not None
    found = re.findall(r"^\* (.*?)(?=^\* |\n\n)", section[1], re.M | re.S)
    assert len(found) > 3
    return [" ".join(finding.split()) for finding in found]


def test_the_readme_gives_every_verdict_on_the_claims_that_it_names(
    results: dict, studies: list[pd.DataFrame], findings: list[str]
) -> None:
    """In all cases and studies, in the words of the tables: `id`, then what `verdicts` writes."""
    by_name = dict(zip(results["STUDIES"], studies, strict=True))
    for finding in findings:
        assert re.findall(ID, finding), finding
        for id_ in re.findall(ID, finding):
            assert f"`{id_}` {results['verdicts'](id_, by_name)}" in finding


def test_verdicts_in_words(results: dict) -> None:
    def study(*rows: tuple[str, str | None, str]) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["id", "case", "verdict"])

    one = study(("a", "MRPC", "cannot tell"), ("a", "RTE", "holds here"), ("b", None, "holds here"))
    other = study(("a", "MRPC", "cannot tell"), ("a", "RTE", "cannot tell"))
    generated = study(("c", "MNLI", "not comparable"), ("c", "RTE", "not comparable"))
    assert results["verdicts"]("c", {"default": generated}) == "default: not comparable (2 cases)"
    both = {"default": one, "real": other, "none": study(("a", None, "not measured"))}
    words = "default: cannot tell (MRPC), holds here (RTE); real: cannot tell (MRPC, RTE)"
    assert results["verdicts"]("a", both) == words
    assert results["verdicts"]("b", both) == "default: holds here"


def test_the_readme_states_no_other_numbers(
    studies: list[pd.DataFrame], findings: list[str]
) -> None:
    """Every number of a finding, but its heads, is in the rows of the claims that it names."""
    claims = pd.concat(studies).astype(object).set_index("id")
    for finding in findings:
        ids = re.findall(ID, finding)
        cells = " ".join(str(cell) for cell in claims.loc[ids].to_numpy().ravel())
        carried = {round(number, 1) for number in numbers(cells)}
        carried |= {float(round(number)) for number in numbers(cells)}
        carried |= {round(number, 2) for number in numbers(cells)}
        stated = numbers(finding.partition(" Verdicts: ")[0])
        assert [number for number in stated if number not in carried] == [], finding


def numbers(text: str) -> list[float]:
    """The numbers of a text without sign, but for those within names such as SST-2 or 3-10."""
    return [float(x) for x in re.findall(r"(?<![\w.-])(?:[-+])?(\d+(?:\.\d+)?)(?![\w-])", text)]
