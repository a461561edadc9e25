"""The claims' page: numbers as in the table, and links that lead somewhere."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.claims.verdicts import JUDGED, NOT_RUN, NOT_TESTED
from workflow_scripts.core.data import tables
from workflow_scripts.report import claims_page
from workflow_scripts.report.claims_page import BADGES, fragment, named, number

MEASURES = ["entropy.all", "similarity.sst2.1", "disabling.sst2.1.head.zero.dev", "x.mrpc"]
ROOT = Path(__file__).parents[2]


def of(task: str = "", run: str = "") -> dict[str, str]:
    return {"task": task, "run": run}


def test_every_verdict_has_a_badge() -> None:
    assert tuple(BADGES) == (*JUDGED, NOT_TESTED, NOT_RUN)


@pytest.mark.parametrize(
    ("view", "case", "found"),
    [
        ("measure=entropy.all", of(), "#model=m&measure=entropy.all"),
        ("measure=entropy.cls", of(), ""),
        ("measure=similarity.{task}.*", of(task="sst2"), "#model=m&measure=similarity.sst2.1"),
        ("measure=similarity.{task}.*", of(task="mnli"), ""),
        ("measure=similarity.{task}.*", of(), ""),
        (
            "view=scatter&x=entropy.all&y=disabling.{task}.*.head.zero.dev",
            of(task="sst2"),
            "#model=m&view=scatter&x=entropy.all&y=disabling.sst2.1.head.zero.dev",
        ),
        ("view=scatter&x=entropy.all&y=none", of(), ""),
        ("model=translation.{run}&measure=x", of(run="2"), "#model=translation.2&measure=x"),
        ("model=translation.{run}&measure=x", of(run="3"), ""),
    ],
)
def test_fragments_name_measures_that_there_are(
    view: str, case: dict[str, str], found: str
) -> None:
    measures = [{"model": "m", "id": id_} for id_ in MEASURES] + [
        {"model": "translation.2", "id": "x"}
    ]
    assert fragment(view, case, "m", measures) == found


def test_products_have_words() -> None:
    words = {"clark2019-fig2.svg": "Figure 2", "michel2019-fig3.html": "Figure 3 (table)"}
    words |= {"clark2019-probe-pairs.html": "Probe pairs (table)"}
    assert {path: named(Path("results/s/m/x", path)) for path in words} == words


def test_numbers_with_their_intervals() -> None:
    row = {"ours": "2.08003", "ci_low": "1.95247", "ci_high": "2.21404"}
    assert number(row) == "2.08 (1.952 to 2.214)"
    assert number(row | {"ci_low": "2.08003", "ci_high": "2.08003"}) == "2.08"
    assert number(row | {"ci_low": "", "ci_high": ""}) == "2.08"
    assert number(dict.fromkeys(row, "")) == ""


def write(folder: Path) -> str:
    """The page of one claim with two cases, in `folder`."""
    head = "id,paper,place,kind,statement,rule,unit,case,ours,ci_low,ci_high,n,n_of,about,verdict"
    rows = [
        f"one,A,Table 1,value,Says 5%.,5 %,%,{case},4,3,6,9,words,2-1,reproduced,,Later,memory,1,"
        for case in ("SST-2", "MNLI")
    ]
    claims = folder / "claims.csv"
    more = ",inside,1,5,BERT,0.251"
    rows = [rows[0] + more, rows[1] + "95% over documents" + more, rows[0] + ",inside,,5,BERT,"]
    head += ",because,later,source,seeds,interval,lies,central,paper_value,paper_model,power"
    claims.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    cases = folder / "cases.parquet"
    tables.write(pd.DataFrame([of("sst2"), of("mnli"), of("sst2")]), cases)
    published = folder / "published.csv"
    texts = ("id,shown,view", "one,a-fig1 a-none,measure=similarity.{task}.*")
    published.write_text("\n".join(texts) + "\n", encoding="utf-8")
    atlas = folder / "atlas.json"
    atlas.write_text(json.dumps({"measures": [{"id": name, "model": "m"} for name in MEASURES]}))
    page = folder / "m/tables/claims.html"
    page.parent.mkdir(parents=True)
    claims_page.main(
        claims,
        cases,
        [published],
        [folder / "m/figures/a-fig1.svg", folder / "m/tables/a-table1.html"],
        ROOT / "report/claims.rst",
        page,
        folder / "claims.tex",
        "m",
        "Claims",
        str(page),
        {"study": "s"},
        atlas,
        folder / "atlas.html",
        lambda path: f"../0123/{Path(path).name}",
    )
    return page.read_text(encoding="utf-8")


def test_a_claim_leads_to_its_figure_and_its_view(tmp_path: Path) -> None:
    page = write(tmp_path)
    assert re.findall(r'<a href="([^"]+)"', page) == [
        "../figures/a-fig1.svg",
        "../../atlas.html#model=m&amp;measure=similarity.sst2.1",
        "../figures/a-fig1.svg",
    ]
    assert 'data-report="../0123/atlas.html#model=m&amp;measure=similarity.sst2.1"' in page
    assert page.count('<span class="badge good">reproduced</span>') == 2
    assert "n = 9 words · one seed · power 0.25 · 2-1" in page
    assert "n = 9 words · one seed · interval: 95% over documents · power 0.25 · 2-1" in page
    assert "Table 1 · one · Later" in page and "as summarised from memory" in page
    assert r"4 (3 to 6)" in (tmp_path / "claims.tex").read_text(encoding="utf-8")
