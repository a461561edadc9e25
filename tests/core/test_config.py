"""The config's check: one line that names the key and what is accepted."""

import json
from copy import deepcopy
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.configuration import REFERENCE, reference
from tests.core.written_out import written_out
from tests.default_study import MODEL
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import (
    check,
    check_marks,
    check_paths,
    jobs_submitted_from,
)

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"
STUDIES = ["config.yaml", *sorted(path.name for path in (ROOT / "studies").glob("*.yaml"))]

MINE = {"from": "x", "labels": ["a", "b"]}  # a task of the study's own


@pytest.fixture
def config() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def put(config: dict[str, Any], keys: str, value: Any) -> dict[str, Any]:
    """The config with a value at dotted keys; None takes the key away."""
    *above, last = keys.split(".")
    part = reduce(lambda part, key: part.setdefault(key, {}), above, config)
    part[last] = value
    if value is None:
        del part[last]
    return config


def refusal(config: dict[str, Any]) -> str:
    with pytest.raises(InputError) as error:
        check_paths(check(config, SCHEMAS), SCHEMAS)
    line = str(error.value)
    assert line.startswith("config: ")
    assert "\n" not in line
    return line


@pytest.mark.parametrize("study", STUDIES)
def test_defaults_written_out_and_the_order_of_keys_change_nothing(study: str) -> None:
    """Not even the order of keys in the checked config, which is part of the rules' parameters."""
    path = ROOT / study if study == "config.yaml" else ROOT / "studies" / study
    config = yaml.safe_load(path.read_text())
    other = written_out(config)
    assert json.dumps(other) != json.dumps(config)
    assert json.dumps(check(other, SCHEMAS)) == json.dumps(check(config, SCHEMAS))


def test_defaults_are_filled_in_and_the_given_config_is_left_alone(config: dict) -> None:
    del config["attention"], config["checkpoints"]["finetune"]
    before = deepcopy(config)
    filled = check(config, SCHEMAS)
    assert filled["attention"]["shards"] == 1
    assert filled["surface"]["drawings"]["max_drawn_tokens"] == 20
    settings = filled["checkpoints"]["finetune"]
    assert (settings["batch_size"], settings["epochs"]) == (32, 3)  # the paper's text
    assert (settings["learning_rate"], settings["warmup"]) == (5e-5, 0.1)  # its released code
    assert config == before


# One for each kind of node of the schema, and each check after it.
@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        ("sede", 1, "sede: unknown key; accepted: ablation, "),
        ("corpora.text.wikipedia.n_segment", 2, "text.wikipedia.n_segment: unknown key; accepted"),
        ("models", None, "models: missing; add it: Models by name"),
        ("surface", 5, "surface: 5 is of the wrong type; accepted: a mapping of keys"),
        ("seed", "one", "seed: 'one' is of the wrong type; accepted: integer"),
        ("attention.shards", 0, "attention.shards: 0 is less than the minimum of 1"),
        ("bootstrap", 10**9, "bootstrap: 1000000000 is greater than the maximum of 10000"),
        ("device", "gpu", "device: 'gpu' is not accepted; accepted: auto, cpu, cuda, mps"),
        ("surface.drawings.heads", ["0-1"], "heads.0: '0-1' is not accepted; accepted: <layer>-"),
        ("arguments.train_on", ["negated"], "arguments.train_on: ['negated'] is without original"),
        ("models.a b", {"from": "x"}, "models: 'a b' is not accepted; accepted: at most 64 let"),
        (
            "tasks.sst2.from",
            "sdist:vader/../x",
            "'vader/../x' is not accepted; accepted: File or direc",
        ),
        ("models.m", {}, "m: give from: exactly one of hub:<name>@<commit>, a path, package:<pack"),
        ("models.m", {"from": ["a", "package:b"]}, "models.m: give from: exactly one of hub:"),
        ("models.m", {"from": ["a", "b"]}, "models.m.from: two places of the form a path"),
        ("models.m", {"from": "hugs:b"}, "models.m.from: 'hugs:b' is of no form that is accepted"),
        ("models.m", {"from": "hub:b@main"}, "models.m.from: 'hub:b@main' is without a commit"),
        ("models.m", {"from": ""}, "models.m.from: '' is of no form that is accepted here: a path"),
        (
            "models.m",
            {"from": f"hub:b@{40 * '0'}", "revision": "main"},
            "models.m.revision: remove it; from has the commit",
        ),
        ("tasks.mrpc", {"from": "generate:9"}, "{generate: {train, dev}}"),
        ("models.m", {"hub": "b"}, "models.m: hub without revision; write from: hub:<name>@<com"),
        ("tasks.mnli.from.generate.train", 0, "mnli.from.generate.train: 0 is less than the mini"),
        ("tasks.mine", {"from": "x"}, "tasks.mine.labels: missing; add it: a list of the lab"),
        ("tasks.mine", MINE | {"labels": [1, "1"]}, "tasks.mine.labels: two are one in a file"),
        (
            "tasks.mine",
            MINE | {"text": ["label"]},
            "tasks.mine.text: 'label' is the label's column",
        ),
        (
            "tasks.mine",
            MINE | {"labels": [1, 2, 3], "format": "ratings"},
            "labels: ratings have two",
        ),
        ("tasks", {1: MINE}, "config: 1: a name that YAML reads as no text; quote it"),
        ("tasks.pairs", MINE, "tasks: 'pairs' is not accepted; accepted: a GLUE task in lower ca"),
        (
            "checkpoints.finetune.every_epoch",
            ["arct"],
            "'arct' is not accepted; accepted: A task o",
        ),
        ("tasks.mine.labels", "rank", "labels: 'rank' is not accepted; accepted: a list of"),
        (
            "corpora.treebanks.trees",
            {"from": "parse:wikipedia", "format": "conllu"},
            "trees.format: 'conllu' is not accepted with parse:; accepted: auto",
        ),
        ("surface.corpus", "wiki", "surface.corpus: 'wiki' is not in corpora.text; accepted: "),
        ("corpora.text.sst2", {"from": "x"}, "corpora.text.sst2: this name is taken by tasks.sst2"),
        ("tasks.arct", None, "arguments: needs tasks.arct; add it or remove arguments"),
        ("models.m", {"from": "none"}, "models.m.from: none: no such file or directory; correct"),
    ],
)
def test_a_mistake_is_one_line(config: dict, keys: str, value: Any, words: str) -> None:
    assert words in refusal(put(config, keys, value))


