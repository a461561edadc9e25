"""Products that a disk or a hand damaged: the next job refuses them and writes nothing."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.faults.products import (
    CACHE,
    CARD,
    CHECKPOINT,
    ENTROPY,
    FIGURE,
    MODEL,
    OF_TRAINING,
    error_lines,
    partial,
)
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.core.integrity import provenance

TABLE1 = f"{MODEL}/tables/kovaleva2019-table1.csv"
EXTRACTED = f"{MODEL}/attention/mrpc.pretrained.1.h5"


def truncate(path: Path) -> None:
    """Cut off the last byte."""
    os.truncate(path, path.stat().st_size - 1)


def flip(path: Path, place: int | None = None) -> None:
    """Change one bit, in the middle or in the byte `place`, and leave the date as it was."""
    dates = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if place is None else place] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


def flip_pattern(path: Path) -> None:
    """Change one bit of an attention weight."""
    with h5py.File(path, "r") as file:
        values = file["pattern/values"]
        place = values.id.get_offset() + values.dtype.itemsize * (len(values) // 2)
    flip(path, place)


def put_nan(path: Path) -> None:
    """Make one attention weight NaN."""
    with h5py.File(path, "r+") as file:
        file["pattern/values"][len(file["pattern/values"]) // 2] = np.nan


def other_digit(path: Path) -> None:
    """Change one digit, so that the file can still be read."""
    text = path.read_text(encoding="utf-8")
    place = max(text.rfind(digit) for digit in "12345678")
    path.write_text(text[:place] + "9" + text[place + 1 :], encoding="utf-8")


def flip_weights(path: Path) -> None:
    """Change one bit of a checkpoint's weights."""
    flip(path / "model.safetensors")


@dataclass(frozen=True)
class Damage:
    """A damaged product, the one that is made from it, and whether the record stays next to it."""

    product: str
    damage: Callable[[Path], None]
    follower: str
    recorded: bool
    words: str

    def of(self, name: str) -> tuple[str, str]:
        """The paths of product and follower for the model of this name."""
        product, follower = (
            path.replace(MODEL, f"results/tiny/{name}") for path in (self.product, self.follower)
        )
        return product, follower


CRC, RECORD = "delete it and run again", "is not what its job wrote"
CASES = {
    "cache-truncated": Damage(CACHE, truncate, ENTROPY, False, CRC),
    "cache-flipped": Damage(CACHE, flip_pattern, ENTROPY, False, CRC),
    "cache-nan": Damage(CACHE, put_nan, ENTROPY, False, CRC),
    "cache-recorded": Damage(CACHE, flip_pattern, ENTROPY, True, RECORD),
    "json": Damage(CARD, other_digit, ENTROPY, True, RECORD),
    "parquet": Damage(ENTROPY, flip, FIGURE, True, RECORD),
    "csv": Damage(OF_TRAINING[0], other_digit, TABLE1, True, RECORD),
    "safetensors": Damage(CHECKPOINT, flip_weights, EXTRACTED, True, RECORD),
    "weights": Damage(CHECKPOINT, flip_weights, EXTRACTED, False, "are not those that the card"),
}


@pytest.fixture(scope="module")
def damaged(
    prepared: TinyStudy, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TinyStudy, set[str]]:
    """One run over all the damages, each in the products of a model of its own; its error lines."""
    study = prepared.copy(tmp_path_factory.mktemp("damaged") / "study")
    targets = []
    for name, case in CASES.items():
        product, follower = case.of(name)
        twin = study.folder / "results/tiny" / name
        study.config["models"][name] = study.config["models"]["tiny"]
        shutil.copytree(prepared.folder / MODEL, twin)
        for record in map(provenance.record_path, provenance.recorded(twin)):
            text = record.read_text(encoding="utf-8")
            text = text.replace(f"{MODEL}/", f"results/tiny/{name}/")
            text = text.replace('"name": "tiny"', f'"name": "{name}"')  # of the card
            record.write_text(text, encoding="utf-8")
        for made in (follower, follower.replace(".svg", ".pdf"), follower.replace(".svg", ".png")):
            (study.folder / made).unlink(missing_ok=True)
        case.damage(study.folder / product)
        if not case.recorded:
            provenance.record_path(study.folder / product).unlink()
        targets.append(follower)
    study.write_config()
    done = study.snakemake("--keep-going", *targets)
    assert done.returncode != 0
    return study, error_lines(done.stderr)


@pytest.mark.parametrize("name", CASES)
def test_a_damaged_product(damaged: tuple[TinyStudy, set[str]], name: str) -> None:
    study, lines = damaged
    product, follower = CASES[name].of(name)
    (line,) = (line for line in lines if f"/{name}/" in line)
    assert line.startswith(f"Error: {product}: ")
    assert CASES[name].words in line
    assert not (study.folder / follower).exists()
    assert partial(study) == []


def test_what_is_deleted_is_made_again(
    prepared: TinyStudy, damaged: tuple[TinyStudy, set[str]]
) -> None:
    study, _ = damaged
    names = ("cache-flipped", "parquet")
    for name in names:
        (study.folder / CASES[name].of(name)[0]).unlink()
    study.run(*(CASES[name].of(name)[1] for name in names))
    for name in names:
        _, follower = CASES[name].of(name)
        made = (study.folder / follower).read_bytes()
        assert made == (prepared.folder / CASES[name].follower).read_bytes()
