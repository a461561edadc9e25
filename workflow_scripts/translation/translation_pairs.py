"""The sentence pairs of the study, by split: from line-aligned files or generated."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.text_files import CSV_QUOTED, read_lines
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.translation import generated_pairs

Pair = tuple[str, str]


def read_pairs(source: Path, target: Path) -> Iterator[Pair]:
    """The sentence and its translation in each line, without the spaces around them.

    Raises InputError, with file and line, where one file ends before the other and for an empty
    side, and as `read_lines` does.
    """
    number = 0
    sides = ((line.strip() for _, line in read_lines(path)) for path in (source, target))
    for number, (one, other) in enumerate(zip_longest(*sides), start=1):
        if one is None or other is None:
            longer, shorter = (source, target) if other is None else (target, source)
            raise InputError(
                f"{longer}:{number}: {shorter} ends before this line, which therefore has no "
                "translation; give two files whose lines are each other's translations"
            )
        if not (one and other):
            path, against = (target, source) if one else (source, target)
            raise InputError(
                f"{path}:{number}: an empty sentence; remove line {number} here and in {against}"
            )
        yield one, other
    if not number:
        raise InputError(f"{source}: no line; give the whole file")


SPLITS = ("train", "validation", "test")
TRAINING = SPLITS[:2]  # what training reads: it does not depend on what is tested
OF_FIVE = ("train", "validation", "test", "validation", "test")  # the splits of one file's lines
FEWEST = 20  # pairs of one file


def read_one_file(path: Path) -> dict[str, list[Pair]]:
    """The pairs of each split from the lines of one file. Raises InputError for another line."""
    splits: dict[str, list[Pair]] = {split: [] for split in SPLITS}
    lines = [(number, line) for number, line in read_lines(path) if line.strip()]
    for at, (number, line) in enumerate(lines):
        pair = tuple(side.strip() for side in line.split("\t"))
        if len(pair) != 2 or not all(pair):
            raise InputError(
                f"{path}:{number}: not a sentence, a tab and its translation; write both"
            )
        splits[OF_FIVE[at % len(OF_FIVE)]].append(pair)
    if len(lines) < FEWEST:
        raise InputError(f"{path}: {len(lines)} sentence pairs; give at least {FEWEST}")
    return splits


def read(source: Mapping[str, Any], seed: int) -> dict[str, list[Pair]]:
    """The pairs of each split and domain, from where the config states.

    Raises InputError as `read_pairs` and `read_one_file` do.
    """
    files = {split: source[split] for split in SPLITS if split in source}
    generated = source.get("generate", {})
    sizes = {split: generated[split] for split in SPLITS if split in generated}
    made = generated_pairs.pairs(sizes, seed)
    if "path" in source:
        made = read_one_file(Path(source["path"]))
    return made | {
        split: list(read_pairs(Path(pair["source"]), Path(pair["target"])))
        for split, pair in (files | dict(source.get("domains", {}))).items()
    }


def to_frame(splits: Mapping[str, Sequence[Pair]]) -> pd.DataFrame:
    """The table of pairs: split, id (train-1 is the first line of train), source, target."""
    rows = [
        (split, f"{split}-{number}", *pair)
        for split, pairs in splits.items()
        for number, pair in enumerate(pairs, start=1)
    ]
    return pd.DataFrame(rows, columns=["split", "id", "source", "target"])


def count(splits: Mapping[str, Sequence[Pair]]) -> list[tuple[str, str, int]]:
    """Rows of the table of counts (split, what, n); none of what is counted is left out.

    Texts are the same that differ in case and spaces only.
    """
    rows, sources, pairs = [], {}, {}
    for split, given in splits.items():
        known = [(_plain(source), _plain(target)) for source, target in given]
        distinct = set(known)
        quoted = sum(any(map(CSV_QUOTED.fullmatch, pair)) for pair in given)
        rows += [
            (split, "sentence pairs", len(given)),
            (split, "words of the sources", sum(len(source.split()) for source, _ in given)),
            (split, "words of the targets", sum(len(target.split()) for _, target in given)),
            (split, "pairs of an earlier line", len(given) - len(distinct)),
            (split, "targets that are their sources", sum(one == other for one, other in known)),
            *([(split, "pairs quoted as CSV, read as they are", quoted)] if quoted else []),
        ]
        for earlier in pairs:
            rows += [
                (split, f"pairs also in {earlier}", sum(pair in pairs[earlier] for pair in known)),
                (split, f"sources also in {earlier}", sum(x in sources[earlier] for x, _ in known)),
            ]
        pairs[split], sources[split] = distinct, {source for source, _ in distinct}
    return rows


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def main(
    pairs: job.Out,
    source: dict[str, Any],
    seed: int,
    counts: job.Out | None = None,
    training: bool = False,
) -> None:
    """Write the pairs of every split, or of those that training reads, and maybe counts of all."""
    splits = read(source, seed)
    if training:
        splits = {split: given for split, given in splits.items() if split in TRAINING}
    tables.write(to_frame(splits), pairs)
    if counts is None:
        return
    frame = pd.DataFrame(count(splits), columns=["split", "what", "n"])
    generated = frame["split"].isin(SPLITS if "generate" in source else ())
    tables.write_csv(frame.assign(generated=generated), counts)


if __name__ == "__main__":
    job.run(main, globals())
