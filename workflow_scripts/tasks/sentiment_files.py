"""Files of sentences with a sentiment, in SST-2's place: labelled or rated; read strictly."""

import html
import math
import re
from pathlib import Path

from workflow_scripts.core.data.tasks import Task
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError
from workflow_scripts.tasks.glue_files import SplitRows, check_id

LABELS = {"__label__neg": 0.0, "__label__pos": 1.0}
LARGEST_RATING = 4.0
RATING = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
# Two of five rows of a file without splits are development examples.
REMAINDERS = {"train": (0, 2, 4), "dev": (1, 3)}


def read_file(
    path: Path,
    task: Task,
    format: str = "labels",
    encoding: str = "utf-8",
    min_rating: float = 0.5,
) -> SplitRows:
    """All sentences of one file of `labels` or `ratings`, of SST-2 alone.

    A rating of at least `min_rating` is positive, of at most its negative is negative; sentences
    between are left out and counted.
    """
    if task.title != "SST-2":
        raise InputError(f"{path}: one file of sentences serves sst2 only; name a directory")
    part, seen, between = SplitRows(), {}, 0
    for number, line in read_lines(path, encoding):
        where = f"{path}:{number}"
        if format == "labels":
            text, label = labelled(line, where)
        else:
            text, rating = rated(line, where, seen)
            label = float(rating > 0)
        if not text.strip():
            raise InputError(f"{where}: an empty text; remove the line")
        if format == "ratings" and abs(rating) < min_rating:
            between += 1
            continue
        part.rows.append({"source": where, "texts": [text], "label": label})
    if not part.rows:
        raise InputError(f"{path}: no sentence with a label; use the complete file")
    if format == "ratings":
        part.excluded["rows with a rating near 0"] = between
    return part


def labelled(line: str, where: str) -> tuple[str, float]:
    """A sentence after `__label__neg` or `__label__pos`, as fastText has it, and its label."""
    label, _, text = line.partition(" ")
    if label not in LABELS:
        raise InputError(f"{where}: label {label!r} is unknown; accepted: {', '.join(LABELS)}")
    return text, LABELS[label]


def rated(line: str, where: str, seen: dict[tuple[str, ...], str]) -> tuple[str, float]:
    """A sentence and its rating, of a line of id, mean rating from -4 to 4, and text, between tabs.

    As by Hutto and Gilbert (2014). Character references such as &amp; become characters.
    """
    fields = line.split("\t")
    if len(fields) != 3:
        raise InputError(f"{where}: {len(fields)} columns; write id, rating and text with tabs")
    check_id(where, (fields[0],), seen)
    rating = float(fields[1]) if RATING.fullmatch(fields[1]) else math.nan
    if not abs(rating) <= LARGEST_RATING:
        raise InputError(f"{where}: rating {fields[1]!r}; ratings are numbers from -4 to 4")
    return html.unescape(fields[2]), rating


def split_file(rows: SplitRows) -> dict[str, SplitRows]:
    """Training and development rows of a file without splits; the first has its exclusions."""
    parts = {
        split: SplitRows([row for number, row in enumerate(rows.rows) if number % 5 in chosen])
        for split, chosen in REMAINDERS.items()
    }
    parts["train"].excluded |= rows.excluded
    return parts


def without_repeats(files: dict[str, SplitRows]) -> dict[str, SplitRows]:
    """The rows of each file without texts that stand in an earlier row of any, which are counted.

    Two texts are the same that differ in case and spaces only.
    """
    seen: set[str] = set()
    kept = {}
    for name, part in files.items():
        rows = []
        for row in part.rows:
            text = " ".join(row["texts"][0].casefold().split())
            if text not in seen:
                rows.append(row)
            seen.add(text)
        repeated = {"rows with a text of an earlier row": len(part.rows) - len(rows)}
        kept[name] = SplitRows(rows, part.malformed, part.excluded | repeated)
    return kept
