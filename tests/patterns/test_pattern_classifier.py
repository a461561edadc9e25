"""The classifier of maps: its images, network and cross-validation, contact sheets, and shares."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from sklearn.metrics import f1_score

from tests.attention.builders import card_of, open_cache, write_cache
from tests.core.tiny_models import write_card
from tests.patterns.builders import made_up
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.patterns import contact_sheets, figures, pattern_classifier, pattern_shares
from workflow_scripts.patterns.annotated_maps import (
    CLASSES,
    classify,
    digest_of,
    read_annotations,
    stored_maps,
)
from workflow_scripts.patterns.pattern_network import (
    BATCH,
    SIDE,
    PatternNetwork,
    fit,
    folded,
    predict,
    to_image,
)

ROOT = Path(__file__).parents[2]


def data(n: int = 30) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    maps = [made_up(kind, seed) for seed in range(n) for kind in CLASSES]
    labels = np.tile(np.arange(len(CLASSES)), n)
    groups = np.repeat([f"e{seed}" for seed in range(n)], len(CLASSES))
    return to_image(np.stack(maps)), labels, groups


def test_folding_leaves_what_a_trained_network_predicts() -> None:
    images, labels, _ = data()
    recipe = Recipe(seed=1, epochs=4, batch_size=8, learning_rate=0.003)
    network = fit(images, torch.from_numpy(labels), recipe)
    fast = folded(network.train())
    assert network.training and not fast.training
    assert not any(isinstance(layer, torch.nn.BatchNorm2d) for layer in fast.layers)
    with torch.inference_mode():
        plain = network.eval()(images).softmax(-1).numpy()
    assert plain.std(axis=0).min() > 0.01
    np.testing.assert_allclose(predict(fast, images), plain, atol=1e-5)


def test_cross_validation_learns_and_its_control_does_not() -> None:
    images, labels, groups = data()
    recipe = Recipe(seed=1, epochs=15, batch_size=BATCH, learning_rate=0.003)
    probabilities, fold_of = pattern_classifier.cross_validate(
        images, labels, groups, 3, recipe, "test"
    )
    assert f1_score(labels, probabilities.argmax(1), average="macro") > 0.9
    for group in set(groups):
        assert len(set(fold_of[groups == group])) == 1, "an example in two folds"
    shuffled = np.random.default_rng(0).permutation(labels)
    control, _ = pattern_classifier.cross_validate(images, shuffled, groups, 3, recipe, "test")
    assert f1_score(shuffled, control.argmax(1), average="macro") < 0.4


def test_a_network_that_saw_no_fine_tuned_map() -> None:
    images, labels, _ = data(12)
    recipe = Recipe(seed=1, epochs=40, batch_size=BATCH, learning_rate=0.003)
    tuned = np.arange(len(labels)) >= 40
    # Pretrained labels are of another kind: what is learnt from them is wrong of the others.
    labels[:40] = (labels[:40] + 1) % len(CLASSES)
    given = pattern_classifier.without_fine_tuned(images, labels, tuned, recipe)
    assert np.mean(given == (labels[tuned] + 1) % len(CLASSES)) > 0.8


@pytest.fixture(scope="module")
def cache(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The attention of some made-up examples."""
    folder = tmp_path_factory.mktemp("patterns")
    rng = np.random.default_rng(2)
    words = "the river old city small king was near and by".split()
    examples = [
        Example(f"e{k}", "d", f"f:{k}", tuple(" ".join(rng.choice(words, 5)) for _ in range(2)))
        for k in range(12)
    ]
    write_records(folder / "corpus.jsonl", examples)
    card = write_card(folder, tiny_model_dir)
    return write_cache(folder / "c.h5", card, folder / "corpus.jsonl")


