"""The front page: findings, grids of heads, and what the study read and its steps took."""

import contextlib
import importlib.metadata
import json
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.measures.findings import BADGES, VERDICTLESS, chosen
from workflow_scripts.core.plots.colours import BLACK, HEADS, WHITE
from workflow_scripts.core.run import job
from workflow_scripts.report import table_pages
from workflow_scripts.report.entries import titles_of_tasks


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 99.5:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.1f} h"


# The count that states how large a text or task is, the first that its counts have.
SIZES = ("segments analysed", "examples", "points", "sentences", "documents", "sentence pairs")
PACKAGES = ("snakemake", "pandas", "scipy", "scikit-learn", "matplotlib")
LONGEST = 3  # steps that are named
# The claims tables of real data that the repository carries, by the file's name.
CARRIED = {
    "real": ("real data", "studies/real.yaml, one of its three seeds"),
    "multi30k": ("Multi30k", "studies/multi30k.yaml, one of its two seeds"),
}
DIFFERS = "differs from case to case"
WORDS = (*BADGES, DIFFERS)
KIND = "behaviour.stratum"  # the atlas's measure


def counted(rows: Iterable[Mapping[str, str]]) -> Counter[str]:
    """How many central claims of a table, with a row for each case, have which of WORDS.

    A claim that is tested in some cases is counted by these alone.
    """
    by_id: dict[str, set[str]] = {}
    for row in rows:
        if row["central"]:
            by_id.setdefault(row["id"], set()).add(row["verdict"])
    found = (words - set(VERDICTLESS) or words for words in by_id.values())
    return Counter(words.pop() if len(words) == 1 else DIFFERS for words in found)


def ink(colour: str) -> str:
    """Black or white, whichever is read on the colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return BLACK if 0.299 * red + 0.587 * green + 0.114 * blue > 100 else WHITE


def grids(atlas: Mapping[str, Any]) -> list[SimpleNamespace]:
    """A grid for each model of the atlas whose heads have kinds.

    Its `kinds` have a name, a mark (the first letter of a word that no other kind begins with), a
    colour and that of the mark, a number of heads, and a note on data that are not real; its
    `layers` have for each head the number of its kind, or None.
    """
    n_heads = {model["name"]: model["n_heads"] for model in atlas["models"]}
    found = []
    for measure in atlas["measures"]:
        if measure["id"] != KIND:
            continue
        values, names, n = measure["value"], measure["categories"], n_heads[measure["model"]]
        notes = measure.get("category_notes") or [None] * len(names)
        kinds = []
        for i, (name, note) in enumerate(zip(names, notes, strict=True)):
            taken = {other[0] for other in names if other != name}
            mark = next((word[0] for word in name.split() if word[0] not in taken), name[0])
            look = {"colour": HEADS[name].colour, "ink": ink(HEADS[name].colour)}
            kinds.append({"name": name, "mark": mark, "n": values.count(i), "note": note} | look)
        layers = [values[start : start + n] for start in range(0, len(values), n)]
        kinds = [SimpleNamespace(**kind) for kind in kinds]
        about = {"model": measure["model"], "about": measure["about"]}
        found.append(SimpleNamespace(kinds=kinds, layers=layers, **about))
    return found


def columns(
    claims: Mapping[str, Iterable[Mapping[str, str]]],
    carried: Iterable[Path],
    labels: Mapping[str, str],
) -> dict[str, Counter[str]]:
    """The counted claims of each of the study's models, then of what is carried of the same."""
    found = {
        f"this study: {labels.get(model, model)}": counted(rows) for model, rows in claims.items()
    }
    for path in carried:
        rows = table_pages.read_rows(path)
        if {row["model"] for row in rows} & set(claims):
            found[CARRIED[path.stem][0]] = counted(rows)
    return found


def figure_of(name: str, model: str, facts: Mapping[str, Any]) -> str:
    """The path of a figure of a model, or of the study; empty where there is none."""
    results = Path(facts["results"])
    for folder in (results / model / "figures", results / "figures"):
        if (path := (folder / f"{name}.svg").as_posix()) in facts["figures"]:
            return path
    return ""


