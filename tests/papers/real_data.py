"""What studies/real.yaml fetches, made of a directory of the same data in the official formats."""

import gzip
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa

from tests.papers import data_sets
from workflow_scripts.core.data.glue import TASKS

# Where the directory has what a source has, by the source's folder.
PLACES = {
    "gum/dep/stanford": "gum_sd/dep_stanford",
    "gum/coref/conll": "gum_sd/coref_conll",
    "arct-without-test": "arct",
}
GLUE = {"mrpc": "MRPC", "stsb": "STS-B", "sst2": "SST-2"}


def write_mirror(data: Path, folder: Path) -> None:
    """Write the sources of studies/real.yaml: FrameNet and GloVe are parts of the real ones."""
    for source, place in PLACES.items():
        shutil.copytree(data / place, folder / source)
    packed = folder / "packed/framenet_v15"
    shutil.copytree(data / "framenet-1.5-subset", packed)
    shutil.make_archive(str(folder / "framenet-1.5/framenet_v15"), "zip", packed.parent)
    (folder / "glove").mkdir()
    text = (data / "glove/glove.6B.50d.subset.txt").read_bytes()
    (folder / "glove/glove-wiki-gigaword-50.gz").write_bytes(gzip.compress(text))


def write_glue(data: Path, folder: Path) -> None:
    """Write the tasks of studies/real.yaml as the hub has them."""
    card = {}
    for name, place in GLUE.items():
        task = TASKS[name]
        for split, file in task.files.items():
            path = data / "glue" / place / file
            path = path if path.is_file() else path.with_name(f"{file}.gz")
            rows = pd.read_csv(path, sep="\t", quoting=3, dtype=str, encoding="utf-8-sig")
            columns = {own: rows[given] for own, given in zip(task.hub, task.texts, strict=True)}
            kind = pa.int64() if task.labels else pa.float32()
            columns["label"] = pa.array(rows[task.label].astype(float), pa.float32()).cast(kind)
            columns["idx"] = pa.array(range(len(rows)), pa.int32())
            table = f"{task.hub_splits[split]}-00000-of-00001.parquet"
            data_sets.write_table(folder / name / table, columns)
        card[name] = [*task.hub_splits.values()]
    data_sets.write_card(folder, card)
