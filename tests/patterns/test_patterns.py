"""Classes of maps: annotations, rules, the network and its cross-validation, and the shares."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.attention.builders import write_cache
from tests.core.tiny_models import write_card
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.examples import Example, write_examples
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.patterns import contact_sheets, network, pattern_classifier, pattern_shares
from workflow_scripts.patterns import kovaleva2019_patterns as printed
from workflow_scripts.patterns.annotated_maps import COLUMNS, digest_of, read_annotations
from workflow_scripts.patterns.builtin_maps import builtin_maps
from workflow_scripts.patterns.rules import CLASSES, classify, masses
from workflow_scripts.patterns.texts import examples_of

ROOT = Path(__file__).parents[2]
OURS = ROOT / "annotations/minilm.csv"
LENGTH = 12
SPECIAL = np.array([True] + [False] * 4 + [True] + [False] * 5 + [True])
SEGMENT = np.array([0] * 6 + [1] * 6)


def made_up(kind: str, seed: int = 0) -> np.ndarray:
    """A map of a class, with some noise."""
    rng = np.random.default_rng(seed)
    weights = rng.random((LENGTH, LENGTH)) * 0.05
    if "vertical" in kind:
        weights[:, 0] += 2
    if "diagonal" in kind:
        weights += 2 * np.eye(LENGTH, k=-1)
    if kind == "block":
        weights += SEGMENT[:, None] == SEGMENT
        weights[:, SPECIAL] = 0
    if kind == "heterogeneous":
        weights = rng.random((LENGTH, LENGTH)) ** 8
    return weights / weights.sum(axis=1, keepdims=True)


def test_masses_by_hand() -> None:
    pattern = np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.2, 0.5, 0.3, 0.0], [0.4, 0.1, 0.1, 0.4], [0.0, 0.0, 1.0, 0.0]]
    )
    special, segment = np.array([True, False, False, False]), np.array([0, 0, 0, 1])
    columns, diagonal, block = masses(pattern, special, segment)
    assert columns == pytest.approx((1 + 0.2 + 0.4 + 0) / 4)
    assert diagonal == pytest.approx((0 + 0.8 + 0.6 + 1.0) / 4)
    # Among tokens 1 to 3: 0.5 + 0.3 + 0.1 + 0.1 of 2.4 within; 5 of 9 cells are within.
    assert block == pytest.approx(1.0 / 2.4 - 5 / 9)
    assert masses(pattern, special, np.zeros(4))[2] == 0


@pytest.mark.parametrize("kind", CLASSES)
def test_rules_know_clear_cases(kind: str) -> None:
    pattern = np.stack([made_up(kind, seed) for seed in range(4)])
    assert [CLASSES[one] for one in classify(pattern, SPECIAL, SEGMENT)] == [kind] * 4


def write(path: Path, rows: list[tuple], header: tuple = COLUMNS) -> Path:
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


ROW = ("m", "c", "e", 0, 1, "block", "12345678")


@pytest.mark.parametrize(
    ("rows", "header", "words"),
    [
        ([(*ROW[:5], "blok", "1")], COLUMNS, r"a.csv:2: class 'blok' is unknown"),
        ([(*ROW[:5], "", "1")], COLUMNS, r"a.csv:2: class ''"),
        ([ROW, ROW], COLUMNS, r"a.csv:3: this map stands in line 2"),
        ([("m", "c", "e", -1, 1, "block", "1")], COLUMNS, r"a.csv:2: layer and head"),
        ([ROW[:6]], COLUMNS, r"a.csv:2: the row needs 7"),
        ([ROW], COLUMNS[:6], r"a.csv:1: the columns must be"),
        ([], COLUMNS, "no annotated maps"),
    ],
)
def test_a_wrong_annotation_is_named(tmp_path: Path, rows: list, header: tuple, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_annotations(write(tmp_path / "a.csv", rows, header))


def test_our_annotations_are_enough() -> None:
    rows = read_annotations(OURS)
    counts = Counter(CLASSES[one.label] for one in rows)
    assert len(rows) >= 400
    assert min(counts[name] for name in CLASSES) >= 30
    assert len({one.example for one in rows}) >= 80


def test_our_maps_are_made_anew() -> None:
    rows = [one for one in read_annotations(OURS) if one.example < "pairs-003"]
    rows += [one for one in read_annotations(OURS) if one.example == "reviews-000"]
    found = builtin_maps(rows)
    assert len(found) == len(rows)
    for one in found:
        np.testing.assert_allclose(one.pattern.sum(axis=-1), 1, atol=1e-5)
        assert one.special[0] and one.special[-1]
        two = one.annotation.corpus == "pairs"
        assert set(one.segment) == ({0, 1} if two else {0})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": "00000000"}, "other tokens than were annotated"),
        ({"example": "pairs-999"}, "pairs has no example pairs-999"),
        ({"head": 12}, "no layer 0, head 12"),
        ({"corpus": "novels"}, "'novels' is unknown"),
        ({"model": "bert"}, "model 'bert'"),
    ],
)
def test_annotations_of_something_else_are_refused(
    tmp_path: Path, change: dict, words: str
) -> None:
    first = pd.read_csv(OURS, dtype=str).iloc[0].to_dict() | {"layer": 0, "head": 1} | change
    path = write(tmp_path / "a.csv", [tuple(first[name] for name in COLUMNS)])
    with pytest.raises(InputError, match=words):
        builtin_maps(read_annotations(path))


def test_texts_are_the_same_every_time() -> None:
    for corpus, n in (("pairs", 60), ("reviews", 40)):
        examples = examples_of(corpus)
        assert len(examples) == n == len({one.texts for one in examples})
        assert examples == examples_of(corpus)
        assert {len(one.texts) for one in examples} == {2 if corpus == "pairs" else 1}


def test_images_show_roots_of_shares() -> None:
    pattern = np.zeros((2, 64, 64), dtype=np.float32)
    pattern[0, :2, :2], pattern[0, 2:4, :2] = 0.4, 0.1
    pattern[1] = 1 / 64
    images = network.to_image(pattern)
    assert images.shape == (2, network.SIDE, network.SIDE)
    torch.testing.assert_close(images[0, :2, 0], torch.tensor([1.0, 0.5]))
    torch.testing.assert_close(images[1], torch.ones(network.SIDE, network.SIDE))
    small = network.to_image(np.eye(2))
    assert small[0, 0] == 1 and small[0, -1] == 0


def data(n: int = 30) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    maps = [made_up(kind, seed) for seed in range(n) for kind in CLASSES]
    labels = np.tile(np.arange(len(CLASSES)), n)
    groups = np.repeat([f"e{seed}" for seed in range(n)], len(CLASSES))
    return network.to_image(np.stack(maps)), labels, groups


def test_the_network_has_eight_convolutions() -> None:
    layers = [one for one in network.PatternNetwork().modules() if isinstance(one, torch.nn.Conv2d)]
    assert len(layers) == 8


def test_cross_validation_learns_and_its_control_does_not() -> None:
    images, labels, groups = data()
    recipe = Recipe(seed=1, epochs=15, batch_size=network.BATCH, learning_rate=0.003)
    probabilities, fold_of = pattern_classifier.cross_validate(
        images, labels, groups, 3, recipe, "test"
    )
    scores = pattern_classifier.scores_of("network", labels, probabilities.argmax(1), fold_of)
    assert min(one["macro_f1"] for one in scores) > 0.9
    assert sum(one["n"] for one in scores) == len(labels)
    for group in set(groups):
        assert len(set(fold_of[groups == group])) == 1, "an example in two folds"
    shuffled = np.random.default_rng(0).permutation(labels)
    control, folds = pattern_classifier.cross_validate(images, shuffled, groups, 3, recipe, "test")
    chance = pattern_classifier.scores_of("control", shuffled, control.argmax(1), folds)
    assert np.mean([one["macro_f1"] for one in chance]) < 0.4


def test_training_is_the_same_for_a_seed() -> None:
    images, labels, _ = data(4)
    one, other = (
        network.fit(images, torch.from_numpy(labels), Recipe(5, 2, 32, 0.003)).state_dict()
        for _ in range(2)
    )
    assert all(torch.equal(one[key], other[key]) for key in one)


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
    write_examples(folder / "corpus.jsonl", examples)
    card = write_card(folder, tiny_model_dir)
    return write_cache(folder / "c.h5", card, folder / "corpus.jsonl")


def test_sheets_can_be_filled_in_and_read(cache: Path, tmp_path: Path) -> None:
    contact_sheets.main(cache, tmp_path / "sheets", "tiny", "mrpc", n_maps=70, seed=3)
    names = sorted(path.name for path in (tmp_path / "sheets").iterdir())
    assert names == ["annotation.csv", "sheet-1.png", "sheet-2.png", "sheet-3.png"]
    frame = pd.read_csv(tmp_path / "sheets/annotation.csv", dtype={"class": str})
    assert len(frame) == 70
    assert frame["class"].isna().all()
    assert not frame.duplicated(["example", "layer", "head"]).any()
    frame["class"] = [CLASSES[k % 5] for k in range(70)]
    frame.to_csv(tmp_path / "mine.csv", index=False)
    found = pattern_classifier.cached_maps(tmp_path / "mine.csv", {"tiny/mrpc": cache})
    assert len(found) == 70
    with Cache(cache) as stored:
        one = found[0]
        example = stored[stored.ids.index(one.annotation.example)]
    place = one.annotation.layer, one.annotation.head
    np.testing.assert_array_equal(one.pattern, example.pattern[place])
    assert one.annotation.tokens == digest_of(example.ids)
    with pytest.raises(InputError, match="tiny/mrpc is not among the caches"):
        pattern_classifier.cached_maps(tmp_path / "mine.csv", {"tiny/rte": cache})


def train_on(annotations: Path, cache: Path) -> dict[str, Path]:
    """Train on annotated maps of the cache; the files that came out, beside the annotations."""
    names = ("classifier", "folds", "confusion", "maps")
    out = {name: annotations.with_name(name) for name in names}
    settings = {"n_folds": 3, "epochs": 1, "learning_rate": 0.003}
    caches = {"caches": [cache], "cache_names": ["tiny/mrpc"]}
    pattern_classifier.main(annotations=[annotations], **caches, **out, builtin=False, **settings)
    return out


def test_a_study_with_annotations_of_its_own(cache: Path, tmp_path: Path) -> None:
    contact_sheets.main(cache, tmp_path / "sheets", "tiny", "mrpc", n_maps=60)
    frame = pd.read_csv(tmp_path / "sheets/annotation.csv")
    frame["class"] = [CLASSES[k % 5] for k in range(60)]
    frame.to_csv(tmp_path / "mine.csv", index=False)
    out = train_on(tmp_path / "mine.csv", cache)
    folds = tables.read(out["folds"])
    assert set(folds["method"]) == {"network", "network, shuffled labels", "rules"}
    assert pd.read_csv(out["confusion"])["n"].sum() == 60
    typical = tables.read(out["maps"])
    assert typical.groupby("class")["place"].nunique().eq(3).all()
    pattern_shares.main(
        out["classifier"], [cache], tmp_path / "shares", [["mrpc", "pretrained", 0]]
    )
    table = tables.read(tmp_path / "shares")
    sums = table.groupby(["method", "layer", "head"])["share"].sum()
    np.testing.assert_allclose(sums, 1)
    both = printed.shares_table(table)
    np.testing.assert_allclose(both[list(CLASSES)].sum(axis=1), 100)
    summary = printed.classifier_table(folds).set_index("method")
    assert summary.loc["rules", "macro_f1_mean"] == pytest.approx(
        folds[folds["method"] == "rules"]["macro_f1"].mean()
    )


def test_shares_against_single_maps(cache: Path, tmp_path: Path) -> None:
    images, labels, _ = data(6)
    fitted = network.fit(images, torch.from_numpy(labels), Recipe(1, 3, 32, 0.003))
    save_file(fitted.state_dict(), tmp_path / "classifier")
    pattern_shares.main(
        tmp_path / "classifier", [cache], tmp_path / "shares", [["rte", "fine-tuned", 1]]
    )
    table = tables.read(tmp_path / "shares").set_index(["method", "layer", "head", "class"])
    loaded = network.PatternNetwork()
    loaded.load_state_dict(load_file(tmp_path / "classifier"))
    with Cache(cache) as stored:
        examples = list(stored)
    for layer, head in ((0, 0), (2, 3)):
        seen = Counter()
        for example in examples:
            image = network.to_image(example.pattern[layer, head][None])
            seen[CLASSES[int(network.predict(loaded.eval(), image).argmax())]] += 1
        for name in CLASSES:
            found = table.loc[("network", layer, head, name), "share"]
            assert found == pytest.approx(seen[name] / len(examples))


def test_too_few_maps_of_a_class(cache: Path, tmp_path: Path) -> None:
    contact_sheets.main(cache, tmp_path / "sheets", "tiny", "mrpc", n_maps=20)
    frame = pd.read_csv(tmp_path / "sheets/annotation.csv").assign(**{"class": "block"})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(InputError, match="0 annotated maps are vertical; annotate more"):
        train_on(tmp_path / "mine.csv", cache)