def test_sheets_can_be_filled_in_and_read(cache: Path, tmp_path: Path) -> None:
    contact_sheets.main(
        cache, card_of(cache), tmp_path / "sheets", "tiny", "mrpc", n_maps=70, seed=3
    )
    names = sorted(path.name for path in (tmp_path / "sheets").iterdir())
    assert names == ["annotation.csv", "maps.h5", "sheet-1.png", "sheet-2.png", "sheet-3.png"]
    frame = pd.read_csv(tmp_path / "sheets/annotation.csv", dtype={"class": str})
    assert len(frame) == 70
    assert frame["class"].isna().all()
    assert not frame.duplicated(["example", "layer", "head"]).any()
    frame["class"] = [CLASSES[k % 5] for k in range(70)]
    frame.to_csv(tmp_path / "mine.csv", index=False)
    maps = pattern_classifier.cached_maps(
        tmp_path / "mine.csv", {"tiny/mrpc": (cache, card_of(cache))}
    )
    assert len(maps) == 70
    with open_cache(cache) as stored:
        first = maps[0]
        example = stored[stored.ids.index(first.annotation.example)]
    head = first.annotation.layer, first.annotation.head
    np.testing.assert_array_equal(first.pattern, example.pattern[head])
    assert first.annotation.tokens == digest_of(example.ids)
    rows = read_annotations(tmp_path / "mine.csv")
    for one, other in zip(maps, stored_maps(tmp_path / "sheets/maps.h5", rows[::-1]), strict=True):
        same = {map_.annotation: map_ for map_ in maps}[other.annotation]
        for part in ("pattern", "special", "segment"):
            np.testing.assert_array_equal(getattr(other, part), getattr(same, part))
        assert one.annotation.stage == "pretrained"
    with pytest.raises(InputError, match="tiny/mrpc is not among the caches"):
        pattern_classifier.cached_maps(tmp_path / "mine.csv", {"tiny/rte": (cache, card_of(cache))})


def train_on(annotations: Path, cache: Path) -> dict[str, Path]:
    """Train on annotated maps of the cache; the files that came out, next to the annotations."""
    names = ("classifier", "predictions", "confusion", "maps")
    out = {name: annotations.with_name(name) for name in names}
    settings = {"n_folds": 3, "epochs": 1, "learning_rate": 0.003, "builtin": [], "stored": []}
    caches = {"caches": [cache], "cards": [card_of(cache)], "cache_names": ["tiny/mrpc"]}
    pattern_classifier.main(annotations=[annotations], **caches, **out, **settings)
    return out


def test_a_study_with_annotations_of_its_own(cache: Path, tmp_path: Path) -> None:
    contact_sheets.main(cache, card_of(cache), tmp_path / "sheets", "tiny", "mrpc", n_maps=60)
    frame = pd.read_csv(tmp_path / "sheets/annotation.csv")
    frame["class"] = [CLASSES[k % 5] for k in range(60)]
    frame.to_csv(tmp_path / "mine.csv", index=False)
    out = train_on(tmp_path / "mine.csv", cache)
    predictions = tables.read(out["predictions"])
    assert predictions.groupby("method").size().to_dict() == {
        "network": 60,
        "network, shuffled labels": 60,
        "rules": 60,
    }
    own = ["model", "corpus", "example", "layer", "head"]
    same = predictions[predictions["method"] == "rules"].merge(frame, on=own, validate="1:1")
    assert (same["label"] == same["class"]).all()
    assert (same["group"] == "mrpc/" + same["example"]).all()
    in_fold = predictions.groupby(["method", "group"])["fold"].nunique()
    assert (in_fold == 1).all()
    assert pd.read_csv(out["confusion"])["n"].sum() == 60
    typical = tables.read(out["maps"])
    assert typical.groupby("class")["place"].nunique().eq(3).all()
    read = out["classifier"], [cache], [card_of(cache)]
    pattern_shares.main(*read, tmp_path / "shares", [["mrpc", "pretrained", 0]])
    table = tables.read(tmp_path / "shares")
    sums = table.groupby(["method", "layer", "head"])["share"].sum()
    np.testing.assert_allclose(sums, 1)
    assert set(table["annotated_model"]) == {"tiny"}
    assert set(table["annotated_stage"]) == {"pretrained"}
    for model, named in (("tiny", False), ("uncased", True)):
        title = figures.legend_title(table, model)
        assert ("classified by\na network of tiny's maps" in title) == named


