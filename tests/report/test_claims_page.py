"""The claims' page: numbers as in the table, and links that lead somewhere."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.claims.independent.check import ENCODERS, claims_in
from workflow_scripts.claims.verdicts import VERDICTS
from workflow_scripts.core.data import tables
from workflow_scripts.report import claims_page
from workflow_scripts.report.claims_page import BADGES, Linker, fragment, named, number

MEASURES = ["entropy.all", "similarity.sst2.1", "disabling.sst2.1.head.zero.dev", "x.mrpc"]
ROOT = Path(__file__).parents[2]


def of(task: str = "", run: str = "") -> dict[str, str]:
    return {"task": task, "run": run}


def test_every_verdict_has_a_badge() -> None:
    assert tuple(BADGES) == VERDICTS


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
    measures = {"m": MEASURES, "translation.2": ["x"]}
    assert fragment(view, case, "m", measures) == found


def test_views_of_claims_on_fine_tuned_models_show_these() -> None:
    """The atlas lists what it has of pretrained models first."""
    kinds, ends = ("kinds", "patterns", "links", "shared"), {"patterns": "heterogeneous"}
    ends |= {"links": "verb-subject", "shared": "copy"}
    known = [
        f"{kind}.stsb.{stage}.{end}"
        for stage in ("pretrained", "1")
        for kind in kinds
        for end in ([ends[kind]] if kind in ends else ["cls", "sep"])
    ]
    known += ["similarity.stsb.1", "patterns.pretrained"]
    views = {row["view"] for row in claims_in(*ENCODERS) if "task" in row["needs"].split()}
    found = {view: fragment(view, of(task="stsb"), "m", {"m": known}) for view in views if view}
    assert [view for view, address in found.items() if "pretrained" in address] == []
    shown = {view.split("=")[1].split(".")[0] for view, address in found.items() if address}
    assert shown == {*kinds, "similarity"}


def test_links_in_the_report_and_next_to_the_page() -> None:
    linker = Linker(Path("results/s/m/tables/claims.html"), lambda path: f"../id/{Path(path).name}")
    link = linker.link("Figure 1", Path("results/s/figures/a-fig1.svg"), "", "A, Figure 1")
    assert link.relative == "../../figures/a-fig1.svg"
    assert link.report == "../id/a-fig1.svg"
    assert link.path == "results/s/figures/a-fig1.svg"
    alone = Linker(linker.page).link("Figure 1", Path("results/s/figures/a-fig1.svg"), "", "")
    assert alone.report == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("clark2019-fig2.svg", "Figure 2"),
        ("clark2019-table1.html", "Table 1"),
        ("michel2019-fig3.html", "Figure 3 (table)"),
        ("clark2019-probe-pairs.html", "Probe pairs (table)"),
        ("clark2019-position.svg", "Position (figure)"),
    ],
)
def test_products_have_words(path: str, words: str) -> None:
    assert named(Path("results/s/m/x", path)) == words


def test_numbers_with_their_intervals() -> None:
    row = {"ours": "2.08003", "ci_low": "1.95247", "ci_high": "2.21404"}
    assert number(row) == "2.08 (1.952 to 2.214)"
    assert number(row | {"ci_low": "2.08003", "ci_high": "2.08003"}) == "2.08"
    assert number(row | {"ci_low": "", "ci_high": ""}) == "2.08"
    assert number(dict.fromkeys(row, "")) == ""


def test_whether_a_rule_is_met_is_stated_where_there_is_no_verdict() -> None:
    names = ("statement", "place", "id", "later", "source", "n", "n_of", "interval", "seeds")
    row = dict.fromkeys((*names, "unit", "about", "case", "rule", "paper", "ours"), "")
    row |= dict.fromkeys(("ci_low", "ci_high"), "")
    found = {}
    for verdict in VERDICTS:
        row |= {"verdict": verdict, "because": "Why.", "rule_met": "no"}
        (cell,) = [cell for cell in claims_page.cells(row, ()) if cell.badge]
        found[verdict] = cell.note
    assert {found[name] for name in VERDICTS if name[:4] != "not " or name[4:] == "reproduced"} == {
        "Why."
    }
    assert found["not comparable"] == "Why. · rule met: no"
    row |= {"verdict": "not comparable", "rule_met": "undecided"}
    for ends, words in (("", "no interval"), ("3", "interval on both sides")):
        (cell,) = [cell for cell in claims_page.cells(row | {"ci_low": ends}, ()) if cell.badge]
        assert cell.note == f"Why. · rule met: undecided ({words})"


def write(folder: Path, links: bool) -> str:
    """The page of one claim with two cases, in `folder`; the claims' file has links or not."""
    head = "id,paper,place,kind,statement,rule,unit,case,ours,ci_low,ci_high,n,n_of,about,verdict"
    rows = [
        f"one,A,Table 1,value,Says 5%.,5 %,%,{case},4,3,6,9,words,2-1,reproduced,,Later,memory,1,"
        for case in ("SST-2", "MNLI")
    ]
    claims = folder / "claims.csv"
    rows = [rows[0] + ",yes", rows[1] + "95% over documents,yes"]
    head += ",because,later,source,seeds,interval,rule_met"
    claims.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    cases = folder / "cases.parquet"
    tables.write(pd.DataFrame([of("sst2"), of("mnli")]), cases)
    published = folder / "published.csv"
    texts = (
        ("id,shown,view", "one,a-fig1 a-none,measure=similarity.{task}.*")
        if links
        else ("id", "one")
    )
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
    page = write(tmp_path, links=True)
    assert re.findall(r'<a href="([^"]+)"', page) == [
        "../figures/a-fig1.svg",
        "../../atlas.html#model=m&amp;measure=similarity.sst2.1",
        "../figures/a-fig1.svg",
    ]
    assert 'data-report="../0123/atlas.html#model=m&amp;measure=similarity.sst2.1"' in page
    assert page.count('<span class="badge good">reproduced</span>') == 2
    assert "n = 9 words · one seed · 2-1" in page
    assert "n = 9 words · one seed · interval: 95% over documents · 2-1" in page
    assert "note: Later · source: memory" in page
    assert r"4 (3 to 6)" in (tmp_path / "claims.tex").read_text(encoding="utf-8")


def test_files_of_claims_without_links_are_shown_without(tmp_path: Path) -> None:
    page = write(tmp_path, links=False)
    assert "<a href" not in page
    assert "Says 5%." in page
