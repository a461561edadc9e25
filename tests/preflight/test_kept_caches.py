"""A study that keeps no caches leaves none, and notices what makes them stale."""

from pathlib import Path

import pytest

from tests.printed import rules_of
from tests.workflow.tiny_study import TinyStudy

TARGET = "results/tiny/tiny/figures/clark2019-fig4.svg"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> TinyStudy:
    """One figure of a study without kept caches, finished."""
    made = TinyStudy(tmp_path_factory.mktemp("caches"), tiny_model_dir)
    made.config["attention"] |= {"keep": False, "shards": 1}
    made.write_config()
    made.run(TARGET)
    return made


def planned(study: TinyStudy) -> set[str]:
    done = study.snakemake(TARGET, "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    return set(rules_of(done.stdout + done.stderr))


def test_caches_are_removed_after_their_last_reader(study: TinyStudy) -> None:
    results = study.folder / "results"
    assert not list(results.rglob("*.h5"))
    assert (study.folder / TARGET).is_file()
    assert planned(study) == set()


def test_a_changed_parameter_of_the_extraction_is_noticed(study: TinyStudy) -> None:
    text = study.config["corpora"]["text"]["made-up"]
    text["max_tokens"] -= 1
    study.write_config()
    assert planned(study) == {"extract", "entropy", "clark2019_fig4"}
    text["max_tokens"] += 1
    study.write_config()
    assert planned(study) == set()


def test_a_changed_reader_extracts_again(study: TinyStudy) -> None:
    study.config["surface"]["bootstrap"] += 1
    study.write_config()
    assert planned(study) == {"extract", "entropy", "clark2019_fig4"}
    study.config["surface"]["bootstrap"] -= 1
    study.write_config()
