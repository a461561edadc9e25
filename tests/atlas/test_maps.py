"""The maps of the atlas: what they show, and of what."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from tests.atlas.plainly import bound
from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import HEADS, LAYERS, VOCABULARY, enlarge, tokenizer, write_card
from workflow_scripts.atlas import atlas_maps
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tables import write
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.classifiers import classifier_of, new_classifier

WORDS = "the river flows through an old city and many small towns . a king built it".split()


@pytest.fixture(scope="module")
def inputs(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The inputs of the rule: a corpus, a task, and two models' caches of the task."""
    folder = tmp_path_factory.mktemp("maps")
    rng = np.random.default_rng(1)
    for name, lengths in {"wiki": [30, 20, 25, 18], "sst2": [12, 9, 14]}.items():
        texts = [" ".join(rng.choice(WORDS, size=n)) for n in lengths]
        made = [Example(f"{name}-{k}", f"Title {k}", "f", (t,)) for k, t in enumerate(texts)]
        write_records(folder / f"{name}.jsonl", made)
    rows = [
        {"split": "dev", "id": f"sst2-{k}", "source": "f", "text1": text, "text2": ""}
        for k, text in enumerate(texts)
    ]
    write(pd.DataFrame(rows).assign(label=[1.0, 0.0, 1.0]), folder / "sst2.parquet")
    model = new_classifier(tiny_model_dir, TASKS["sst2"], "pretrained", 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter) * parameter.std())
    enlarge(model).save_pretrained(folder / "tuned")
    tokenizer().save_pretrained(folder / "tuned")
    cards = {"body": write_card(folder, tiny_model_dir)}
    cards["tuned"] = write_card(folder / "tuned-card", folder / "tuned")
    given = {
        "model": cards["body"],
        "attention_caches": [
            write_cache(folder / f"{name}.h5", cards["body"], folder / f"{name}.jsonl")
            for name in ("wiki", "sst2")
        ],
        "drawings": None,
        "kinds": {"wiki": "text", "sst2": "task"},
        "segments": 2,
        "examples": 1,
        "most_tokens": 40,
    }
    tuned = write_cache(folder / "sst2.finetuned.3.h5", cards["tuned"], folder / "sst2.jsonl")
    return given | {
        "texts": [folder / "wiki.jsonl", folder / "sst2.jsonl"],
        "tuned": [tuned],
        "cards": [cards["tuned"]],
        "tables": [folder / "sst2.parquet"],
        "device": "cpu",
        "generated": ["sst2"],
        "tuned_seed": 3,
    }


def run(inputs: dict[str, Any], path: Path, **changes: Any) -> dict[str, Any]:
    atlas_maps.main(**(inputs | changes), maps=path / "maps.json")
    return json.loads((path / "maps.json").read_text(encoding="utf-8"))


def test_maps_are_those_of_the_caches(inputs: dict[str, Any], tmp_path: Path) -> None:
    found = run(inputs, tmp_path)
    assert [segment["id"] for segment in found["segments"]][::2] == ["wiki-1", "wiki-3"]
    named = {"pretrained": (inputs["attention_caches"][1], inputs["model"])}
    named["sst2.3"] = inputs["tuned"][0], inputs["cards"][0]
    (task,) = [segment for segment in found["segments"] if segment["corpus"] == "sst2"]
    assert list(task["maps"]) == list(named)
    for state, (path, card) in named.items():
        with Cache(path, read_card(card)) as cache:
            pattern = cache[int(task["id"].split("-")[1])].pattern.astype(np.float64)
        entry = found["maps"][task["maps"][state]]
        assert task["maps"][state] == f"tiny.{task['id']}.{state}"
        assert entry["shape"] == [LAYERS, HEADS, *[len(task["tokens"])] * 2]
        assert (np.abs(decode(entry) - pattern) <= bound(pattern, entry["largest"]) + 1e-6).all()


def test_tokens_words_and_titles(inputs: dict[str, Any], tmp_path: Path) -> None:
    found = run(inputs, tmp_path)
    first = found["segments"][0]
    with open_cache(inputs["attention_caches"][0]) as cache:
        example = cache[1]
    assert first["tokens"] == [VOCABULARY[index] for index in example.ids]
    assert first["word"] == example.word.tolist() and first["word"][0] == -1
    titles = {segment["corpus"]: segment["title"] for segment in found["segments"][::-1]}
    assert titles["wiki"] == "wiki: Title 1, wiki-1"
    assert titles["sst2"].startswith("sst2, generated: Title ")


def test_the_label_and_the_prediction_are_the_classifiers(
    inputs: dict[str, Any], tmp_path: Path
) -> None:
    """By transformers alone, from the texts of the examples."""
    folder = inputs["tables"][0].parent
    found = run(inputs, tmp_path, examples=3)["segments"]
    classifier = AutoModelForSequenceClassification.from_pretrained(
        folder / "tuned", trust_remote_code=False
    ).eval()
    words = AutoTokenizer.from_pretrained(folder / "tuned", trust_remote_code=False)
    texts = pd.read_parquet(folder / "sst2.parquet")
    names, seen = ["negative", "positive"], []
    for segment in found:
        if segment["corpus"] != "sst2":
            assert "label" not in segment and "predictions" not in segment
            continue
        row = texts.iloc[int(segment["id"].split("-")[1])]
        with torch.no_grad():
            logits = classifier(**words(row["text1"], return_tensors="pt")).logits[0]
        shares = torch.softmax(logits.double(), 0)
        assert segment["label"] == names[int(row["label"])]
        assert list(segment["predictions"]) == ["sst2.3"]
        predicted = segment["predictions"]["sst2.3"]
        assert predicted["label"] == names[int(shares.argmax())]
        assert predicted["probability"] == pytest.approx(float(shares.max()), abs=1e-4)
        seen.append(segment["label"])
    assert sorted(seen) == ["negative", "positive", "positive"]


def test_a_classifier_is_loaded_once(
    inputs: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    monkeypatch.setattr(
        atlas_maps, "classifier_of", lambda *given: loaded.append(given) or classifier_of(*given)
    )
    found = run(inputs, tmp_path, examples=3)["segments"]
    assert sum(segment["corpus"] == "sst2" for segment in found) == 3
    assert len(loaded) == 1


def test_caches_of_other_models_or_texts_are_refused(
    inputs: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="another model"):
        run(inputs, tmp_path, cards=[inputs["model"]])
    other = tmp_path / "other.h5"
    write_cache(other, inputs["cards"][0], inputs["texts"][0])
    with pytest.raises(InputError, match="not those of"):
        run(inputs, tmp_path, tuned=[other])


def test_a_score_has_no_probability(tiny_model_dir: Path, tmp_path: Path) -> None:
    model = enlarge(new_classifier(tiny_model_dir, TASKS["stsb"], "pretrained", 1)).eval()
    model.save_pretrained(tmp_path / "model")
    tokenizer().save_pretrained(tmp_path / "model")
    ids = np.array([2, 7, 8, 3], np.int32)
    example = CachedExample("e", ids, np.array([-1, 0, 1, -1]), np.zeros(4, np.int8), None)
    card = write_card(tmp_path, tmp_path / "model")
    labels = {"e": 2.5}
    found = atlas_maps.outcomes("stsb", "stsb.1", card, labels, [example], torch.device("cpu"))
    with torch.no_grad():
        score = model(input_ids=torch.tensor(ids[None]).long()).logits.item()
    expected = {"label": pytest.approx(score, abs=1e-4), "probability": None}
    assert found == {"e": {"label": 2.5, "predictions": {"stsb.1": expected}}}
    assert json.loads(json.dumps(found)) == found
