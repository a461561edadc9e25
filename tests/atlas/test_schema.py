"""atlas.json is what docs/atlas.schema.json states, and its numbers are those of the tables."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import ValidationError

from tests.atlas.made_up import made_up
from tests.atlas.made_up_tables import MadeUpModel, MadeUpTranslator, declared, written
from tests.atlas.plainly import SCHEMA, as_list, check, read, tables_shown_and_not
from tests.default_study import DEMO, MODEL, RESULTS, needs_current
from tests.parsed_rules import parsed
from workflow_scripts.atlas.atlas_page import PAGE
from workflow_scripts.battery.measures import ROLES


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The atlas of a made-up model with the tables of all chapters, next to it."""
    folder = tmp_path_factory.mktemp("whole")
    model = MadeUpModel(folder)
    model.everything()
    return written(folder, model)


def test_translators_have_heads_of_three_types(tmp_path: Path) -> None:
    translators = [MadeUpTranslator(tmp_path, run) for run in ("1", "10")]
    path = written(tmp_path, MadeUpModel(tmp_path), translators=translators)
    assert check(path) == 2 * (2 * 2 * 3 + 2)
    _, *found = read(path)["models"]
    assert [model["name"] for model in found] == ["translation.1", "translation.10"]
    for model in found:
        titles = [each["title"] for each in model["types"]]
        assert titles == ["Enc-Enc", "Enc-Dec", "Dec-Dec"]
        assert (model["n_layers"], model["n_heads"]) == (4, 3)
        assert [state["name"] for state in model["states"]] == ["trained"]


def test_the_profile_states_measures_that_exist(whole: Path, tmp_path: Path) -> None:
    """Every pattern, and each of its choices, of PARTS in summary.js is of a chapter's measure."""
    of_translator = written(tmp_path, translators=[MadeUpTranslator(tmp_path)])
    first = read(of_translator)["measures"][0]["id"]
    assert first.startswith("translation.head.zero.test.")  # the split that the card states
    ids = [measure["id"] for atlas in (whole, of_translator) for measure in read(atlas)["measures"]]
    ids += [f"role.{role}" for role in ROLES]  # of decoders
    text = (PAGE / "lib/summary.js").read_text(encoding="utf-8")
    (parts,) = re.findall(r"^const PARTS = \[\n(.*?)^\];", text, re.M | re.S)
    patterns = re.findall(r"^  \[/(.+?)/, ", parts, re.M)
    assert len(patterns) == len(parts.splitlines())
    choices = re.compile(r"\((?!\?)([^()]+)\)")
    for pattern in patterns:
        for choice in (choices.findall(pattern) or [""])[0].split("|"):
            one = choices.sub(lambda _, choice=choice: choice, pattern)
            assert any(re.search(one, name) for name in ids), one


def test_every_value_is_that_of_the_table_it_names(whole: Path) -> None:
    assert check(whole) > 130


@pytest.mark.parametrize(
    "chapter", ["surface", "syntax", "coreference", "clusters", "frames", "arguments"]
)
def test_every_chapter_can_be_the_only_one(tmp_path: Path, chapter: str) -> None:
    model = MadeUpModel(tmp_path)
    getattr(model, chapter)()
    assert check(written(tmp_path, model)) > 0


def test_a_study_without_tables_has_a_valid_atlas(tmp_path: Path) -> None:
    path = written(tmp_path, MadeUpModel(tmp_path))
    assert check(path) == 0
    with pytest.raises(ValidationError):
        SCHEMA.validate(read(path) | {"colour": "red"})


@pytest.mark.parametrize("change", ["value", "null"])
def test_a_changed_number_is_found(whole: Path, tmp_path: Path, change: str) -> None:
    """The check above fails where it should."""
    atlas, path = read(whole), tmp_path / "atlas.json"
    changed = [each for each in atlas["measures"] if each[change] is not None]
    first = next((each for each in changed if "pick" in each["source"]), changed[0])
    column = as_list(first[change], len(first["value"]))
    first[change] = [0.123456, *column[1:]]
    path.write_text(json.dumps(atlas), encoding="utf-8")
    with pytest.raises(AssertionError, match=f"{first['id']} {change}"):
        check(path, whole.parent)


def test_the_tables_of_the_default_study() -> None:
    needs_current(DEMO / "atlas.json", "atlas_data")
    assert check(DEMO / "atlas.json") > 100
    _, _, neither = tables_shown_and_not(DEMO / "atlas.json", DEMO)
    assert neither == set()


def test_the_maps_of_a_model_are_taken_over(tmp_path: Path) -> None:
    model = MadeUpModel(tmp_path)
    model.surface()
    whole = made_up(*model.shape, segments=2, states=("pretrained", "sst2.3"))
    maps = model.folder / "atlas/maps.json"
    maps.parent.mkdir()
    content = {key: whole[key] for key in ("segments", "maps")}
    maps.write_text(json.dumps(content), encoding="utf-8")
    path = written(tmp_path, model, maps=[maps])
    check(path)
    atlas = read(path)
    assert {key: atlas[key] for key in content} == content
    titles = {state["name"]: state["title"] for state in atlas["models"][0]["states"]}
    assert titles == {"pretrained": "pretrained", "sst2.3": "fine-tuned on SST-2, seed 3"}


def test_the_maps_of_a_translator_are_taken_over(tmp_path: Path) -> None:
    whole = made_up(2, 3, n_translators=1, hostile=False)
    translator = MadeUpTranslator(tmp_path)
    segments = [each for each in whole["segments"] if each["model"] == "translation.1"]
    names = [name for each in segments for name in each["maps"]["trained"].values()]
    content = {"segments": segments, "maps": {name: whole["maps"][name] for name in names}}
    translator.maps.write_text(json.dumps(content), encoding="utf-8")
    made = [MadeUpModel(tmp_path)]
    path = written(tmp_path, *made, translators=[translator])
    check(path)
    atlas = read(path)
    assert {key: atlas[key] for key in content} == content and len(names) == 6


def test_what_rules_measure_is_what_chapters_declare() -> None:
    """A table that a rule enters is declared, and a declared one is the output of a rule."""
    entered, outputs = set(), set()
    for study in parsed():
        entered |= {"/".join(Path(path).parts[-2:]) for path in study.measured}
        outputs |= {path for rule in study.rules.values() for path in rule.output}
    assert len(entered) > 20
    known = declared()
    assert [file for file in entered if not any(table.at(file) for table in known)] == []
    made = re.compile("|".join(re.sub(r"\\{.*?\\}", ".+", re.escape(path)) for path in outputs))
    names = [f"{RESULTS}/{MODEL}/{re.sub('<.*?>', 'x', table.file)}" for table in known]
    of_study = [name.replace(f"/{MODEL}/", "/", 1) for name in names]
    pairs = zip(names, of_study, strict=True)
    assert [pair for pair in pairs if not any(map(made.fullmatch, pair))] == []
