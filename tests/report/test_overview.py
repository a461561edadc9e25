"""The report's front page: what it sums up, and that names in it are text."""

import csv
import json
import re
from html import unescape
from pathlib import Path

from docutils.core import publish_parts
from jinja2 import Environment

from tests.default_study import MODEL
from workflow_scripts.report import overview, table_pages
from workflow_scripts.report.overview import DIFFERS, counted, size, steps

HOSTILE = "{{ 7 * 7 }} <b>{% endraw %}"
FACTS = {
    "study": HOSTILE,
    "about": "About & more.",
    "results": "results/s",
    "seeds": "1; of fine-tuning 1, 2",
    "texts": {"wiki": {"package": "gensim/x"}},
    "tasks": {"sst2": {"generate": {"train": 2}}},
    "claims": {"m": "results/s/m/tables/claims.html"},
    "atlas": "results/s/atlas.html",
    "labels": {"m": "m (4-bit)"},
    "shown": {"A et al.": {"figure": 1, "table": 2}, "Texts": {"figure": 0, "table": 1}},
}
CLAIM = {"id": "michel-prune-40", "case": HOSTILE, "ours": "-1.2", "ci_low": "-3"}
CLAIM |= {"ci_high": "0.1", "unit": "points", "interval": "", "n": "9", "n_of": "examples"}
CLAIM |= {"seeds": "1", "verdict": "carries over", "central": "1", "about": ""}
CARD = {
    "name": "m",
    "source": {"hub": "org/m", "revision": "0123456789abcdef"},
    "architecture": "bert",
    "quantised": "Q4_1",
    "n_layers": 2,
    "n_heads": 4,
    "hidden_size": 8,
    "versions": {"torch": "2.0"},
}


def test_carried_verdicts_are_shown_to_studies_of_their_model(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("id,verdict,model,central\none,carries over,m,1\n", encoding="utf-8")
    row = {"id": "one", "verdict": "inconclusive", "central": "1"}
    assert list(overview.columns({"m": [row]}, [real], {})) == ["this study: m", "real data"]
    found = overview.columns({"n": [row]}, [real], {"n": "n (4-bit)"})
    assert list(found) == ["this study: n (4-bit)"]


def test_every_table_that_is_carried_has_a_name() -> None:
    for name in overview.CARRIED:
        rows = table_pages.read_rows(Path(__file__).parents[2] / f"claims/judged/{name}.csv")
        assert {row["model"] for row in rows} == {MODEL}


def test_sizes() -> None:
    rows = (("train", "rows read", "9"), ("train", "examples", "8"), ("dev", "examples", "2"))
    task = [dict(zip(("split", "what", "n"), row, strict=True)) for row in rows]
    assert size(task) == "examples: 8 train, 2 dev"
    assert (
        size([{"what": "documents", "n": "3"}, {"what": "sentences", "n": "12"}]) == "12 sentences"
    )
    assert size([{"what": "other", "n": "3"}]) == ""


def bench(folder: Path, name: str, seconds: str, memory: str) -> None:
    path = folder / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\tmax_rss\n{seconds}\t{memory}\n", encoding="utf-8")


def test_steps_are_the_longest_first(tmp_path: Path) -> None:
    bench(tmp_path, "surface/m.entropy", "2.5", "100")
    bench(tmp_path, "syntax/m.scores", "30", "2048")
    bench(tmp_path, "syntax/m.quick", "0.2", "NA")  # too quick for Snakemake to measure
    assert [(step.name, step.seconds, step.megabytes) for step in steps(tmp_path)] == [
        ("syntax: m.scores", 30, 2048),
        ("surface: m.entropy", 2.5, 100),
        ("syntax: m.quick", 0.2, 0),
    ]


def front_page(folder: Path) -> str:
    """The page as Snakemake shows it."""
    (folder / "model.json").write_text(json.dumps(CARD), encoding="utf-8")
    layers = {"encoder": 3, "encoder-decoder": 2, "decoder": 2}
    translator = {**CARD, "name": "1", "source": {"path": "p"}, "layers": layers}
    (folder / "1.card.json").write_text(json.dumps(translator), encoding="utf-8")
    claims = folder / "m/tables/claims.csv"
    claims.parent.mkdir(parents=True)
    with claims.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, CLAIM)
        writer.writeheader()
        writer.writerows([CLAIM, CLAIM | {"id": "b", "verdict": "not tested"}])
    counts = folder / "sst2.counts.csv"
    counts.write_text("split,what,n\ntrain,examples,2\n", encoding="utf-8")
    bench(folder / "benchmarks", "surface/m.entropy", "200", "1024")
    overview.main(
        [folder / "model.json"],
        [claims],
        [counts],
        folder / "overview.rst",
        FACTS,
        str(folder / "benchmarks"),
        [folder / "1.card.json"],
    )
    template = (folder / "overview.rst").read_text(encoding="utf-8")
    environment = Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - as Snakemake's
    text = environment.from_string(template).render()
    return publish_parts(text, writer="html")["html_body"]


def test_the_front_page_states_what_was_judged_and_run(tmp_path: Path) -> None:
    page = front_page(tmp_path)
    text = " ".join(unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", page, flags=re.S)).split())
    order = [
        "About & more.",
        "The papers' claims",
        "Figures and tables",
        "What was run",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "central claims this study: m (4-bit) carries over 1 not tested 1" in text
    assert "A et al. : 1 figure, 2 tables" in text
    origin = "m (4-bit): hub org/m at 0123456789ab; weights stored as Q4_1"
    assert f"{origin}; bert, 2 layers of 4 heads, 8 wide" in text
    assert "translator 1: path p; bert, 3 layers of encoder attention, 2 layers of enc" in text
    assert "SST-2: generated by the study's own grammar; examples: 2 train" in text
    assert "1; of fine-tuning 1, 2" in text
    assert "torch 2.0" in text
    assert "{{ 7 * 7 }} &lt;b&gt;{% endraw %}" in page
    assert "3 min in 1 steps" in text and "1.0 GB (surface: m.entropy)" in text


def test_a_claim_is_counted_once() -> None:
    cases = [
        ("one", "carries over", "1"),
        ("one", "carries over", "1"),
        ("one", "not tested", "1"),
        ("two", "carries over", "2"),
        ("two", "inconclusive", "2"),
        ("three", "not tested", "3"),
        ("three", "not tested", "3"),
        ("four", "not run", "4"),
        ("five", "carries over", ""),
    ]
    names = ("id", "verdict", "central")
    counts = counted([dict(zip(names, case, strict=True)) for case in cases])
    assert counts == {"carries over": 1, DIFFERS: 1, "not tested": 1, "not run": 1}
