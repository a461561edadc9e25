"""The numbers of a measure once more, from the table that its source names, in plain loops."""

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
SCHEMA = Draft202012Validator(
    json.loads((ROOT / "docs/atlas.schema.json").read_text(encoding="utf-8"))
)
# A page's data.
DATA = re.compile(r'<script type="application/json" id="atlas">(.*?)</script>', re.S)
CLASSES = ["vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous"]
Head = tuple[int | str, ...]  # layer and head, after its type where there are several
Rows = dict[Head, dict[str, Any]]


def read(path: Path) -> Any:
    """The content of an atlas.json; NaN and Infinity, which JSON has not, are errors."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{path}: {constant}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def check(path: Path, tables: Path | None = None) -> int:
    """Hold an atlas.json against its schema and each measure against its table.

    The tables are below `tables`, or next to it, as in results/<study>/. Returns how many measures
    there are.
    """
    atlas, folder = read(path), tables or path.parent
    SCHEMA.validate(atlas)
    heads = {model["name"]: heads_of(model) for model in atlas["models"]}
    for measure in atlas["measures"]:
        relations = relations_of(atlas, measure["model"])
        expected = expected_columns(measure, heads[measure["model"]], folder, relations)
        for column, numbers in expected.items():
            about = f"{measure['model']} {measure['id']} {column}"
            assert as_list(measure[column], len(measure["value"])) == numbers, about
        given = {name for name in ("low", "high", "p", "label", "n") if measure[name] is not None}
        assert given <= expected.keys(), measure["id"]
    for model in atlas["models"]:
        for badge in model.get("badges", []):
            assert badge["heads"] == badge_heads(atlas, model, badge["source"], folder), badge["id"]
            assert 0 < len(badge["heads"]) <= len(heads[model["name"]]) / 10, badge["id"]
    check_pages_expectations(atlas)
    return len(atlas["measures"])


def badge_heads(
    atlas: dict[str, Any], model: dict[str, Any], source: dict[str, Any], folder: Path
) -> list[int]:
    """The heads with a row in the table, or those that measures show to be harmful to disable."""
    if "table" in source:
        rows = chosen(source, folder).to_dict("records")
        return sorted({row["layer"] * model["n_heads"] + row["head"] for row in rows})

    def each(names: list[str], head: int) -> bool:
        found = [of for of in atlas["measures"] if of["model"] == model["name"]]
        found = [of for of in found if of["id"] in names]
        signs = [1 if of["harm"] == "high" else -1 for of in found]
        return len(found) == len(names) and all(
            of["p"][head] < 0.05 and sign * of["value"][head] > 0
            for of, sign in zip(found, signs, strict=True)
        )

    unless = source.get("unless", [])
    return [
        head
        for head in range(model["n_layers"] * model["n_heads"])
        if each(source["harm"], head) and not (unless and each(unless, head))
    ]


def check_pages_expectations(atlas: dict[str, Any]) -> None:
    """What the schema cannot express: names that are defined, lists of one length, ids once."""
    papers = {paper["name"] for paper in atlas["papers"]}
    models = {model["name"]: model for model in atlas["models"]}
    keys = [(measure["model"], measure["id"]) for measure in atlas["measures"]]
    titles = [(measure["model"], measure["title"]) for measure in atlas["measures"]]
    assert len(set(keys)) == len(keys)
    assert len(set(titles)) == len(titles)
    for measure in atlas["measures"]:
        model = models[measure["model"]]
        size = model["n_layers"] * model["n_heads"]
        assert measure["paper"] in papers
        where = measure["source"].get("where", {})
        if measure["task"] and where.get("seed"):
            assert measure["state"] == f"{measure['task']}.{where['seed']}", measure["id"]
        assert measure["state"] in [state["name"] for state in model["states"]]
        for name in ("value", "low", "high", "n", "p", "label", "null"):
            assert not isinstance(measure[name], list) or len(measure[name]) == size
        assert (measure["categories"] is not None) == (measure["scale"] == "category")
        assert (measure["low"] is None) == (measure["high"] is None)
        assert (measure["null"] is None) == (measure["null_title"] is None), measure["id"]
    for model in models.values():
        assert model["n_heads"] % model.get("n_kv_heads", 1) == 0
        found = [badge["id"] for badge in model.get("badges", [])]
        assert len(set(found)) == len(found)
        for badge in model.get("badges", []):
            assert badge["measure"] is None or (model["name"], badge["measure"]) in keys
            assert all(0 <= head < len(heads_of(model)) for head in badge["heads"])
    for segment in atlas["segments"]:
        check_maps(atlas, segment, models[segment["model"]])


def check_maps(atlas: dict[str, Any], segment: dict[str, Any], model: dict[str, Any]) -> None:
    """A segment's maps have the shapes of its tokens and of the model's layers and heads."""
    source, target = segment["tokens"], segment.get("target", {}).get("tokens")
    assert len(source) == len(segment["word"])
    assert {*segment["maps"]} <= {state["name"] for state in model["states"]}
    ends = {None: (source, source), "encoder": (source, source), "decoder": (target, target)}
    ends["encoder-decoder"] = (target, source)
    layers = {each["name"]: each["n_layers"] for each in model.get("types", [])}
    for maps in segment["maps"].values():
        assert isinstance(maps, dict) == ("types" in model) == (target is not None)
        for kind, name in (maps if isinstance(maps, dict) else {None: maps}).items():
            queries, keys = (len(tokens) for tokens in ends[kind])
            n_layers = layers.get(kind, model["n_layers"])
            assert atlas["maps"][name]["shape"] == [n_layers, model["n_heads"], queries, keys]


def bound(values: np.ndarray, largest: float) -> np.ndarray:
    """How far a decoded value is from the true one at most.

    The root of value / largest is off by half a step, and d(largest r^2) = 2 largest r dr.
    """
    half = 0.5 / 255
    return largest * (2 * np.sqrt(values / largest) * half + half**2)


def heads_of(model: dict[str, Any]) -> list[Head]:
    """The heads of a model in the order of its lists."""
    if "types" not in model:
        return [
            (layer, head) for layer in range(model["n_layers"]) for head in range(model["n_heads"])
        ]
    assert model["n_layers"] == sum(each["n_layers"] for each in model["types"])
    return [
        (each["name"], layer, head)
        for each in model["types"]
        for layer in range(each["n_layers"])
        for head in range(model["n_heads"])
    ]


def expected_columns(
    measure: dict[str, Any], heads: list[Head], folder: Path, relations: set[str]
) -> dict[str, list[Any]]:
    """Value, null and the columns that go with them, by head, from the source's table."""
    source = measure["source"]
    if measure["id"] == "syntax.best":
        return best_relation(measure, heads, folder, relations)
    if "derived" in source:
        return majority(measure, heads, folder)
    rows = rows_of(source, folder, len(heads[0]))
    factor, columns = source["factor"], {}
    cells = [rows[key][source["column"]] if key in rows else math.nan for key in heads]
    if measure["categories"]:
        columns["value"] = [measure["categories"].index(cell) for cell in cells]
    else:
        columns["value"] = [rounded(factor * cell) for cell in cells]
    for name in ("low", "high", "p"):
        if name in source:
            scale = 1 if name == "p" else factor
            columns[name] = [
                rounded(scale * rows[key][source[name]]) if key in rows else None for key in heads
            ]
    if "label" in source:
        labels = [rows[key][source["label"]] if key in rows else None for key in heads]
        columns["label"] = [label and " ".join(label.split("_")) for label in labels]
    if "n" in source:
        names = [source["n"]] if isinstance(source["n"], str) else source["n"]
        columns["n"] = [
            sum(rows[key][name] for name in names) if key in rows else None for key in heads
        ]
    if "null" in source:
        columns["null"] = null_of(source["null"], heads, folder)
    elif measure["null"] is not None:
        columns["null"] = [100 if measure["id"] == "entropy.relative" else 0] * len(heads)
    return columns


