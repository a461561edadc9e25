"""The config's check: one line that names the key and what is accepted."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.core.written_out import written_out
from tests.default_study import MODEL
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import check, check_paths, check_results_directory

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"


@pytest.fixture
def config() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "config.yaml").read_text())


@pytest.mark.parametrize("study", ["config.yaml", *sorted((ROOT / "studies").glob("*.yaml"))])
def test_every_study_is_accepted(study: str) -> None:
    check(yaml.safe_load((ROOT / study).read_text()), SCHEMAS)


@pytest.mark.parametrize("study", ["config.yaml", *sorted((ROOT / "studies").glob("*.yaml"))])
def test_defaults_written_out_and_the_order_of_keys_change_nothing(study: str) -> None:
    """Not even the order of keys in the checked config, which is part of the rules' parameters."""
    config = yaml.safe_load((ROOT / study).read_text())
    other = written_out(config)
    assert json.dumps(other) != json.dumps(config)
    assert json.dumps(check(other, SCHEMAS)) == json.dumps(check(config, SCHEMAS))


def test_names_stay_in_the_order_of_the_study(config: dict) -> None:
    config["tasks"] = dict(reversed(config["tasks"].items()))
    config["models"] = {
        "b": {"path": "x", "kind": "decoder", "chapters": ["battery"]},
        "a": {"path": "x"},
    }
    filled = check(config, SCHEMAS)
    assert [*filled["tasks"]] == [*config["tasks"]] != sorted(config["tasks"])
    assert [*filled["models"]] == ["b", "a"]


def test_classifiers_are_fine_tuned_as_in_the_paper_and_its_code(config: dict) -> None:
    del config["checkpoints"]["finetune"]
    base = yaml.safe_load((ROOT / "studies/bert-base.yaml").read_text())
    for study in (config, base):
        settings = check(study, SCHEMAS)["checkpoints"]["finetune"]
        assert (settings["batch_size"], settings["epochs"]) == (32, 3)  # the text
        assert (settings["learning_rate"], settings["warmup"]) == (5e-5, 0.1)  # the released code


