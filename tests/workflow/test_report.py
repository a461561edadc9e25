"""The report of the whole tiny study, as Snakemake packs it."""

import json
import re
from fnmatch import fnmatchcase

import pytest

from tests.claims.independent.check import ENCODERS, claims_in
from tests.report.snakemake_report import Report, read, toggles
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.chapters import PAPERS

# Tasks, further development sets and relations that the tiny study lacks.
ABSENT = re.compile(
    r"(disabling|importance)\.(rte|stsb|mnli|sst2)\.|disabling\..*\.dev_|syntax\.(?!all$|best$|det$)"
)


@pytest.fixture(scope="module")
def report(tiny_study: TinyStudy, tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("report") / "report.zip"
    done = tiny_study.snakemake("--report", str(path))
    assert done.returncode == 0, done.stderr
    return read(path)


def test_about_a_hundred_entries_by_category(report: Report) -> None:
    assert 60 < len(report.results) < 150
    # The menu is sorted by name.
    menu = ["Claims", *PAPERS.values(), "Texts and tasks", "Two models compared", "Whole context"]
    assert sorted(report.categories) == sorted(menu)


def test_every_figure_and_table_is_there_once(report: Report, tiny_study: TinyStudy) -> None:
    made = {
        path.relative_to(tiny_study.folder).as_posix()
        for pattern in ("**/figures/*.svg", "tables/*.csv", "*/tables/*.csv", "*/*.counts.csv")
        for path in (tiny_study.folder / "results/tiny").glob(pattern)
    }
    others = {"results/tiny/patterns/confusion.csv", "results/tiny/tiny/checkpoints/mlm_head.csv"}
    vectors = tiny_study.config["corpora"]["vectors"]  # whose counts are of no text
    made -= {f"results/tiny/corpora/{name}.counts.csv" for name in vectors}
    assert set(report.results) == made | others
    assert "results/tiny/tiny/figures/kovaleva2019-fig8.svg" not in made
    listed = [
        path
        for subcategories in report.categories.values()
        for paths in subcategories.values()
        for path in paths
    ]
    assert sorted(listed) == sorted(report.results)


def test_labels_are_words_and_toggles_are_pairs(report: Report) -> None:
    found = {}
    for category, subcategories in report.categories.items():
        for name, paths in subcategories.items():
            found[category, name] = toggles({p: report.results[p]["labels"] for p in paths})
    assert found["Niven and Kao 2019", "Beyond the paper"] == {"shown as"}
    values = {value for result in report.results.values() for value in result["labels"].values()}
    assert "MRPC" in values and "mrpc" not in values
    assert all(
        re.match(r"[A-Z\[]|made-up|trees|stories|roles|figure|table|tiny|twin|decoder", v)
        for v in values
    )


def test_a_claims_views_are_of_measures_that_the_atlas_has(tiny_study: TinyStudy) -> None:
    atlas = json.loads((tiny_study.folder / "results/tiny/atlas.json").read_text(encoding="utf-8"))
    known = [measure["id"] for measure in atlas["measures"]]
    views = [row["view"] for row in claims_in(*ENCODERS) if row["view"]]
    parts = [part.partition("=") for view in views for part in view.split("&")]
    wanted = {value.replace("{task}", "*") for key, _, value in parts if key == "measure"}
    assert len(wanted) > 30
    models = [model["name"] for model in atlas["models"]]
    shown = {value.replace("{run}", "*") for key, _, value in parts if key == "model"}
    assert all(any(fnmatchcase(one, name) for one in models) for name in shown)
    assert shown
    missing = {name for name in wanted if not any(fnmatchcase(one, name) for one in known)}
    assert {name for name in missing if not ABSENT.match(name)} == set()


def test_the_front_page_says_what_the_study_is(report: Report) -> None:
    assert "attention heads" in report.front and "tiny" in report.front