def null_of(source: dict[str, Any], heads: list[Head], folder: Path) -> list[Any]:
    """The null of each head."""
    frame = table(source, folder)
    if "layer" in frame:
        rows = rows_of(source, folder)
        return [rounded(source["factor"] * rows[key][source["column"]]) for key in heads]
    assert len(frame) == 1
    return [rounded(source["factor"] * frame[source["column"]].iloc[0])] * len(heads)


def relations_of(atlas: dict[str, Any], model: str) -> set[str]:
    """The relations that have a measure of their own, without all words together."""
    sources = [each["source"] for each in atlas["measures"] if each["model"] == model]
    named = {each["where"].get("relation", "all") for each in sources}
    return named - {"all"}


def best_relation(
    measure: dict[str, Any], heads: list[Head], folder: Path, relations: set[str]
) -> dict[str, list[Any]]:
    """syntax.best: over `relations` and both directions."""
    scores = pd.read_parquet(folder / measure["source"]["table"])
    offsets = pd.read_parquet(folder / measure["source"]["table"].replace("scores", "offsets"))
    base: dict[str, float] = {}
    for row in offsets.to_dict("records"):
        if row["accuracy"] > base.get(row["relation"], -1):
            base[row["relation"]] = row["accuracy"]
    best: Rows = {}
    for row in scores.to_dict("records"):
        key = row["layer"], row["head"]
        if row["relation"] not in relations:
            continue
        margin = row["accuracy"] - base[row["relation"]]
        if key not in best or margin > best[key]["margin"]:
            best[key] = row | {"margin": margin, "base": base[row["relation"]]}
    ends = {"low": "ci_low", "high": "ci_high"}
    return {
        "value": [rounded(100 * best[key]["margin"]) for key in heads],
        "label": [best[key]["relation"] for key in heads],
        "n": [best[key]["n"] for key in heads],
        "null": [0] * len(heads),
        **{
            name: [rounded(100 * (best[key][column] - best[key]["base"])) for key in heads]
            for name, column in ends.items()
        },
    }