def test_defaults_are_filled_in_and_the_given_config_is_left_alone(config: dict) -> None:
    del config["attention"]
    assert "drawings" not in config["surface"]
    before = deepcopy(config)
    filled = check(config, SCHEMAS)
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
        (
            ["corpora", "text", "wikipedia"],
            {"hub": "a/b", "revision": "c", "format": "mediawiki"},
            ["text.wikipedia.format: 'mediawiki'", "with hub; accepted: auto, plain"],
        ),
        (
            ["corpora", "treebanks", "trees"],
            {"parse": "wikipedia", "format": "conllu"},
            ["treebanks.trees.format: 'conllu'", "with parse; accepted: auto"],
        ),
        (
            ["corpora", "coreference", "stories"],
            {"generate": 5, "format": "gum"},
            ["coreference.stories.format: 'gum'", "with generate; accepted: auto"],
        ),
        (["seed"], "one", ["seed", "'one'", "integer"]),
        (["attention", "shards"], 0, ["attention.shards", "0", "minimum"]),
        (["device"], "gpu", ["device", "'gpu'", "cuda"]),
        (["surface", "corpus"], "wiki", ["surface.corpus", "'wiki'", "wikipedia"]),
        (["models", MODEL], {"path": "a", "hub": "b"}, [f"models.{MODEL}", "exactly one"]),
        (["models", MODEL], {}, [f"models.{MODEL}", "exactly one", "package"]),
        (["models", MODEL], {"hub": "a/b"}, [f"models.{MODEL}", "hub without revision"]),
        (["models"], {"a b": {"path": "x"}}, ["models", "a b", "dash"]),
        (["models"], {"corpora": {"path": "x"}}, ["models.corpora", "taken"]),
        (["surface", "drawings", "heads"], ["0-1"], ["drawings.heads", "0-1"]),
        (["tasks", "wnli"], {"path": "x"}, ["tasks.wnli", "unknown key", "mrpc"]),
        (["tasks", "stsb"], {"hub": "nyu-mll/glue"}, ["tasks.stsb", "revision"]),
        (["tasks", "stsb"], {"generate": {"train": 5}}, ["tasks.stsb.generate.dev", "missing"]),
        (["tasks", "stsb"], {"path": "a", "package": "b"}, ["tasks.stsb", "exactly one"]),
        (["corpora", "text", "mnli"], {"path": "x"}, ["corpora.text.mnli", "taken"]),
        (["tasks"], {}, ["ablation: needs a GLUE task"]),
        (["checkpoints", "finetune", "inits"], ["random"], ["needs pretrained"]),
        (
            ["tasks", "arct"],
            {"generate": {"train": 5, "dev": 5}},
            ["arct.generate.test", "missing"],
        ),
        (
            ["tasks", "arct"],
            {"generate": {"train": 5, "dev": 5, "test": 5}, "fetch": "arct"},
            ["tasks.arct", "exactly one", "generate"],
        ),
        (["tasks", "arct", "adversarial"], "made", ["arct.adversarial", "'made'", "built"]),
        (["tasks", "arct", "adversarial"], "none", ["train_on", "original alone"]),
        (["arguments", "keep"], ["full", "X"], ["arguments.keep", "'X'", "RW"]),
        (["arguments", "setups"], ["full"], ["arguments.keep: 'W'", "setups"]),
        (["arguments", "train_on"], ["negated"], ["arguments.train_on", "without original"]),
        (["surface"], None, ["surface", "None", "a mapping of keys"]),
        (["surface"], {}, ["surface.corpus", "missing", "Text corpus"]),
        (["tasks", "arct"], {"fetch": "x"}, ["tasks.arct.fetch: 'x' is no source", "arct-runs"]),
        (["arguments", "vectors"], "glove", ["arguments.vectors", "'glove'", "own"]),
        (["arguments", "bov", "grid", "lr"], [1], ["bov.grid.lr", "unknown key", "learning_rate"]),
        (["models"], {"arguments": {"path": "x"}}, ["models.arguments", "taken"]),
        (["ablation", "mean"], ["heads"], ["ablation.mean", "'heads'", "all-but-one"]),
        (["pruning", "step"], 0, ["pruning.step", "0"]),
        (["pruning", "strategies"], ["oracle"], ["pruning.strategies", "'oracle'", "random"]),
        (["checkpoints", "finetune", "inits"], ["normal"], ["'normal'", "random"]),
        (["frames", "corpus"], "wikipedia", ["frames.corpus", "'wikipedia'", "roles"]),
        (["patterns", "builtin"], False, ["patterns: needs annotated maps"]),
        (["models"], {"patterns": {"path": "x"}}, ["models.patterns", "taken"]),
    ],
)
def test_a_mistake_is_one_line(config: dict, path: list[str], value: Any, words: list[str]) -> None:
    parent = config
    for key in path[:-1]:
        parent = parent.setdefault(key, {})
    parent[path[-1]] = value
    with pytest.raises(InputError) as error:
        check(config, SCHEMAS)
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_clusters_need_surface(config: dict) -> None:
    del config["surface"]
    with pytest.raises(InputError, match="clusters: needs surface; add it or remove clusters"):
        check(config, SCHEMAS)


def test_arguments_need_arct(config: dict) -> None:
    del config["tasks"]["arct"]
    with pytest.raises(InputError, match=r"arguments: needs tasks.arct"):
        check(config, SCHEMAS)


def test_pruning_needs_ablation(config: dict) -> None:
    del config["ablation"]
    with pytest.raises(InputError, match="pruning: needs ablation"):
        check(config, SCHEMAS)


def test_relative_paths_start_from_the_data_directory(config: dict) -> None:
    config["data"] = "/data"
    config["tasks"] = {"mrpc": {"path": "glue/MRPC"}, "rte": {"path": "/elsewhere/RTE"}}
    config["tasks"]["arct"] = {"path": "arct", "test": "arct/t.txt", "truth": "/labels.txt"}
    config["corpora"]["coreference"]["gum"] = {"path": "gum", "trees": "gum/trees"}
    filled = check(config, SCHEMAS)
    assert filled["tasks"]["mrpc"]["path"] == "/data/glue/MRPC"
    assert filled["tasks"]["rte"]["path"] == "/elsewhere/RTE"
    assert filled["tasks"]["arct"]["test"] == "/data/arct/t.txt"
    assert filled["tasks"]["arct"]["truth"] == "/labels.txt"
    assert filled["corpora"]["coreference"]["gum"]["trees"] == "/data/gum/trees"


