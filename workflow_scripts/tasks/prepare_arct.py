"""ARCT as one table: every point with its negated and its swapped counterpart; with counts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import ARCT_COLUMNS, ARCT_SPLITS, ARCT_TEXTS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.tasks import arct_files

SUFFIXES = {"negated": "-adversarial", "swapped": "_swapped"}


def negated(
    rows: list[arct_files.Row], negations: dict[str, str], where: Path
) -> list[arct_files.Row]:
    """The points with their claims negated and their labels flipped (section 6)."""
    made = []
    for row in rows:
        if row["claim"] not in negations:
            raise InputError(
                f"{row['source']}: the claim {row['claim']!r} has no negation in {where}; add it"
            )
        made.append(_flipped(row, "negated") | {"claim": negations[row["claim"]]})
    return made


def swapped(rows: list[arct_files.Row]) -> list[arct_files.Row]:
    """The points with their warrants in the other order and their labels flipped."""
    return [
        _flipped(row, "swapped") | {"warrant0": row["warrant1"], "warrant1": row["warrant0"]}
        for row in rows
    ]


def _flipped(row: arct_files.Row, version: str) -> arct_files.Row:
    return row | {"id": row["id"] + SUFFIXES[version], "label": 1 - row["label"]}


def published(rows: list[arct_files.Row], path: Path, version: str) -> list[arct_files.Row]:
    """The counterparts in a published file, in the order of the points."""
    by_id = {row["id"]: row for row in arct_files.read_points(path, mark=arct_files.MARKS[version])}
    ordered = []
    for row in rows:
        id_ = row["id"] + SUFFIXES[version]
        if id_ not in by_id:
            raise InputError(f"{path}: no {id_}, which {row['source']} requires; add it")
        ordered.append(by_id.pop(id_))
    for row in by_id.values():
        raise InputError(f"{row['source']}: {row['id']} belongs to no point; remove the row")
    return ordered


def counterparts(
    split: str, rows: list[arct_files.Row], folder: Path, how: str
) -> tuple[dict[str, list[arct_files.Row]], list[tuple[str, int]]]:
    """The versions of a split next to the original, and counts of them.

    `how` is published or built (by the claim map). With published, the counts state how many points
    differ from the built ones, where there is a claim map. Only the training set has swapped
    points.
    """
    claims = arct_files.find_adversarial(folder, "claim_map.csv", needed=how == "built")
    built = {"negated": negated(rows, arct_files.read_claim_map(claims), claims)} if claims else {}
    files = {"negated": f"{split}-adv-negated.csv"}
    if split == "train":
        built["swapped"], files["swapped"] = swapped(rows), "train-swapped.csv"
    versions, counted = built, []
    if how == "published":
        paths = {
            version: arct_files.find_adversarial(folder, name) for version, name in files.items()
        }
        versions = {version: published(rows, path, version) for version, path in paths.items()}
        for version, points in versions.items():
            n: int | str = "no claim map"
            if version in built:
                pairs = zip(built[version], points, strict=True)
                keys = (*ARCT_TEXTS, "label")
                n = sum(any(a[key] != b[key] for key in keys) for a, b in pairs)
            counted.append((f"{version} points unlike those built", n))
    same = sum(a["claim"] == b["claim"] for a, b in zip(rows, versions["negated"], strict=True))
    counted.append(("claims that are their own negation", same))
    return versions, counted


def main(
    table: job.Out,
    source: dict[str, Any],
    adversarial: str,
    n_train: int = 0,
    seed: int = 1,
    directory: Path | None = None,
    counts: job.Out | None = None,
    splits: Sequence[str] = ARCT_SPLITS,
) -> None:
    """Write the points and maybe the counts; `directory` has generated or fetched files."""
    folder = directory or Path(source["path"])
    frames, counted = [], []
    for split, rows in arct_files.splits_in(folder, splits).items():
        indices = tables.sample(range(len(rows)), n_train if split == "train" else 0, seed)
        versions = {"original": rows}
        labels = [rows[index]["label"] for index in indices]
        counted += [(split, "points read", len(rows)), (split, "points", len(labels))]
        counted += [(split, f"label {label}", labels.count(label)) for label in (0, 1)]
        if adversarial != "none":
            # The published files have the counterparts of all points.
            made, counts_made = counterparts(split, rows, folder, adversarial)
            versions |= made
            counts_made = [*((f"{version} points", len(indices)) for version in made), *counts_made]
            counted += [(split, *each) for each in counts_made]
        for version, points in versions.items():
            sampled = pd.DataFrame([points[index] for index in indices])
            frames.append(sampled.assign(split=split, version=version))
    tables.write(pd.concat(frames, ignore_index=True)[list(ARCT_COLUMNS)], table)
    if counts is None:
        return
    planted = folder / arct_files.PLANTED  # the generator's counts of the cue that it planted
    if planted.is_file():
        for split, numbers in json.loads(planted.read_text(encoding="utf-8")).items():
            counted += [(split, f"planted {what}", n) for what, n in numbers.items()]
    rows = pd.DataFrame(counted, columns=["split", "what", "n"])
    tables.write_csv(rows.assign(task="ARCT", generated=planted.is_file()), counts)


if __name__ == "__main__":
    job.run(main, globals())