def majority(measure: dict[str, Any], heads: list[Head], folder: Path) -> dict[str, list[Any]]:
    """The class with the largest mean share."""
    frame = table(measure["source"], folder)
    columns: dict[str, list[Any]] = {"value": [], "label": [], "n": []}
    for layer, head in heads:
        rows = frame[(frame["layer"] == layer) & (frame["head"] == head)]
        shares = [round(rows.loc[rows["class"] == name, "share"].mean(), 9) for name in CLASSES]
        columns["value"].append(shares.index(max(shares)))
        columns["label"].append(f"{100 * max(shares):.0f}%")
        columns["n"].append(rows.loc[rows["class"] == CLASSES[0], "n"].sum())
    return columns


def table(source: dict[str, Any], folder: Path) -> pd.DataFrame:
    """The rows that a source names, at least one."""
    frame = chosen(source, folder)
    assert len(frame), source
    return frame


def chosen(source: dict[str, Any], folder: Path) -> pd.DataFrame:
    """The rows that a source names."""
    path = folder / source["table"]
    frame = read_table(path, path.stat().st_mtime_ns)
    for column, value in source["where"].items():
        frame = frame[frame[column] == value]
    return frame


@cache
def read_table(path: Path, written: int) -> pd.DataFrame:
    """A table, read once in each of its versions, with heads from 0."""
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    if not {"layer", "layer_from_0"} <= set(frame):
        return frame
    frame = frame.drop(columns=["layer", "head"])
    return frame.rename(columns={"layer_from_0": "layer", "head_from_0": "head"})


def rows_of(source: dict[str, Any], folder: Path, depth: int = 2) -> Rows:
    """The row of each head; of several the largest, where the source states it."""
    rows: Rows = {}
    for row in table(source, folder).to_dict("records"):
        key = tuple(row[name] for name in ("type", "layer", "head")[-depth:])
        if source.get("pick") == "largest":
            cell = row[source["column"]]
            if math.isnan(cell) or (key in rows and rows[key][source["column"]] >= cell):
                continue
        else:
            assert key not in rows, source
        rows[key] = row
    return rows


def rounded(number: float) -> float | None:
    """With six significant digits."""
    return None if math.isnan(number) else float(f"{number:.5e}")


def as_list(column: Any, size: int) -> list[Any]:
    """One entry for each head, where all have the same."""
    return column if isinstance(column, list) else [column] * size


def tables_shown_and_not(atlas: Path, folder: Path) -> tuple[set[str], set[str], set[str]]:
    """A study's tables with columns layer and head, by their path below `folder`.

    Those of a kind that measures are read from, those of LEFT_OUT, and those of neither kind. One
    of nothing is none: a task of single sentences shares no words between two.
    """
    paths = [path for path in folder.rglob("*") if path.suffix in {".csv", ".parquet"}]
    frames = {path: read_table(path, path.stat().st_mtime_ns) for path in paths}
    names = {
        path.relative_to(folder).as_posix()
        for path, frame in frames.items()
        if {"layer", "head"} <= set(frame.columns) and frame.get("n", pd.Series([1])).any()
    }
    sources = {each["source"]["table"] for each in read(atlas)["measures"]}
    kinds = {kind(name) for name in sources}
    shown = {name for name in names if kind(name) in kinds}
    patterns = tables_left_out()
    explained = {name for name in names if any(re.fullmatch(each, name) for each in patterns)}
    return shown, explained, names - shown - explained


def kind(table: str) -> str:
    """The folder and the last word of a table's name: that of all tasks and seeds."""
    return f"{Path(table).parent}/{Path(table).stem.split('.')[-1]}"


# Of single texts or examples, of pairs of heads, of orders of pruning, or in other tables too.
LEFT_OUT = (
    "battery/random_repeats.parquet",
    "ablation/<task>.finetuned.<seed>.logits.parquet",
    "ablation/<task>.finetuned.<seed>.covariance.parquet",
    "ablation/<task>.finetuned.<seed>.attribution.parquet",
    "ablation/next_token.attribution.parquet",
    "ablation/pairs.parquet",
    "arguments/bert.<seed>.heads.parquet",
    "patterns/predictions.parquet",
    "clusters/linguistic.parquet",
    "context/gates.parquet",
    "coreference/examples.parquet",
    "finetuning/<task>.maps.parquet",
    "frames/drawings.parquet",
    "patterns/typical.parquet",
    "mixing/scores.parquet",
    "mixing/released.parquet",
    "pruning/<task>.finetuned.<seed>.order.parquet",
    "pruning/<task>.finetuned.<seed>.epochs.parquet",
    "surface/drawings.parquet",
    "syntax/examples.parquet",
    "syntax/released.parquet",
    "translation/<run>.sweep.parquet",
    "translation/<run>.types.parquet",
    "translation/<run>.order.parquet",
    "translation/<run>.epochs.parquet",
    "translation/points.parquet",
    "tables/michel2019-translation-table2.csv",
    "tables/michel2019-table3.csv",
    "untrained/<seed>/<chapter>/<table>",
)


def tables_left_out() -> list[str]:
    """Patterns of the tables with rows for heads that are not in the atlas."""
    return ["([^/]+/)?" + re.sub(r"<\w+>", "[^/]+", name.replace(".", r"\.")) for name in LEFT_OUT]
