"""Encoders and decoders in one study: which chapter reads which model, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForMaskedLM

from tests.core.tiny_models import ARCHITECTURES
from workflow_scripts.core.data.cards import check_kind
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import config as run_config
from workflow_scripts.core.run.config import check
from workflow_scripts.core.run.model_sources import predicts_masked

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
ENCODER = {"package": "one/model"}
DECODER = {"package": "two/model", "kind": "decoder"}


def study(*chapters: str, **models: dict[str, Any]) -> dict[str, Any]:
    """A study of these models with some chapters."""
    parts = {
        "battery": {"corpus": "wiki"},
        "frames": {"corpus": "roles"},
        "surface": {"corpus": "wiki"},
        "probes": {"treebank": "trees", "vectors": "own"},
    }
    corpora = {
        "text": {"wiki": {"path": "texts"}},
        "treebanks": {"trees": {"path": "trees"}},
        "frames": {"roles": {"generate": 4}},
        "vectors": {"own": {"train": "wiki"}},
    }
    chosen = {name: parts.get(name, {}) for name in chapters}
    return {"study": "s", "models": models, "corpora": corpora} | chosen


def test_a_model_is_an_encoder_unless_its_entry_states_otherwise() -> None:
    filled = check(study("surface", one=ENCODER), SCHEMAS)
    assert filled["models"]["one"] == ENCODER | {"kind": "encoder"}


def test_a_chapter_reads_the_models_of_its_kinds_that_take_it() -> None:
    narrow = DECODER | {"chapters": ["frames"]}
    chapters = ("frames", "battery", "probes", "atlas")
    config = study(*chapters, one=ENCODER, two=DECODER, three=narrow)
    models = run_config.served(check(config, SCHEMAS), SCHEMAS)
    assert models["frames"] == models["atlas"] == models["attention"] == ["one", "two", "three"]
    assert (models["battery"], models["probes"]) == (["two"], ["one"])


def test_windows_are_kept_for_training_only_where_something_is_trained() -> None:
    config = study("surface", "battery", one=ENCODER, two=DECODER)
    config["corpora"]["text"] |= {"own": {"path": "x"}, "pairs": {"path": "x", "segments": "pairs"}}
    del config["corpora"]["vectors"]

    def shares(config: dict[str, Any]) -> list[float]:
        filled = check(config, SCHEMAS)
        return [run_config.training_share(filled, name) for name in ("wiki", "own", "pairs")]

    assert shares(config) == [0, 0, 0.4]
    config["surface"] |= {"gradients": {}}
    assert shares(config) == [0.4, 0, 0.4]
    config["corpora"]["vectors"] = {"v": {"train": "own"}}
    assert shares(config) == [0.4, 0.4, 0.4]


def test_what_goes_without_saying_need_not_be_said(tmp_path: Path) -> None:
    """The only text, an empty chapter, the atlas, and what a model's config.json tells."""
    (tmp_path / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}', "utf-8")
    config = study(one=ENCODER, two={"from": str(tmp_path)}) | {"surface": None, "battery": {}}
    filled = check(config, SCHEMAS)
    assert filled["surface"]["corpus"] == filled["battery"]["corpus"] == "wiki"
    assert filled["models"]["two"]["kind"] == "decoder"
    assert filled["atlas"]
    assert "atlas" not in check(config | {"atlas": False}, SCHEMAS)


def test_abilities_are_asked_of_the_encoders_that_a_chapter_reads() -> None:
    narrow = ENCODER | {"chapters": ["frames"]}
    config = study("frames", "surface", "probes", one=ENCODER, two=DECODER, three=narrow)
    needed = run_config.abilities(check(config, SCHEMAS), SCHEMAS)
    both = ["probes", "surface"]
    of_one = {"cls": both, "sep": both}
    assert needed == {"one": of_one, "two": {}, "three": {}}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            study("probes", two=DECODER),
            "probes: reads encoders only, and no model that is one takes it; add one, correct "
            "kind or chapters at a model, or remove probes",
        ),
        (
            study("frames", "probes", one=ENCODER, two=DECODER | {"chapters": ["surface"]}),
            "models.two.chapters: 'surface' is not in the study, or reads no decoders; accepted: "
            "atlas, attention, corpora, frames, report",
        ),
        (
            study("surface", "clusters", one=ENCODER | {"chapters": ["clusters"]})
            | {"clusters": {"corpus": "wiki"}},
            "models.one.chapters: clusters needs surface; add it or remove clusters",
        ),
    ],
)
def test_what_cannot_be_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        check(config, SCHEMAS)
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


def test_an_encoder_needs_a_padding_token() -> None:
    with pytest.raises(InputError, match="no padding token"):
        check_kind({"source": {"path": "m"}, "special": {"pad": None}}, "encoder")


@pytest.mark.parametrize("whole", [True, False], ids=["with a head", "the body alone"])
def test_what_predicts_masked_tokens_has_the_weights_of_a_head(whole: bool, tmp_path: Path) -> None:
    """A model tuned for sentence vectors keeps the architecture's name, as MPNet's on PyPI."""
    model = AutoModelForMaskedLM.from_config(ARCHITECTURES["bert"], trust_remote_code=False)
    (model if whole else model.base_model).save_pretrained(tmp_path)
    about = json.loads((tmp_path / "config.json").read_bytes())
    about["architectures"] = ["BertForMaskedLM"]
    (tmp_path / "config.json").write_text(json.dumps(about))
    assert predicts_masked({"path": str(tmp_path)}) is whole
