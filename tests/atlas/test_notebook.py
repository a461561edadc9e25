"""The atlas from Python: the same numbers as atlas.json, and the page in a frame."""

import html
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.atlas.made_up import made_up
from workflow_scripts.atlas import Atlas, atlas_page
from workflow_scripts.atlas.encoding import decode
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity.meaning import modules

PAGE = '<!doctype html><head></head><p title="a &amp; b">"quoted" &lt;b&gt; </iframe> é</p>\n'


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return made_up(2, 3, n_models=2, segments=2, tokens=8)


@pytest.fixture
def results(data: dict[str, Any], tmp_path: Path) -> Path:
    (tmp_path / "atlas.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "atlas.html").write_text(PAGE, encoding="utf-8")
    return tmp_path


def test_the_page_stands_in_a_frame(results: Path) -> None:
    found: list[tuple[str, dict]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list) -> None:
            found.append((tag, dict(attrs)))

    shown = Atlas(results, height=500)._repr_html_()
    assert shown.isascii()
    reader = Reader()
    reader.feed(shown)
    ((tag, attributes),) = found
    expected = PAGE.replace("<head>", '<head><base href="about:srcdoc">')
    assert tag == "iframe" and attributes["srcdoc"] == expected and attributes["height"] == "500"
    assert attributes["sandbox"].split() == ["allow-scripts", "allow-downloads"]


def test_the_base_comes_before_the_policy_that_forbids_it(results: Path) -> None:
    atlas_page.main(results / "atlas.json", results / "atlas.html")
    shown = html.unescape(Atlas(results)._repr_html_())
    assert 0 < shown.index("<base ") < shown.index("base-uri 'none'")


def test_measures_are_a_row_for_each_head(results: Path, data: dict[str, Any]) -> None:
    frame = Atlas(results).measures
    assert len(frame) == 6 * len(data["measures"])
    assert list(frame)[:10] == [
        "model",
        "measure",
        "type",
        "layer",
        "head",
        "value",
        "low",
        "high",
        "n",
        "p",
    ]
    for measure in data["measures"]:
        rows = frame[(frame["model"] == measure["model"]) & (frame["measure"] == measure["id"])]
        assert rows["layer"].tolist() == [0, 0, 0, 1, 1, 1]
        assert rows["head"].tolist() == [0, 1, 2, 0, 1, 2]
        assert rows["type"].isna().all()
        assert set(rows["title"]) == {measure["title"]} and set(rows["unit"]) == {measure["unit"]}
        for name in ("value", "low", "high", "n", "p"):
            given = measure[name] if isinstance(measure[name], list) else [measure[name]] * 6
            expected = [np.nan if value is None else value for value in given]
            np.testing.assert_array_equal(rows[name], np.array(expected, float))


def test_heads_of_a_translator_have_a_type(tmp_path: Path) -> None:
    data = made_up(2, 2, tokens=4, n_translators=1)
    for name, text in {"atlas.json": json.dumps(data), "atlas.html": PAGE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    frame = Atlas(tmp_path).measures.query("measure == 'translation.importance'")
    kinds = ["encoder"] * 4 + ["encoder-decoder"] * 2 + ["decoder"] * 2
    assert frame["type"].tolist() == kinds
    assert frame["layer"].tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    assert frame["value"].tolist() == data["measures"][-1]["value"]


def test_a_class_is_named(results: Path, data: dict[str, Any]) -> None:
    frame = Atlas(results).measures
    (measure,) = [m for m in data["measures"] if m["scale"] == "category" and m["model"] == "tiny"]
    rows = frame[(frame["measure"] == measure["id"]) & (frame["model"] == "tiny")]
    expected = [measure["categories"][int(value)] for value in measure["value"]]
    assert rows["label"].tolist() == expected
    labelled = next(m for m in data["measures"] if m["label"])
    rows = frame[(frame["measure"] == labelled["id"]) & (frame["model"] == labelled["model"])]
    assert rows["label"].tolist() == labelled["label"]


def test_one_heads_map(results: Path, data: dict[str, Any]) -> None:
    atlas = Atlas(results)
    segment = data["segments"][0]
    whole = decode(data["maps"][segment["maps"]["sst2.1"]])
    found = atlas.map(segment["id"], "sst2.1", 1, 2)
    np.testing.assert_array_equal(found, whole[1, 2])
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=0.05)
    other = atlas.map(segment["id"], "pretrained", 0, 0, model="tiny-2")
    entry = next(s for s in data["segments"] if s["model"] == "tiny-2")
    np.testing.assert_array_equal(other, decode(data["maps"][entry["maps"]["pretrained"]])[0, 0])
    assert atlas.tokens(segment["id"]) == segment["tokens"]


def test_a_translators_map_has_a_type(tmp_path: Path) -> None:
    data = made_up(2, 2, tokens=4, n_translators=1)
    for name, text in {"atlas.json": json.dumps(data), "atlas.html": PAGE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    atlas, where = Atlas(tmp_path), ("translation-test-1", "trained", 0, 1, "translation.1")
    for kind in ("encoder", "encoder-decoder", "decoder"):
        whole = decode(data["maps"][f"translation.1.translation-test-1.trained.{kind}"])
        np.testing.assert_array_equal(atlas.map(*where, type=kind), whole[0, 1])
    with pytest.raises(InputError, match="no type None of attention; there are: encoder, enc"):
        atlas.map(*where)
    with pytest.raises(InputError, match="no type 'decoder' of attention; there are: none"):
        atlas.map("wikipedia-0", "pretrained", 0, 1, "tiny", type="decoder")


def test_the_segments(results: Path, data: dict[str, Any]) -> None:
    frame = Atlas(results).segments
    assert frame["segment"].tolist() == [segment["id"] for segment in data["segments"]]
    assert frame["n_tokens"].tolist() == [len(s["tokens"]) for s in data["segments"]]
    assert frame["states"].iloc[0] == ["pretrained", "sst2.1"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("nowhere", "pretrained", 0, 0), "no such segment of tiny; there are: wikipedia-0, wiki"),
        (("wikipedia-0", "mnli.1", 0, 0), "no state 'mnli.1'; there are pretrained, sst2.1"),
        (("wikipedia-0", "pretrained", 2, 0), "layers count from 0 to 1, heads to 2"),
        (("wikipedia-0", "pretrained", 0, -1), "layers count from 0 to 1, heads to 2"),
    ],
)
def test_what_is_not_there_is_reported(results: Path, asked: tuple, why: str) -> None:
    with pytest.raises(InputError, match=why):
        Atlas(results).map(*asked)


