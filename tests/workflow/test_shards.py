"""Work that several jobs share gives the same bytes as that of one job."""

from pathlib import Path

import pytest

from tests.workflow.tiny_study import TinyStudy

RUN = "mrpc.pretrained.1"
PRODUCTS = [f"ablation/{RUN}.logits.parquet"]
PRODUCTS += [f"pruning/{RUN}.{name}.parquet" for name in ("importance", "curves", "order")]
CACHE = "attention/made-up.h5"


@pytest.fixture
def split_otherwise(copied_study: TinyStudy) -> TinyStudy:
    """The tiny study whose corpora one job extracts, and whose other work three jobs share."""
    assert copied_study.config["attention"]["shards"] == 2
    for chapter, shards in (("attention", 1), ("ablation", 3), ("pruning", 3)):
        copied_study.config[chapter]["shards"] = shards
    copied_study.write_config()
    return copied_study


def test_any_number_of_shards_gives_the_same_bytes(
    tiny_study: TinyStudy, split_otherwise: TinyStudy
) -> None:
    names = [f"results/tiny/tiny/{name}" for name in (CACHE, *PRODUCTS)]
    for name in names:
        (split_otherwise.folder / name).unlink()
    split_otherwise.run(*names)
    for name in names:
        actual, expected = (study.folder / name for study in (split_otherwise, tiny_study))
        assert actual.read_bytes() == expected.read_bytes(), name
    logs = [path.name for path in logs_of(split_otherwise)]
    for rule in ("ablation_sweep_part", "pruning_importance"):
        assert sum(name.endswith(f".{rule}.log") for name in logs) == 3, rule


def test_nothing_is_left_of_shards_and_parts(tiny_study: TinyStudy) -> None:
    assert any(path.name.endswith(".extract_shard.log") for path in logs_of(tiny_study))
    results = tiny_study.folder / "results/tiny/tiny"
    left = [*results.glob("attention/*.shards/*.h5"), *results.glob("*/*.parts/*.parquet")]
    assert left == []


def logs_of(study: TinyStudy) -> list[Path]:
    """The logs of the study's jobs."""
    return list((study.folder / "results/tiny/logs").rglob("*.log"))
