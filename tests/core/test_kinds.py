"""Encoders and decoders in one study: which chapter reads which model, and what is refused."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow_scripts.core.data.cards import check_kind
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import config as run_config
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import check, source_of

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
ENCODER = {"package": "one/model"}
DECODER = {"package": "two/model", "kind": "decoder"}


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schemas, of which frames reads both kinds, and coreference decoders alone."""
    folder = tmp_path_factory.mktemp("schemas") / "schemas"
    shutil.copytree(SCHEMAS, folder)
    for chapter, kinds in {"frames": ["encoder", "decoder"], "coreference": ["decoder"]}.items():
        path = folder / f"{chapter}.schema.yaml"
        part = yaml.safe_load(path.read_text(encoding="utf-8"))
        part["needs"] = part.get("needs", {}) | {"kinds": kinds}
        path.write_text(yaml.safe_dump(part), encoding="utf-8")
    return folder


def study(*chapters: str, **models: dict[str, Any]) -> dict[str, Any]:
    """A study of these models with some chapters."""
    parts = {
        "frames": {"corpus": "roles"},
        "coreference": {"corpus": "stories"},
        "surface": {"corpus": "wiki"},
        "probes": {"treebank": "trees", "vectors": "own"},
    }
    corpora = {
        "text": {"wiki": {"path": "texts"}},
        "treebanks": {"trees": {"path": "trees"}},
        "coreference": {"stories": {"generate": 4}},
        "frames": {"roles": {"generate": 4}},
        "vectors": {"own": {"train": "wiki"}},
    }
    chosen = {name: parts.get(name, {}) for name in chapters}
    return {"study": "s", "models": models, "corpora": corpora} | chosen


def served(config: dict[str, Any], schemas: Path) -> dict[str, list[str]]:
    return run_config.served(check(config, schemas), schemas)


def test_a_model_is_an_encoder_unless_its_entry_states_otherwise() -> None:
    filled = check(study("surface", one=ENCODER), SCHEMAS)
    assert filled["models"]["one"] == ENCODER | {"kind": "encoder"}
    assert source_of(filled["models"]["one"]) == ENCODER


def test_a_chapter_reads_the_models_of_its_kinds_that_take_it(schemas: Path) -> None:
    narrow = DECODER | {"chapters": ["frames"]}
    chapters = ("frames", "coreference", "probes", "atlas")
    models = served(study(*chapters, one=ENCODER, two=DECODER, three=narrow), schemas)
    assert models["frames"] == models["atlas"] == models["attention"] == ["one", "two", "three"]
    assert (models["coreference"], models["probes"]) == (["two"], ["one"])


def test_a_study_of_decoders_needs_no_encoder(schemas: Path) -> None:
    models = served(study("frames", "claims", "atlas", two=DECODER), schemas)
    assert models["checkpoints"] == models["tasks"] == []
    assert schema.chapters(schemas) == sorted(models)


def test_abilities_are_asked_of_the_encoders_that_a_chapter_reads(schemas: Path) -> None:
    narrow = ENCODER | {"chapters": ["frames"]}
    config = study("frames", "surface", "probes", one=ENCODER, two=DECODER, three=narrow)
    needed = run_config.abilities(check(config, schemas), schemas)
    both = ["probes", "surface"]
    of_one = {"cls": both, "mask": ["surface"], "sep": both}
    assert needed == {"one": of_one, "two": {}, "three": {}}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            study("probes", two=DECODER),
            "probes reads encoders only; add one, write kind: encoder at a model that is one, or "
            "remove probes",
        ),
        (
            study("frames", "surface", one=ENCODER | {"chapters": ["surface"]}),
            "frames: no model takes it; add it to models.<name>.chapters or remove frames",
        ),
        (
            study("frames", "probes", one=ENCODER, two=DECODER | {"chapters": ["surface"]}),
            "models.two.chapters: 'surface' is not in the study; accepted: attention, corpora, "
            "frames, report",
        ),
        (
            study("frames", "probes", one=ENCODER, two=DECODER | {"chapters": ["probes"]}),
            "models.two.chapters: probes reads encoders only; remove probes",
        ),
        (
            study("surface", "clusters", one=ENCODER | {"chapters": ["clusters"]})
            | {"clusters": {"corpus": "wiki"}},
            "models.one.chapters: clusters needs surface; add it or remove clusters",
        ),
    ],
)
def test_what_cannot_be_is_refused(config: dict[str, Any], words: str, schemas: Path) -> None:
    with pytest.raises(InputError) as error:
        check(config, schemas)
    assert str(error.value) == f"config: {words}"


@pytest.mark.parametrize(
    ("kind", "about", "words"),
    [
        ("encoder", {"bidirectional": False}, "do not attend to later ones; write kind: decoder"),
        ("decoder", {}, "attend to later ones; write kind: encoder"),
    ],
)
def test_a_card_shows_a_wrong_kind(kind: str, about: dict[str, Any], words: str) -> None:
    card = {"source": {"path": "models/m"}, "special": {"pad": 0}} | about
    check_kind(card, "decoder" if about else "encoder")
    with pytest.raises(InputError) as error:
        check_kind(card, kind)
    assert str(error.value) == f"kind: {kind}: tokens of the model in models/m {words}"
