"""Made-up files in the official formats of the sources, and the table that has their SHA-256."""

import csv
import gzip
import hashlib
import json
import random
import re
import shutil
from itertools import islice
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from workflow_scripts.core.data.trees import ROOT as NO_HEAD
from workflow_scripts.corpora.frames_corpus import generated
from workflow_scripts.corpora.mention_files import Text
from workflow_scripts.corpora.stories import stories
from workflow_scripts.tasks import arct_files, generate_arct
from workflow_scripts.tasks.generate_arct import PlantedCue
from workflow_scripts.tasks.prepare_arct import negated, swapped
from workflow_scripts.translation.generated_pairs import pairs

POINTS = {"train": 24, "dev": 8, "test": 8}
N_DOCUMENTS, N_FRAMES = 8, 40
PAIRS = {"train": 40, "val": 6, "test_2016_flickr": 6}
VECTORS = {"glove-wiki-gigaword-100": 4, "glove-wiki-gigaword-300": 6}
N_RUNS = 3


def write(mirror: Path, table: Path) -> None:
    """Write the files of the papers' sources to a mirror, and their SHA-256 into `table`.

    The table loses the files of these sources that are not made up: most documents of GUM.
    """
    with table.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row["source"], []).append(row["file"])
    write_gum(mirror / "gum", names["gum"])
    write_framenet(mirror / "framenet")
    write_arct(mirror / "arct")
    write_runs(mirror / "arct-runs", names["arct-runs"], mirror / "arct")
    write_multi30k(mirror / "multi30k")
    kept = [found for row in rows if (found := _checked(row, mirror))]
    with table.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


def _checked(row: dict[str, str], mirror: Path) -> dict[str, str] | None:
    """The row with SHA-256 and size of the made-up file; None where its source lacks the file."""
    path = mirror / row["source"] / row["file"]
    if not (mirror / row["source"]).is_dir():
        return row
    if not path.is_file():
        return None
    content = path.read_bytes()
    return row | {"sha256": hashlib.sha256(content).hexdigest(), "bytes": str(len(content))}


def write_gum(folder: Path, names: list[str]) -> None:
    """Write stories as GUM's documents: trees in Stanford Dependencies, and coreference."""
    trees = [name for name in names if name.startswith("dep/")][:N_DOCUMENTS]
    for name, text in zip(trees, stories(N_DOCUMENTS, seed=1), strict=True):
        document = Path(name).stem
        _write(folder / name, "".join(_sentences(text)))
        cells = [_cell(text, word) for word in range(len(text.words))]
        lines = [f"{k}\t{text.words[k]}\t{cell}" for k, cell in enumerate(cells)]
        lines = [f"# begin document {document}", *lines, "# end document"]
        _write(folder / f"coref/conll/{document}.conll", "\n".join(lines) + "\n")


def _sentences(text: Text) -> list[str]:
    """The sentences in CoNLL-X, each with GUM's comment."""
    written = []
    for start, end in zip(text.starts, [*text.starts[1:], len(text.words)], strict=True):
        lines = ["# s_type=decl"]
        for k in range(start, end):
            head = 0 if text.heads[k] == NO_HEAD else text.heads[k] - start + 1
            word, tag = text.words[k], text.tags[k]
            fields = [k - start + 1, word, word, tag, tag, "_", head, text.relations[k], "_", "_"]
            lines.append("\t".join(map(str, fields)))
        written.append("\n".join(lines) + "\n\n")
    return written


def _cell(text: Text, word: int) -> str:
    """The brackets of the mentions that begin or end at a word."""
    cell = ""
    for span in sorted(text.spans, key=lambda span: -span.end):
        if span.start == word:
            cell += f"({span.chain}" + ")" * (span.end == word + 1)
    for span in sorted(text.spans, key=lambda span: -span.start):
        if span.end == word + 1 and span.start != word:
            cell += f"{span.chain})"
    return cell or "_"


def write_framenet(folder: Path) -> None:
    """Write generated sentences as the lexical units of a zipped FrameNet."""
    units: dict[str, list[str]] = {}
    for number, sentence in enumerate(generated(N_FRAMES, seed=1)):
        (target,) = sentence.targets
        elements = "".join(_label(name, span) for name, span in sentence.elements)
        units.setdefault(sentence.frame, []).append(
            f'<sentence ID="{number}"><text>{escape(sentence.text)}</text>'
            f'<annotationSet status="MANUAL"><layer name="Target">{_label("Target", target)}'
            f'</layer><layer name="FE">{elements}</layer></annotationSet></sentence>'
        )
    core = '<FE type="Core" name="Agent"/><FE type="Core" name="Theme"/>'
    for number, (frame, sentences) in enumerate(units.items(), 1):
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<lexUnit xmlns="http://framenet.icsi.berkeley.edu" ID="{number}" '
            f'frame={quoteattr(frame)} name="u.v">\n<header><frame>{core}</frame></header>\n'
            f'<subCorpus name="a">{"".join(sentences)}</subCorpus>\n</lexUnit>\n'
        )
        _write(folder / f"framenet_v17/lu/lu{number}.xml", text)
    shutil.make_archive(str(folder / "framenet_v17"), "zip", folder, "framenet_v17")
    shutil.rmtree(folder / "framenet_v17")