@pytest.mark.parametrize(
    ("keys", "source", "words"),
    [
        (["models", "local"], {"path": "nowhere"}, ["models.local.path: nowhere:", "correct"]),
        (["tasks", "stsb"], {"path": "RTE"}, ["tasks.stsb.path: texts/RTE:", "data (texts)"]),
        (["corpora", "text", "local"], {"path": "a.txt"}, ["corpora.text.local.path: texts/a.txt"]),
        (
            ["corpora", "treebanks", "local"],
            {"path": "t"},
            ["corpora.treebanks.local.path: texts/t:"],
        ),
        (["corpora", "vectors", "local"], {"path": "v"}, ["corpora.vectors.local.path: texts/v:"]),
        (["tasks", "arct"], {"path": "a", "test": "t"}, ["tasks.arct.path", "(and 1 more)"]),
    ],
)
def test_a_path_that_does_not_exist_is_one_line(
    config: dict, keys: list[str], source: dict, words: list[str]
) -> None:
    config["data"] = "texts"
    parent = config
    for key in keys[:-1]:
        parent = parent[key]
    parent[keys[-1]] = source
    with pytest.raises(InputError, match="no such file or directory") as error:
        check_paths(check(config, SCHEMAS), SCHEMAS)
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_paths_that_exist_are_accepted(
    config: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts/RTE").mkdir(parents=True)
    config["tasks"]["rte"] = {"path": "RTE"}
    config["data"] = "texts"
    check_paths(check(config, SCHEMAS), SCHEMAS)


def test_a_missing_key_is_named(config: dict) -> None:
    del config["models"]
    with pytest.raises(InputError, match="models: missing"):
        check(config, SCHEMAS)


def objects(part: Any) -> list[dict]:
    """The schemas of objects within a schema."""
    own = [part] if isinstance(part, dict) and part.get("type") == "object" else []
    inner = part.values() if isinstance(part, dict) else part
    if isinstance(part, dict | list):
        own += [item for value in inner for item in objects(value)]
    return own


def test_schema_admits_no_unknown_key_and_describes_every_key() -> None:
    root = schema.assemble(SCHEMAS)
    described = objects(root)
    assert len(described) > 30
    for part in described:
        assert "additionalProperties" in part
        for name, key in part.get("properties", {}).items():
            assert "description" in key, name


def test_results_directory_in_the_way_or_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(InputError, match="in the way"):
        check_results_directory(tmp_path / "results")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="not writable"):
        check_results_directory(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (("models", MODEL), "models"),
        (("translation", "model"), "models"),
        (("tasks", "stsb"), "datasets"),
        (("corpora", "text", "wikipedia"), "datasets"),
        (("corpora", "treebanks", "parsed"), "datasets"),
    ],
    ids=lambda value: value if isinstance(value, str) else ".".join(value),
)
def test_a_branch_is_no_pin(
    config: dict, place: tuple, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It moves; the line states the commit where the local cache has it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    if place[0] == "translation":
        del config["translation"]["train"]
    parent = config
    for key in place[:-1]:
        parent = parent[key]
    for revision in ("main", "v1.0", "0123456", "A" * 40):
        parent[place[-1]] = {"hub": "org/name", "revision": revision}
        with pytest.raises(InputError, match=f"revision: '{revision}' is not accepted") as error:
            check(config, SCHEMAS)
        assert str(error.value).endswith("accepted: a commit, 40 hexadecimal digits")
    ref = tmp_path / f"{kind}--org--name/refs/main"
    ref.parent.mkdir(parents=True)
    ref.write_text(f"{1:040x}")
    parent[place[-1]]["revision"] = "main"
    with pytest.raises(InputError, match=f"; on this machine it is {1:040x}: write that"):
        check(config, SCHEMAS)
    parent[place[-1]]["revision"] = f"{1:040x}"
    check(config, SCHEMAS)
