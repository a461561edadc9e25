"""One small study, run to some of its products, that every test copies."""

import sys
from pathlib import Path

import pytest

from tests.faults.products import CACHE, CHECKPOINT, EXAMPLES, FIGURE
from tests.workflow.finished import finished_once
from tests.workflow.tiny_study import TinyStudy, made_up_text

if not sys.platform.startswith("linux"):
    collect_ignore_glob = ["test_*.py"]  # processes are found by /proc


@pytest.fixture(scope="session")
def prepared(
    tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path, worker_id: str
) -> TinyStudy:
    """A study whose products were made without any fault; tests must not change it.

    Its caches and its training take long enough that a job can be met in the middle.
    """

    def make(folder: Path) -> None:
        study = TinyStudy(folder, tiny_model_dir)
        for number in range(2, 8):
            path = study.folder / f"texts/{number}.txt"
            path.write_text(made_up_text(number), encoding="utf-8")
        config = study.config
        config["models"] = {"tiny": config["models"]["tiny"]}
        config["corpora"]["text"]["made-up"]["n_segments"] = 60
        config["tasks"] = {"mrpc": {"generate": {"train": 400, "dev": 40}}}
        config["attention"] = {"batch_tokens": 64}
        config["checkpoints"] = {
            "finetune": {"inits": ["pretrained"], "batch_size": 8, "epochs": 3}
        }
        kept = ("study", "device", "threads", "models", "corpora", "tasks", "attention")
        study.config = {key: config[key] for key in (*kept, "bootstrap", "checkpoints", "surface")}
        study.write_config()
        study.run(FIGURE, CACHE, f"{CHECKPOINT}.json", EXAMPLES)

    return finished_once("faults", make, tmp_path_factory, worker_id)


@pytest.fixture
def study(prepared: TinyStudy, tmp_path: Path) -> TinyStudy:
    """A copy of the prepared study that a test may damage."""
    return prepared.copy(tmp_path / "study")
