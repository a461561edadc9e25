"""Work that several jobs share gives the same bytes as that of one job."""

import pytest

from tests.workflow.tiny_study import TinyStudy

PRODUCTS = ("attention/made-up.h5", "ablation/mrpc.finetuned.1.logits.parquet")


@pytest.fixture
def split(copied_study: TinyStudy) -> TinyStudy:
    """The tiny study whose work two jobs share."""
    for chapter in ("attention", "ablation"):
        copied_study.config[chapter]["shards"] = 2
    copied_study.write_config()
    return copied_study


def test_any_number_of_shards_gives_the_same_bytes(tiny_study: TinyStudy, split: TinyStudy) -> None:
    names = [f"results/tiny/tiny/{name}" for name in PRODUCTS]
    for name in names:
        (split.folder / name).unlink()
    split.run(*names)
    for name in names:
        actual, expected = (study.folder / name for study in (split, tiny_study))
        assert actual.read_bytes() == expected.read_bytes(), name
    results = split.folder / "results/tiny"
    logs = [path.name for path in (results / "logs").rglob("*.log")]
    for rule in ("extract_part", "ablation_sweep_part"):
        assert sum(name.endswith(f".{rule}.log") for name in logs) == 2, rule
    left = [*results.glob("*/*/*.parts/[!.]*")]  # but for records
    assert left == []
