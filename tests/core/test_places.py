"""Where data come from: each form of `from`, and the keys that it replaces."""

from typing import Any

import pytest

from tests.test_repository import ROOT
from workflow_scripts.core.run import places, schema

SCHEMA = schema.assemble(ROOT / "rules/schemas")
COMMIT = 40 * "0"
NUMBERS = {"train": 256, "dev": 50}


def entered(part: str, entry: dict[str, Any]) -> dict[str, Any]:
    """What an entry of a part of the config becomes."""
    config: dict[str, Any] = {"e": dict(entry)}
    for key in reversed(part.split(".")):
        config = {key: config}
    config = places.enter(config, SCHEMA)
    for key in (*part.split("."), "e"):
        config = config[key]
    return config


# Old keys in the order of the new places, of which a list has several.
@pytest.mark.parametrize(
    ("part", "stated", "old"),
    [
        ("models", "/data/my-bert", {"path": "/data/my-bert"}),
        ("models", "./hub:x", {"path": "hub:x"}),
        ("models", f"hub:me/bert@{COMMIT}", {"hub": "me/bert", "revision": COMMIT}),
        ("models", "package:carrier/model", {"package": "carrier/model"}),
        ("corpora.text", "sdist:rated/a b.txt", {"sdist": "rated/a b.txt"}),
        ("corpora.treebanks", ["trees", "fetch:gum"], {"path": "trees", "fetch": "gum"}),
        ("corpora.treebanks", ["path:x", "fetch:gum"], {"path": "path:x", "fetch": "gum"}),
        ("corpora.treebanks", "parse:wikipedia", {"parse": "wikipedia"}),
        ("corpora.frames", "nltk:framenet_v17", {"nltk": "framenet_v17"}),
        ("corpora.vectors", "download:glove-50", {"download": "glove-50"}),
        ("tasks.sst2.domains", "data/films.txt", {"path": "data/films.txt"}),
    ],
)
def test_a_form_is_a_key_of_old(part: str, stated: Any, old: dict[str, Any]) -> None:
    found = entered(part, {"from": stated, "n_segments": 5})
    again = entered(part, {**old, "n_segments": 5})
    assert again == {**old, "n_segments": 5}
    # A path is what it leads to: `./` is taken away where it is read.
    assert found == {**again, **({"path": stated} if stated == "./hub:x" else {})}


def test_blanks_are_removed() -> None:
    assert entered("models", {"from": " package: a/b "}) == {"package": "a/b"}


def test_generate_takes_numbers_of_splits_and_entries_may_be_one() -> None:
    shared = {"from": {"generate": NUMBERS}}  # as by an anchor of YAML
    config, old = ({"tasks": {"mnli": entry, "rte": entry}} for entry in (shared, shared["from"]))
    assert places.enter(config, SCHEMA) == old