def test_maps_that_come_with_the_workflow(tmp_path: Path) -> None:
    chosen = {}
    for name, n in (("minilm", 60), ("minilm-finetuned", 40)):
        lines = (ROOT / f"annotations/{name}.csv").read_text().splitlines()
        chosen[name] = tmp_path / f"{name}.csv"
        chosen[name].write_text("\n".join(lines[: n + 1]) + "\n")
    out = {name: tmp_path / name for name in ("classifier", "predictions", "confusion", "maps")}
    pattern_classifier.main(
        annotations=[],
        builtin=[chosen["minilm"]],
        stored=[chosen["minilm-finetuned"], ROOT / "annotations/minilm-finetuned.h5"],
        caches=[],
        cards=[],
        cache_names=[],
        **out,
        n_folds=2,
        epochs=1,
        learning_rate=0.003,
    )
    with safe_open(out["classifier"], "pt") as file:
        about = json.loads(file.metadata()["about"])
    assert about["annotated_model"] == "minilm"
    assert about["annotated_stage"] == "pretrained,fine-tuned"
    n = tables.read(out["predictions"]).groupby(["method", "stage"]).size()
    for method in ("network", "rules"):
        assert n[method].to_dict() == {"pretrained": 60, "fine-tuned": 40}
    assert n["network, trained without fine-tuned maps"].to_dict() == {"fine-tuned": 40}


def test_shares_against_single_maps(cache: Path, tmp_path: Path) -> None:
    images, labels, _ = data(6)
    recipe = Recipe(seed=1, epochs=3, batch_size=BATCH, learning_rate=0.003)
    network = fit(images, torch.from_numpy(labels), recipe)
    about = {"annotated_model": "minilm", "annotated_stage": "pretrained,fine-tuned"}
    save_file(network.state_dict(), tmp_path / "classifier", metadata={"about": json.dumps(about)})
    read = tmp_path / "classifier", [cache], [card_of(cache)]
    pattern_shares.main(*read, tmp_path / "shares", [["rte", "fine-tuned", 1]])
    table = tables.read(tmp_path / "shares").set_index(["method", "layer", "head", "class"])
    loaded = PatternNetwork()
    loaded.load_state_dict(load_file(tmp_path / "classifier"))
    with open_cache(cache) as stored:
        examples = list(stored)
    for layer, head in ((0, 0), (2, 3)):
        seen, both = Counter(), Counter()
        for example in examples:
            pattern = example.pattern[layer, head]
            given = int(predict(loaded.eval(), to_image(pattern[None])).argmax())
            seen[CLASSES[given]] += 1
            both[CLASSES[given]] += given == classify(pattern, example.word < 0, example.segment)
        for name in CLASSES:
            row = table.loc[("network", layer, head, name)]
            assert row["share"] == pytest.approx(seen[name] / len(examples))
            assert row["both"] == pytest.approx(both[name] / len(examples))
            assert row["both"] == table.loc[("rules", layer, head, name), "both"]


def test_images_show_roots_of_shares() -> None:
    pattern = np.zeros((2, 64, 64), dtype=np.float32)
    pattern[0, :2, :2], pattern[0, 2:4, :2] = 0.4, 0.1
    pattern[1] = 1 / 64
    images = to_image(pattern)
    assert images.shape == (2, SIDE, SIDE)
    torch.testing.assert_close(images[0, :2, 0], torch.tensor([1.0, 0.5]))
    torch.testing.assert_close(images[1], torch.ones(SIDE, SIDE))
    small = to_image(np.eye(2))
    assert small[0, 0] == 1 and small[0, -1] == 0
