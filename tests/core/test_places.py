"""Where data come from: each form of `from`, and the keys that it and others replace."""

from typing import Any

import pytest

from tests.test_repository import ROOT
from workflow_scripts.core.run import places, schema
from workflow_scripts.core.run.config import check

SCHEMAS = ROOT / "rules/schemas"
SCHEMA = schema.assemble(SCHEMAS)
COMMIT = 40 * "0"
NUMBERS = {"train": 256, "dev": 50}


def entered(part: str, entry: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What an entry of a part of the config becomes, and the lines of its old keys."""
    config: dict[str, Any] = {"e": dict(entry)}
    for key in reversed(part.split(".")):
        config = {key: config}
    config, lines = places.enter(config, SCHEMA)
    for key in (*part.split("."), "e"):
        config = config[key]
    return config, lines


# Old keys in the order of the new places, of which a list has several.
@pytest.mark.parametrize(
    ("part", "stated", "old"),
    [
        ("models", "/data/my-bert", {"path": "/data/my-bert"}),
        ("models", "./hub:x", {"path": "hub:x"}),
        ("models", f"hub:me/bert@{COMMIT}", {"hub": "me/bert", "revision": COMMIT}),
        ("models", "package:carrier/model", {"package": "carrier/model"}),
        ("corpora.text", "sdist:rated/a b.txt", {"sdist": "rated/a b.txt"}),
        ("corpora.treebanks", "fetch:gum/dep/stanford", {"fetch": "gum/dep/stanford"}),
        ("corpora.treebanks", ["trees", "fetch:gum"], {"path": "trees", "fetch": "gum"}),
        ("corpora.treebanks", ["path:x", "fetch:gum"], {"path": "path:x", "fetch": "gum"}),
        ("corpora.treebanks", "parse:wikipedia", {"parse": "wikipedia"}),
        ("corpora.frames", "nltk:framenet_v17", {"nltk": "framenet_v17"}),
        ("corpora.frames", "generate:100", {"generate": 100}),
        ("corpora.vectors", "download:glove-50", {"download": "glove-50"}),
        ("corpora.vectors", "train:wikipedia", {"train": "wikipedia"}),
        ("tasks.sst2.domains", "data/films.txt", {"path": "data/films.txt"}),
        ("translation.data.domains", "fetch:multi30k", {"fetch": "multi30k"}),
    ],
)
def test_a_form_is_a_key_of_old(part: str, stated: Any, old: dict[str, Any]) -> None:
    found, lines = entered(part, {"from": stated, "n_segments": 5})
    again, told = entered(part, {**old, "n_segments": 5})
    assert lines == []
    written = f"[{', '.join(stated)}]" if isinstance(stated, list) else stated
    keys = ", ".join(key for key in old if key != "revision")
    assert told == [f"config: {part}.e.{keys}: write from: {written}"]
    assert again == {**old, "n_segments": 5}
    # A path is what it leads to: `./` is taken away where it is read.
    assert found == {**again, **({"path": stated} if stated == "./hub:x" else {})}


def test_a_branch_is_not_advised_and_blanks_are_removed() -> None:
    line = "config: models.e.hub: write from: hub:me/bert@<commit of 40 digits>"
    assert entered("models", {"hub": "me/bert", "revision": "main"})[1] == [line]
    assert entered("models", {"from": " package: a/b "})[0] == {"package": "a/b"}


def test_generate_takes_numbers_of_splits_and_entries_may_be_one() -> None:
    shared = {"from": {"generate": NUMBERS}}  # as by an anchor of YAML
    config, old = ({"tasks": {"mnli": entry, "rte": entry}} for entry in (shared, shared["from"]))
    assert places.enter(config, SCHEMA) == (old, [])
    written = "{generate: {train: 256, dev: 50}}"
    lines = [f"config: tasks.{name}.generate: write from: {written}" for name in ("mnli", "rte")]
    assert places.enter(old, SCHEMA)[1] == lines


def test_old_keys_are_told_where_a_run_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    study = {"study": "s", "models": {"mine": {"path": "/data/my-bert"}}}
    checked = [check(study, SCHEMAS, tell=tell) for tell in (False, True)]
    assert checked[0] == checked[1]
    line = "config: models.mine.path: write from: /data/my-bert\n"
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    ("chapter", "old", "new"),
    [
        ("ablation", "mean", "mean_units"),
        ("arguments", "keep", "keep_weights_of"),
        ("attention", "keep", "keep_caches"),
        ("battery", "tests", "further_measures"),
        ("mixing", "tests", "measures"),
    ],
)
def test_a_renamed_key_is_read(chapter: str, old: str, new: str) -> None:
    assert new in SCHEMA["properties"][chapter]["properties"]
    line = f"config: {chapter}.{old}: write {chapter}.{new}"
    assert places.enter({chapter: {old: []}}, SCHEMA) == ({chapter: {new: []}}, [line])
    both = {chapter: {old: [], new: [1]}}  # the old one is then an unknown key
    assert places.enter(both, SCHEMA) == (both, [])


def test_a_fewest_of_words_asks_for_pairs_as_it_did() -> None:
    text = {"corpora": {"text": {"t": {"path": "t.txt", "min_words": 5}}}}
    entered, lines = places.enter(text, SCHEMA)
    assert entered["corpora"]["text"]["t"]["segments"] == "pairs"
    assert "config: corpora.text.t.min_words: write segments: pairs next to it" in lines