def test_a_study_without_models_is_of_a_translator() -> None:
    assert refusal({"study": "mine", "models": {}}) == "config: models: none; add one"


def test_a_missing_text_names_the_directory_that_it_starts_from(
    config: dict, tmp_path: Path
) -> None:
    config["corpora"]["text"]["mine"] = {"from": "a.txt"}
    assert refusal(config).endswith("mine.from: a.txt: no such file or directory; correct the path")
    words = f"mine.from: {tmp_path}/a.txt: no such file or directory; correct the path, or data, "
    assert words + f"the directory {tmp_path} that it" in refusal(config | {"data": str(tmp_path)})
    fetched = {"from": "fetch:gum/a", "licensed": "a.txt"}
    config["corpora"]["text"]["mine"] = fetched
    assert ", or licensed, the directory" in refusal(config | {"licensed": str(tmp_path)})


@pytest.mark.parametrize(
    ("part", "names", "words"),
    [
        ("corpora.text", ["w", "w.training"], "'w.training' is not accepted; .*no dot"),
        ("models", ["atlas.html"], r"models\.atlas\.html: .* taken by a file or folder of "),
        ("models", ["BERT", "bert"], r"models\.bert: .* taken by models\.BERT "),
        ("corpora.text", ["Parsed"], r"corpora\.text\.Parsed: .* corpora\.treebanks\.parsed"),
        ("models", [65 * "m"], "at most 64"),
    ],
)
def test_names_that_would_share_a_path_are_refused(
    config: dict, part: str, names: list[str], words: str
) -> None:
    entries = reduce(dict.__getitem__, part.split("."), config)
    entries |= {name: next(iter(entries.values())) for name in names}
    with pytest.raises(InputError, match=words):
        check(config, SCHEMAS)


def test_paths_start_from_data_and_need_no_braces(config: dict, tmp_path: Path) -> None:
    """Snakemake would fill in what stands between braces."""
    config["models"][MODEL] = {"from": str(tmp_path)}
    config["data"] = str(tmp_path)
    config["tasks"]["rte"] = {"from": "RTE"}
    (tmp_path / "RTE/deep").mkdir(parents=True)
    filled = check(config, SCHEMAS)
    assert filled["tasks"]["rte"]["path"] == str(tmp_path / "RTE")
    (tmp_path / "RTE/deep/a{b}.txt").write_text("a text")
    assert "tasks.rte.from: " in (line := refusal(config))
    assert "rename it without them" in line
    with pytest.raises(InputError, match="rename it without them"):
        check_marks("/home/<me>/atlas")


def test_attention_of_many_segments_is_stored_only_where_a_study_says_so(config: dict) -> None:
    for chapter in ("patterns", "probes", "finetuning"):  # which need it stored
        del config[chapter]
    for more, given, stored in [(0, None, True), (1, None, False), (1, True, True)]:
        put(config, "corpora.text.wikipedia.n_segments", 10_000 + more)
        config["attention"] = {} if given is None else {"store": given}
        assert check(config, SCHEMAS)["attention"]["store"] == stored


def test_the_schema_admits_no_unknown_key() -> None:
    def objects(part: Any) -> list[dict]:
        own = [part] if isinstance(part, dict) and part.get("type") == "object" else []
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return own + [item for value in inner for item in objects(value)]

    for part in objects(schema.assemble(SCHEMAS)):
        assert "additionalProperties" in part, part


def test_the_reference_is_up_to_date() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert reference() == text, "docs/configuration.md is out of date; run `make docs`"


def test_jobs_of_a_folder_are_those_that_snakemake_submitted_from_it() -> None:
    listed = (
        "7|rule_extract_wildcards_tiny_sst2|/home/me/atlas\n8_[1-3]|group_tiny|/home/me/atlas\n"
        "9|(null)|/home/me/atlas\n10|rule_extract|/home/me/a|b\n"
    )
    assert jobs_submitted_from("/home/me/atlas", listed) == ["7", "8_[1-3]"]
    assert jobs_submitted_from("/home/me/a|b", listed) == ["10"]