@pytest.mark.parametrize("missing", ["atlas.html", "atlas.json"])
def test_a_page_that_is_not_built_names_the_command(results: Path, missing: str) -> None:
    (results / missing).unlink()
    with pytest.raises(InputError, match=r"run snakemake --cores 1 \S+/atlas\.html"):
        Atlas(results)


def test_another_format_is_refused(results: Path) -> None:
    (results / "atlas.json").write_text('{"format": "attention-atlas", "version": 2}')
    with pytest.raises(InputError, match="build it again"):
        Atlas(results)


def test_no_measures(results: Path, data: dict[str, Any]) -> None:
    (results / "atlas.json").write_text(json.dumps(data | {"measures": [], "segments": []}))
    atlas = Atlas(results)
    assert len(atlas.measures) == len(atlas.segments) == 0 and "value" in atlas.measures
    assert repr(atlas).startswith("Atlas of made-up: tiny, tiny-2; 0 measures")


def test_no_rule_depends_on_the_class() -> None:
    folder = Path(__file__).parents[2] / "workflow_scripts/atlas"
    for script in ("atlas_norms.py", "atlas_maps.py", "translator_maps.py", "atlas_page.py"):
        assert not modules(folder / script) & {folder / "notebook.py", folder / "own_text.py"}


def test_a_row_for_each_head_with_a_role(results: Path, data: dict[str, Any]) -> None:
    assert Atlas(results).roles.empty
    badge = {"id": "induction", "heads": [1, 5]}
    models = [data["models"][0], data["models"][1] | {"badges": [badge]}]
    (results / "atlas.json").write_text(json.dumps(data | {"models": models}), encoding="utf-8")
    rows = [list(row) for row in Atlas(results).roles.itertuples(index=False)]
    assert rows == [["tiny-2", "induction", 0, 1], ["tiny-2", "induction", 1, 2]]