def size(rows: Sequence[Mapping[str, str]]) -> str:
    """How many examples the counts of a text or task end with, of each split; empty if unknown."""
    for what in SIZES:
        found = [row for row in rows if row["what"] == what]
        if found and found[0].get("split"):
            return f"{what}: " + ", ".join(f"{row['n']} {row['split']}" for row in found)
        if found:
            return f"{found[0]['n']} {what}"
    return ""


def source(entry: Mapping[str, Any]) -> str:
    """Where a model, text or task comes from, in words."""
    if "generate" in entry:
        return "generated by the study's own grammar"
    if "parse" in entry:
        return f"{entry['parse']}, parsed by spaCy (silver)"
    for kind in ("hub", "package", "sdist", "path", "nltk"):
        if entry.get(kind):
            pin = entry.get("revision") or entry.get("version")
            at = f" at {pin[:12]}" if pin else ""
            return f"{kind} {entry[kind]}{at}"
    return ""


def steps(folder: Path) -> list[SimpleNamespace]:
    """All steps with a benchmark below `folder`, the longest first: name, seconds, megabytes.

    Of a step that was too quick to be measured both are 0.
    """
    found = []
    for path in sorted(folder.rglob("*.tsv")):
        measured = pd.read_csv(path, sep="\t").fillna(0)[["s", "max_rss"]]
        for seconds, megabytes in measured.to_numpy():
            name = f"{path.parent.name}: {path.stem}"
            found.append(SimpleNamespace(name=name, seconds=seconds, megabytes=megabytes))
    return sorted(found, key=lambda step: -step.seconds)


def versions(cards: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Versions of Python, of what ran the models, and of the packages behind the tables."""
    found = {"python": platform.python_version()}
    for card in cards:
        found |= card["versions"]
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # as Snakemake in a job
            found[name] = importlib.metadata.version(name)
    return found


def render(**content: Any) -> str:
    """The front page as reStructuredText that Snakemake reads, all of it raw HTML."""
    html = table_pages.template("overview.html").render(
        **content,
        links=(table_pages.SOURCES / "links.js").read_text(encoding="utf-8"),
        style=(table_pages.SOURCES / "overview.css").read_text(encoding="utf-8"),
    )
    indented = "\n".join(f"   {line}" for line in html.splitlines() if line.strip())
    # Snakemake reads the file as a template: what looks like a part of one in a name is text here.
    return re.sub(r"\{([{%#])", r"{{ '{\1' }}", f".. raw:: html\n\n{indented}\n\n")


def main(
    cards: list[Path],
    claims: list[Path],
    counts: list[Path],
    overview: job.Out,
    facts: dict,
    benchmarks: str,
    translators: list[Path] = (),
    printed: list[Path] = (),
    carried: list[Path] = (),
    atlas: Path | None = None,
) -> None:
    """Write the page; `facts` is what the config states about the study, and what the report shows.

    `cards` are those of its models, `translators` those of the translators that it trained or has;
    `printed` the tables that findings may rest on, `carried` the repository's own claims tables.
    """
    models = [read_card(path) for path in cards]
    judged = {path.parents[1].name: table_pages.read_rows(path) for path in claims}
    ran = steps(Path(benchmarks))
    found = {}
    for name in (model["name"] for model in models):
        tables = {
            path.stem: table_pages.read_rows(path)
            for path in printed
            if path.parents[1].name == name
        }
        found[name] = [
            (finding, figure_of(finding.figure, name, facts))
            for finding in chosen(judged.get(name, []), tables, facts["origins"])
        ]
    text = render(
        facts=facts,
        models=models,
        translators=[read_card(path) for path in translators],
        findings={name: of_model for name, of_model in found.items() if of_model},
        grids=grids(json.loads(atlas.read_text(encoding="utf-8"))) if atlas else [],
        columns=columns(judged, carried, facts["labels"]) if judged else {},
        verdicts=WORDS,
        carried=CARRIED.values(),
        sizes={
            path.name.removesuffix(".counts.csv"): size(table_pages.read_rows(path))
            for path in counts
        },
        words=titles_of_tasks(),
        source=source,
        label=lambda model: facts["labels"].get(model, model),
        versions=versions(models),
        total=duration(sum(step.seconds for step in ran)),
        n_steps=len(ran),
        longest=[f"{step.name} ({duration(step.seconds)})" for step in ran[:LONGEST]],
        largest=max(ran, key=lambda step: step.megabytes, default=None),
    )
    overview.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
