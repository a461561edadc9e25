"""The config's check: one line that names the key and what is accepted."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow_scripts.core.run.config import check, check_results_directory
from workflow_scripts.core.run.errors import InputError

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "rules/schemas/config.schema.yaml"


@pytest.fixture
def config() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "config.yaml").read_text())


@pytest.mark.parametrize("study", ["config.yaml", *sorted((ROOT / "studies").glob("*.yaml"))])
def test_every_study_is_accepted(study: str) -> None:
    check(yaml.safe_load((ROOT / study).read_text()), SCHEMA)


def test_defaults_are_filled_in_and_the_given_config_is_left_alone(config: dict) -> None:
    del config["attention"], config["surface"]["drawings"]
    before = deepcopy(config)
    filled = check(config, SCHEMA)
    assert filled["attention"]["shards"] == 1
    assert filled["attention"]["batch_tokens"] == 4096
    assert filled["surface"]["drawings"]["max_drawn_tokens"] == 48
    assert config == before


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["sede"], 1, ["sede", "unknown key", "seed"]),
        (["attention", "shard"], 2, ["attention.shard", "unknown key", "shards"]),
        (["corpora", "text", "wikipedia", "n_segment"], 2, ["wikipedia.n_segment", "n_segments"]),
        (["seed"], "one", ["seed", "'one'", "integer"]),
        (["attention", "shards"], 0, ["attention.shards", "0", "minimum"]),
        (["device"], "gpu", ["device", "'gpu'", "cuda"]),
        (["surface", "corpus"], "wiki", ["surface.corpus", "'wiki'", "wikipedia"]),
        (["models", "minilm"], {"path": "a", "hub": "b"}, ["models.minilm", "exactly one"]),
        (["models", "minilm"], {}, ["models.minilm", "exactly one", "package"]),
        (["models", "minilm"], {"hub": "a/b"}, ["models.minilm", "revision"]),
        (["models"], {"a b": {"path": "x"}}, ["models", "a b", "dash"]),
        (["models"], {"corpora": {"path": "x"}}, ["models.corpora", "taken"]),
        (["surface", "drawings", "heads"], ["0-1"], ["drawings.heads", "0-1"]),
        (["tasks", "cola"], {"path": "x"}, ["tasks.cola", "unknown key", "mrpc"]),
        (["tasks", "rte"], {"hub": "nyu-mll/glue"}, ["tasks.rte", "revision"]),
        (["tasks", "rte"], {"generate": {"train": 5}}, ["tasks.rte.generate.dev", "missing"]),
        (["tasks", "rte"], {"path": "a", "package": "b"}, ["tasks.rte", "exactly one"]),
        (["corpora", "text", "mrpc"], {"path": "x"}, ["corpora.text.mrpc", "taken"]),
        (["tasks"], {}, ["the study has no GLUE tasks"]),
        (["checkpoints", "finetune", "inits"], ["random"], ["needs pretrained"]),
        (
            ["tasks", "arct"],
            {"generate": {"train": 5, "dev": 5}},
            ["arct.generate.test", "missing"],
        ),
        (
            ["tasks", "arct"],
            {"path": "a", "fetch": True},
            ["tasks.arct", "exactly one", "generate"],
        ),
        (["tasks", "arct", "adversarial"], "made", ["arct.adversarial", "'made'", "built"]),
        (["tasks", "arct", "adversarial"], "none", ["train_on", "original alone"]),
        (["arguments", "keep"], ["full", "X"], ["arguments.keep", "'X'", "RW"]),
        (["arguments", "setups"], ["full"], ["arguments.keep: 'W'", "setups"]),
        (["arguments", "train_on"], ["negated"], ["arguments.train_on"]),
        (["arguments", "vectors"], "glove", ["arguments.vectors", "'glove'", "own"]),
        (["arguments", "bov", "grid", "lr"], [1], ["bov.grid.lr", "unknown key", "learning_rate"]),
        (["models"], {"arguments": {"path": "x"}}, ["models.arguments", "taken"]),
        (["ablation", "mean"], ["heads"], ["ablation.mean", "'heads'", "all-but-one"]),
        (["pruning", "step"], 0, ["pruning.step", "0"]),
        (["pruning", "strategies"], ["oracle"], ["pruning.strategies", "'oracle'", "random"]),
        (["checkpoints", "finetune", "inits"], ["normal"], ["'normal'", "random"]),
        (["frames", "corpus"], "wikipedia", ["frames.corpus", "'wikipedia'", "roles"]),
        (["patterns", "builtin"], False, ["patterns", "no annotated maps"]),
        (["models"], {"patterns": {"path": "x"}}, ["models.patterns", "taken"]),
    ],
)
def test_a_mistake_is_one_line(config: dict, path: list[str], value: Any, words: list[str]) -> None:
    place = config
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError) as error:
        check(config, SCHEMA)
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_arguments_need_arct(config: dict) -> None:
    del config["tasks"]["arct"]
    with pytest.raises(InputError, match=r"arguments: needs tasks.arct"):
        check(config, SCHEMA)


def test_pruning_needs_ablation(config: dict) -> None:
    del config["ablation"]
    with pytest.raises(InputError, match="pruning: needs ablation"):
        check(config, SCHEMA)


def test_relative_paths_start_from_the_data_directory(config: dict) -> None:
    config["data"] = "/data"
    config["tasks"] = {"mrpc": {"path": "glue/MRPC"}, "rte": {"path": "/elsewhere/RTE"}}
    config["tasks"]["arct"] = {"path": "arct", "test": "arct/t.txt", "truth": "/labels.txt"}
    config["corpora"]["coreference"]["gum"] = {"path": "gum", "trees": "gum/trees"}
    filled = check(config, SCHEMA)
    assert filled["tasks"]["mrpc"]["path"] == "/data/glue/MRPC"
    assert filled["tasks"]["rte"]["path"] == "/elsewhere/RTE"
    assert filled["tasks"]["arct"]["test"] == "/data/arct/t.txt"
    assert filled["tasks"]["arct"]["truth"] == "/labels.txt"
    assert filled["corpora"]["coreference"]["gum"]["trees"] == "/data/gum/trees"


def test_a_missing_key_is_named(config: dict) -> None:
    del config["models"]
    with pytest.raises(InputError, match="models: missing"):
        check(config, SCHEMA)


def objects(schema: Any) -> list[dict]:
    found = [schema] if isinstance(schema, dict) and schema.get("type") == "object" else []
    parts = schema.values() if isinstance(schema, dict) else schema
    if isinstance(schema, dict | list):
        found += [one for part in parts for one in objects(part)]
    return found


def test_schema_admits_no_unknown_key_and_describes_every_key() -> None:
    schema = yaml.safe_load(SCHEMA.read_text())
    for one in objects(schema):
        assert "additionalProperties" in one
        for name, part in one.get("properties", {}).items():
            assert "description" in part, name


def test_results_directory_in_the_way_or_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(InputError, match="in the way"):
        check_results_directory(tmp_path / "results")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="not writable"):
        check_results_directory(tmp_path / "elsewhere")
