"""A study that stores no attention plans no cache, and one pass for each model and corpus."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.core.tiny_decoders import save_llama
from tests.parsed_rules import ROOT
from tests.planned_jobs import plan
from tests.workflow.tiny_study import made_up_text, made_up_trees, tiny_config
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import config as configs

ENCODERS = ("syntax", "coreference", "clusters", "frames", "atlas")


def study(folder: Path, encoder: Path) -> dict[str, Any]:
    """A tiny encoder and a tiny decoder, without attention that is stored."""
    config = tiny_config()
    kept = {"study", "device", "corpora", "checkpoints", "surface", *ENCODERS}
    config = {name: part for name, part in config.items() if name in kept}
    config["corpora"].pop("vectors")
    encoder_only = {"path": str(encoder)}
    decoder = {"path": str(folder / "llama"), "kind": "decoder", "chapters": ["surface"]}
    config["models"] = {"tiny": encoder_only, "small": decoder}
    config["attention"] = {"store": False}
    config["checkpoints"] = {}
    return config


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("on-the-fly")
    save_llama(folder / "llama")
    for name, made in (("texts/0.txt", made_up_text(0)), ("trees/0.conllx", made_up_trees(0))):
        (folder / name).parent.mkdir()
        (folder / name).write_text(made, encoding="utf-8")
    (folder / "study.yaml").write_text(yaml.safe_dump(study(folder, tiny_model_dir)), "utf-8")
    return plan(folder / "study.yaml", folder)["jobs"]


def test_measures_of_a_corpus_share_one_pass_of_a_model(jobs: list[dict[str, Any]]) -> None:
    assert not [file for job in jobs for file in job["output"] if file.endswith(".h5")]
    passes = [job["output"] for job in jobs if job["rule"].startswith("on_the_fly")]
    largest = {made[0].split("/")[2]: made for made in sorted(passes, key=len)}
    assert largest.keys() == {"tiny", "small"}
    assert len(largest["small"]) > 2
    assert {file.split("/")[-2] for file in largest["tiny"]} >= {"surface", "clusters"}


def test_what_reads_stored_attention_is_refused_by_name() -> None:
    config = tiny_config() | {"attention": {"store": False}}
    others = ("patterns", "finetuning", "compare")
    config = {name: part for name, part in config.items() if name not in others}
    config["models"].pop("twin")
    with pytest.raises(InputError, match="config: probes: needs stored attention; set attention"):
        configs.check(config, ROOT / "rules/schemas")
