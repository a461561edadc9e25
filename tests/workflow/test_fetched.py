"""The study of real data: what it fetches is what a directory of the same data gives."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_repository import ROOT
from workflow_scripts.core.data import tables

# Where the directory has what a source has, by the source's folder.
PLACES = {
    "gum/dep/stanford": "gum_sd/dep_stanford",
    "gum/coref/conll": "gum_sd/coref_conll",
    "arct-without-test": "arct",
}
PRODUCTS = [f"corpora/{name}.jsonl" for name in ("gum", "gum_mentions")]
PRODUCTS += ["corpora/gum_mentions.annotation.jsonl", "corpora/framenet.jsonl"]
PRODUCTS += ["corpora/glove.words.txt", "tasks/arct.points.parquet"]


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


@pytest.fixture(scope="module")
def mirror(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources of studies/real.yaml, made of the real data."""
    folder = tmp_path_factory.mktemp("mirror")
    write_mirror(real_data, folder)
    return folder


def run(folder: Path, *options: str, **env: str) -> None:
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2"]
    command += ["--directory", str(folder), "--configfile", str(ROOT / "studies/real.yaml")]
    folder.mkdir()
    targets = [f"results/real/{product}" for product in PRODUCTS]
    done = subprocess.run(
        [*command, *options, "--", *targets],
        cwd=ROOT,
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def text_of(product: Path) -> str:
    """What a product holds, each example with the line that it comes from."""
    if product.suffix == ".parquet":
        return tables.read(product).to_csv()
    return product.read_text(encoding="utf-8")


def test_fetched_data_are_those_of_a_directory(
    real_data: Path, mirror: Path, tmp_path: Path
) -> None:
    run(tmp_path / "local", "--config", f"data={real_data}")
    run(tmp_path / "fetched", ATLAS_MIRROR=str(mirror))
    places = PLACES | {"framenet-1.5/framenet_v15.zip/framenet_v15": "framenet-1.5-subset"}
    for product in PRODUCTS:
        local, fetched = (
            text_of(tmp_path / folder / "results/real" / product) for folder in ("local", "fetched")
        )
        for source, place in places.items():
            local = local.replace(f"{real_data / place}", f"results/downloads/{source}")
        assert local == fetched, product
    downloads = (tmp_path / "fetched/results/downloads").iterdir()
    folders = {path.name for path in downloads if path.is_dir() and not path.name.startswith(".")}
    assert folders == {"arct-without-test", "framenet-1.5", "glove", "gum"}
