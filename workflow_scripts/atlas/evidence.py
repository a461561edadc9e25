"""What the page shows of a study next to its heads: the claims it judged, and its figures."""

import base64
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.chapters import SOURCES
from workflow_scripts.core.data import tables
from workflow_scripts.core.measures.forms import named_by_run
from workflow_scripts.core.measures.shown_claims import BADGES, fragment

Row = dict[str, str]
# Columns of a table of claims that the page has as they are, and as numbers.
TEXTS = ("id", "paper", "place", "statement", "case", "rule", "paper_model", "unit", "verdict")
TEXTS += ("because", "later")
NUMBERS = ("paper_value", "ours", "ci_low", "ci_high", "rule_low", "rule_high", "reference")
NUMBERS += ("untrained_low", "untrained_high")
LIST = ("full_attention_heads.tsv", "config.json")  # of heads, in a folder of context/lists
HEAD_ALONE = re.compile(r"\d+-\d+")
SIZE = re.compile(rb'<svg[^>]* viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"')


def rows_of(path: Path) -> list[Row]:
    """The rows of a CSV file, every cell as it stands there."""
    return tables.read_csv(path, dtype=str).fillna("").to_dict("records")


def judged(
    claims: Iterable[Path],
    cases: Iterable[Path],
    published: Mapping[str, Row],
    translators: Sequence[str],
) -> dict[str, list[tuple[Row, Row]]]:
    """The rows of each model's table of claims, each with the case that it is of.

    Rows about translators, which every table has, go once to the one of `translators` (names) that
    they are of, those without a number to the first. `published` is as `claims_of` has it.
    """
    of = {path.parents[1].name: tables.read(path).to_dict("records") for path in cases}
    found: dict[str, dict[tuple[str, str], tuple[Row, Row]]] = {}
    for path in claims:
        model = path.parents[1].name
        for row, case in zip(rows_of(path), of[model], strict=True):
            name = model
            if translators and "pairs" in published[row["id"]]["needs"].split():
                run = case["run"]
                name = named_by_run("translation", run)[0] if run else translators[0]
            found.setdefault(name, {})[row["id"], row["case"]] = (row, case)
    return {model: list(rows.values()) for model, rows in found.items()}


def claims_of(
    models: Mapping[str, Iterable[tuple[Row, Row]]],
    published: Mapping[str, Row],
    figures: Sequence[Mapping[str, Any]],
    measures: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The claims of each model, a case each, with what shows them; empty cells are left out.

    `published` are the claims' own rows, by their ids: the names of the products and the view that
    show one. `measures` are those of the atlas.
    """
    found = []
    for model, rows in models.items():
        own = {each["id"].rpartition("/")[2]: each["id"] for each in figures if not each["model"]}
        own |= {
            each["id"].rpartition("/")[2]: each["id"] for each in figures if each["model"] == model
        }
        for row, case in rows:
            behind = published.get(row["id"], {"shown": "", "view": ""})
            view = behind["view"] and fragment(behind["view"], case, model, measures, figures)
            claim = {name: row[name] for name in TEXTS}
            claim |= {name: float(row[name]) for name in NUMBERS if row.get(name)}
            claim |= {
                "model": model,
                "central": int(row["central"] or 0),
                "badge": BADGES[row["verdict"]],
                "source": SOURCES[row["source"]],
                "note": _note(row) if row["ours"] else "",
                "figures": [own[name] for name in behind["shown"].split() if name in own],
                "address": view,
            }
            found.append({key: value for key, value in claim.items() if value not in ("", [])})
    return found


def _note(row: Row) -> str:
    """What stands behind our number: n, seeds, kind of interval, head."""
    parts = [f"n = {row['n']} {row['n_of']}" if row["n"] else ""]
    parts += ["one seed" if row["seeds"] == "1" else "", row["interval"]]
    about = row["about"] if row["about"] != row["unit"] else ""
    parts.append(f"head {about}" if HEAD_ALONE.fullmatch(about) else about)
    return "; ".join(filter(None, parts))


def figures_of(
    files: Iterable[Path], listed: Iterable[Mapping[str, str]], lists: Iterable[Path] = ()
) -> list[dict[str, Any]]:
    """The figures as the page holds them: each of `listed` with its caption's parts and its SVG.

    Width and height are in points; `data` is deflated, in base64, as the maps are. `lists` are the
    models' context/lists; their list of heads goes with the curves as `files`, {name: text}.
    """
    curves = {f"{folder.parents[1].name}/context-curves": folder for folder in lists}
    found = []
    for path, about in zip(files, listed, strict=True):
        svg = path.read_bytes()
        width, height = (float(size) for size in SIZE.search(svg).groups())
        data = base64.b64encode(zlib.compress(svg, 9)).decode()
        parts = caption_parts(about["caption"])
        found.append({**about, "caption": parts, "width": width, "height": height, "data": data})
        if folder := curves.get(about["id"]):
            texts = {name: (folder / name).read_text(encoding="utf-8") for name in LIST}
            found[-1]["files"] = texts
    return found


def caption_parts(text: str) -> list[tuple[str, str]]:
    """The parts of a caption, each with its markup: "emphasis", "literal" or ""."""
    from docutils import nodes
    from docutils.core import publish_doctree

    settings = {"halt_level": 2, "report_level": 5}
    settings |= {"raw_enabled": False, "file_insertion_enabled": False}
    document = publish_doctree(text, settings_overrides=settings)
    marks = {nodes.Text: "", nodes.emphasis: "emphasis", nodes.literal: "literal"}
    return [(marks[type(part)], part.astext()) for paragraph in document for part in paragraph]