def _label(name: str, span: tuple[int, int]) -> str:
    return f'<label name="{name}" start="{span[0]}" end="{span[1] - 1}"/>'


def write_arct(folder: Path) -> None:
    """Write the official files, and the adversarial set as Niven and Kao published it."""
    adversarial = folder / arct_files.ADVERSARIAL
    adversarial.mkdir(parents=True)
    for split, n in POINTS.items():
        rng = random.Random(f"papers-{split}")
        generate_arct.write_split(folder, split, n, PlantedCue(0.8, 0.75), rng)
    with (adversarial / "claim_map.csv").open("w", encoding="utf-8", newline="") as file:
        claims = generate_arct.claims()
        csv.writer(file).writerows([("original", "negated"), *claims.items()])
    for split, rows in arct_files.splits_in(folder, {}).items():
        made = negated(rows, claims, adversarial)
        _write_points(adversarial / f"{split}-adv-negated.csv", "adversarial", rows, made)
        if split == "train":
            _write_points(adversarial / "train-swapped.csv", "swapped", rows, swapped(rows))


def _write_points(path: Path, mark: str, rows: list[dict], added: list[dict]) -> None:
    """Write points and those added to them, which a column marks."""
    columns = {"#id": "id", "warrant0": "warrant0", "warrant1": "warrant1"}
    columns |= {arct_files.LABEL: "label", "reason": "reason", "claim": "claim"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow([*columns, "debateTitle", "debateInfo", mark])
        for points, marked in ((rows, False), (added, True)):
            for row in points:
                writer.writerow([*(row[key] for key in columns.values()), "A", "B", marked])


def write_runs(folder: Path, names: list[str], arct: Path) -> None:
    """Write predictions and accuracies of made-up runs on the made-up points."""
    splits = arct_files.splits_in(arct, {})
    for name in names:
        predictions, accuracies = [], []
        for run in range(1, N_RUNS + 1):
            rng, shares = random.Random(f"{Path(name).parent}-{run}"), []
            for split, rows in splits.items():
                picked = [rng.randint(0, 1) for _ in rows]
                right = [pick == row["label"] for pick, row in zip(picked, rows, strict=True)]
                shares.append(sum(right) / len(rows))
                predictions += [
                    (run, split, row["id"], 0.5, 0.5, pick, correct)
                    for row, pick, correct in zip(rows, picked, right, strict=True)
                ]
            accuracies.append((run, run, *shares))
        if name.endswith("accs.csv"):
            lines = [("run_no", "seed", *splits), *accuracies]
        else:
            columns = ("run_no", "dataset", "id", "prob0", "prob1", "pred", "correct")
            lines = [columns, *predictions]
        _write(folder / name, "".join(",".join(map(str, line)) + "\n" for line in lines))


def write_multi30k(folder: Path) -> None:
    """Write the generated pairs, one language a file, compressed."""
    folder.mkdir(parents=True)
    for split, made in pairs(PAIRS, seed=1).items():
        for language, lines in zip(("en", "de"), zip(*made, strict=True), strict=True):
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{split}.{language}.gz").write_bytes(gzip.compress(text.encode()))


def write_vectors(folder: Path, mirror: Path) -> None:
    """Write what gensim's downloader keeps: the list of its data, and vectors by these names.

    They are vectors of the words of the made-up treebank and arguments.
    """
    words: set[str] = set()
    for path in islice(sorted(mirror.rglob("*.conll10")), 3):
        words |= {line.split("\t")[1].lower() for line in path.open() if "\t" in line}
    words |= set(re.findall(r"\w+", (mirror / "arct/train-full.txt").read_text().lower()))
    models = {name: {"file_name": f"{name}.gz", "parts": 1} for name in VECTORS}
    _write(folder / "information.json", json.dumps({"corpora": {}, "models": models}))
    for name, size in VECTORS.items():
        rng = random.Random(name)
        lines = [f"{len(words)} {size}"]
        for word in sorted(words):
            lines.append(" ".join([word, *(f"{rng.gauss(0, 1):.4f}" for _ in range(size))]))
        (folder / name).mkdir()
        (folder / name / f"{name}.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
