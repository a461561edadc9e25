"""Products that a disk or a hand damaged: the next job refuses them and writes nothing."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.products import CACHE, CHECKPOINT, ENTROPY, FIGURE, MODEL, error_lines, partial
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.core.integrity import provenance

EXTRACTED = f"{MODEL}/attention/mrpc.finetuned.1.h5"


def truncate(path: Path) -> None:
    """Cut off the last byte."""
    os.truncate(path, path.stat().st_size - 1)


def flip(path: Path) -> None:
    """Change one bit in the middle, and leave the date as it was."""
    dates = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


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

    def paths(self, name: str) -> tuple[str, str]:
        """The paths of product and follower for the model of this name."""
        product, follower = (
            path.replace(MODEL, f"results/tiny/{name}") for path in (self.product, self.follower)
        )
        return product, follower


RECORD = "is not what its job wrote"
CASES = {
    "cache": Damage(CACHE, flip, ENTROPY, True, RECORD),
    "cache-truncated": Damage(CACHE, truncate, ENTROPY, False, "delete it and run again"),
    "table": Damage(ENTROPY, flip, FIGURE, True, RECORD),
    "checkpoint": Damage(CHECKPOINT, flip_weights, EXTRACTED, True, RECORD),
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
        product, follower = case.paths(name)
        twin = study.folder / "results/tiny" / name
        study.config["models"][name] = study.config["models"]["tiny"]
        shutil.copytree(prepared.folder / MODEL, twin)
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
    product, follower = CASES[name].paths(name)
    (line,) = (line for line in lines if f"/{name}/" in line)
    assert line.startswith(f"Error: {product}: ")
    assert CASES[name].words in line
    assert not (study.folder / follower).exists()
    assert partial(study) == []


def test_what_is_deleted_is_made_again(
    prepared: TinyStudy, damaged: tuple[TinyStudy, set[str]]
) -> None:
    study, _ = damaged
    for name in ("cache", "table"):
        product, follower = CASES[name].paths(name)
        (study.folder / product).unlink()
        study.run(follower)
        made = (study.folder / follower).read_bytes()
        assert made == (prepared.folder / CASES[name].follower).read_bytes()
