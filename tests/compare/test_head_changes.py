"""Changes of heads against plain loops and values by hand, and what equal models give."""

from itertools import permutations, product
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.atlas.made_up_tables import MadeUpModel
from tests.core.caches import HEADS, LAYERS, META, random_examples
from workflow_scripts.compare import DIVERGENCE, head_changes
from workflow_scripts.compare.measures import forms
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.patterns import CachedExample
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import Study, Tables
from workflow_scripts.core.measures.one_pass import summed
from workflow_scripts.core.stats.randomisation import MOST_UNITS, sign_flips, swap_sets

LENGTHS = [9, 6, 12, 5, 7, 8]
DOCUMENTS = ["a", "a", "b", "c", "d", "d"]


def text(pattern: np.ndarray, outside: np.ndarray | None = None) -> CachedExample:
    ids = np.arange(pattern.shape[2])
    return CachedExample("t", ids, ids, ids, pattern, outside=outside)


def plain_divergence(p: list[float], q: list[float]) -> float:
    total = 0.0
    for one, other in zip(p, q, strict=True):
        middle = (one + other) / 2
        total += sum(each * log(each / middle) / 2 for each in (one, other) if each > 0)
    return total


@pytest.mark.parametrize("first", [0, 1])
def test_divergences_against_a_loop(first: int) -> None:
    rng = np.random.default_rng(0)
    one, other = rng.dirichlet(np.full(5, 0.3), size=(2, 2, 3, 5)).astype(np.float16)
    one[0, 0, 2] = [1, 0, 0, 0, 0]
    other[0, 1, 2] = [0, 0, 1, 0, 0]
    found = head_changes.divergences(text(one), text(other), first)
    for layer, i, j in product(range(2), range(3), range(3)):
        pairs = zip(one[layer, i, first:], other[layer, j, first:], strict=True)
        rows = [plain_divergence(p.tolist(), q.tolist()) for p, q in pairs]
        assert found[layer, i, j] == pytest.approx(sum(rows) / len(rows), abs=1e-6)
    apart = head_changes.divergences(text(one[:1, :2, 2:3]), text(other[:1, :2, 2:3]), 0)
    assert apart[0, 0, 1] == pytest.approx(log(2))
    assert np.isnan(head_changes.divergences(text(one[..., :1, :]), text(one), 1)).all()


def test_weight_on_no_token_is_a_key() -> None:
    half = np.full((1, 1, 1, 1), 0.5, np.float16)
    found = head_changes.divergences(
        text(half, np.full((1, 1, 1), 0.5, np.float32)),
        text(half * 2, np.zeros((1, 1, 1), np.float32)),
        0,
    )
    assert found.item() == pytest.approx(plain_divergence([0.5, 0.5], [1, 0]), abs=1e-6)


def test_an_assignment_is_the_cheapest_and_finds_shuffled_heads() -> None:
    rng = np.random.default_rng(1)
    cost = rng.random((2, 4, 4))
    match = head_changes.assigned(cost)
    for layer in range(2):
        costs = [cost[layer, list(order), range(4)].mean() for order in permutations(range(4))]
        assert head_changes.cost_of(cost, match)[layer] == pytest.approx(min(costs))
    order = np.array([2, 0, 3, 1])
    shuffled = np.full((6, 1, 4, 4), 0.5) + rng.random((6, 1, 4, 4)) / 10
    shuffled[:, 0, order, range(4)] = 0.1
    match = head_changes.assigned(shuffled.mean(axis=0))
    assert match.tolist() == [order.tolist()]
    units = np.array([0, 0, 1, 1, 2, 3])
    found = head_changes.matching(shuffled, units, match, True, 2000, 1).iloc[-1]
    assert found["tested"] == pytest.approx(0.1)
    assert found["p"] == pytest.approx(1 / 24, abs=0.02)  # all permutations of four heads
    assert found["same_index"] == 0
    assert found["random"] == pytest.approx(shuffled.mean(), abs=0.01)
    index = np.arange(4)[None]
    assert head_changes.matching(shuffled, units, index, False, 200, 1)["p"].iloc[0] > 0.05


def plain_p(differences: np.ndarray) -> float:
    """Share of all signs of units whose sum is as large, one head."""
    sums = [abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=len(differences))]
    return float(np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9))


def test_changes_against_loops() -> None:
    rng = np.random.default_rng(2)
    values = rng.random((2, 6, 1, 3))
    values[1] += [[[0.5, 0, 0]]]
    match = np.array([[1, 0, 2]])
    units = [{"x": summed(each, DOCUMENTS)} for each in values]
    frame = head_changes.changes(*units, match, 500, 100, 1)
    p = []
    for head in range(3):
        row = frame.iloc[head]
        before, after = values[0, :, 0, match[0, head]], values[1, :, 0, head]
        assert row["before"] == pytest.approx(before.mean())
        assert row["change"] == pytest.approx((after - before).mean())
        assert row["ci_low"] <= row["change"] <= row["ci_high"]
        sums = [sum((after - before)[np.array(DOCUMENTS) == name]) for name in "abcd"]
        assert row["p"] == pytest.approx(plain_p(np.array(sums)))
        p.append(row["p"])
    by_hand, largest = {}, 0.0
    for rank, head in enumerate(np.argsort(p, kind="stable")):
        largest = max(largest, min(1, p[head] * (3 - rank)))
        by_hand[head] = largest
    assert frame["p_corrected"].tolist() == pytest.approx([by_hand[head] for head in range(3)])
    assert frame[["n", "n_documents"]].drop_duplicates().to_numpy().tolist() == [[6, 4]]


def test_many_units_flip_random_signs() -> None:
    differences = np.random.default_rng(3).normal(0.2, 1, (MOST_UNITS + 9, 2))
    signs = 1 - 2 * np.concatenate(list(swap_sets(len(differences), 300, 5)))
    for column, p in enumerate(sign_flips(differences, 300, 5)):
        of_head = differences[:, column]
        sums = [abs(sum(map(float.__mul__, row.tolist(), of_head.tolist()))) for row in 1.0 * signs]
        reached = sum(each >= abs(of_head.sum()) - 1e-9 for each in sums)
        assert p == (1 + reached) / 301
    assert sign_flips(np.zeros((40, 1)), 100, 1).tolist() == [1]


def test_holms_p_of_a_twentieth_has_a_tenth_of_it_as_its_error() -> None:
    """Of 20 heads, the first of which has a p of about .05 / 20."""
    differences = stats.norm.ppf((np.arange(40) + 0.5) / 40)[:, None] + 0.51
    p = np.concatenate(
        [sign_flips(differences, head_changes.FLIPS * 20, seed) for seed in range(40)]
    )
    assert 0.04 < 20 * p.mean() < 0.06
    assert p.std(ddof=1) / p.mean() == pytest.approx(0.1, abs=0.03)


def test_the_paired_interval_covers_the_change() -> None:
    """Documents of several texts, alike within: 95% of intervals hold the true change, 0.1."""
    rng, covered = np.random.default_rng(4), []
    match = np.array([[0]])
    for _ in range(300):
        names = np.repeat(np.arange(40), rng.integers(1, 6, 40))
        shared, own = rng.normal(size=40)[names], rng.normal(0.1, 0.3, 40)[names]
        noise = rng.normal(0, 0.1, (2, len(names)))
        before, after = shared + noise[0], shared + own + noise[1]
        units = [{"x": summed(each[:, None, None], names)} for each in (before, after)]
        row = head_changes.changes(*units, match, 300, 100, int(rng.integers(1e6))).iloc[0]
        covered.append(row["ci_low"] <= 0.1 <= row["ci_high"])
        assert row["ci_high"] - row["ci_low"] < 0.4  # that of unpaired texts is larger
    assert 0.9 <= np.mean(covered) <= 0.98


def model(folder: Path, name: str, seed: int = 0, shift: int = 0) -> None:
    """The cache of random attention of a model on LENGTHS, and its card."""
    tokens, _ = random_examples(LENGTHS)
    _, patterns = random_examples(LENGTHS, seed)
    for each in tokens:
        each.ids[:] += shift
    special = {"cls": 1, "sep": 2}
    card = {"name": name, "weights": META["weights"], "special": special, "punctuation": [3]}
    card |= {"n_layers": LAYERS, "n_heads": HEADS, "bidirectional": True}
    write_card(card, folder / f"{name}.json")
    with CacheWriter(folder / f"{name}.h5", tokens, LAYERS, HEADS, META) as writer:
        for index, pattern in enumerate(patterns):
            writer.write(index, pattern)
    examples = [
        Example(each.id, document, "s:1", ("a text",))
        for each, document in zip(tokens, DOCUMENTS, strict=True)
    ]
    write_records(folder / "corpus.jsonl", examples)


def compared(folder: Path, after: str, match: str = "index") -> pd.DataFrame:
    """The table of changes from `one` to another of the models in a folder."""
    names = ["one", after]
    steps = [
        {
            "script": "surface/relative_position.py",
            "input": {"attention": folder / f"{name}.h5", "model": folder / f"{name}.json"}
            | {"corpus": folder / "corpus.jsonl"},
            "output": {"position": folder, "above": folder},
            "params": {"threshold": 0.5, "bootstrap": 100},
        }
        for name in names
    ]
    head_changes.main(
        [folder / f"{name}.h5" for name in names],
        [folder / f"{name}.json" for name in names],
        folder / "corpus.jsonl",
        *(folder / name for name in ("heads.parquet", "heads.csv", "matches.csv")),
        steps=[("attention.", *steps)],
        match=match,
        n_segments=100,
        bootstrap=200,
        permutations=200,
    )
    return tables.read(folder / "heads.parquet")


@pytest.mark.parametrize("match", ["index", "assignment"])
def test_a_model_and_its_copy_do_not_differ(tmp_path: Path, match: str) -> None:
    for name in ("one", "twin"):
        model(tmp_path, name)
    frame = compared(tmp_path, "twin", match)
    assert (frame[["change", "ci_low", "ci_high"]] == 0).all(axis=None)
    tested = frame[frame["measure"] != DIVERGENCE]
    assert len(tested) == 3 * LAYERS * HEADS
    assert (tested[["p", "p_corrected"]] == 1).all(axis=None)
    assert (tested["before"] == tested["after"]).all()
    matches = tables.read_csv(tmp_path / "matches.csv").set_index("layer")
    assert matches.loc["all", "same_index"] == LAYERS * HEADS
    top = tables.read_csv(tmp_path / "heads.csv")
    assert top["changed"].tolist() == [0] * LAYERS * HEADS and top["measure"].isna().all()


def test_other_tokens_are_refused(tmp_path: Path) -> None:
    model(tmp_path, "one")
    model(tmp_path, "other", seed=1, shift=1)
    with pytest.raises(InputError, match=r"^config: compare: one and other have other tokens for"):
        compared(tmp_path, "other")


def test_products_of_two_models(tmp_path: Path) -> None:
    model(tmp_path, "one")
    model(tmp_path, "other", seed=1)
    frame = compared(tmp_path, "other")
    assert (frame.loc[frame["measure"] == DIVERGENCE, "change"] > 0).all()
    top = tables.read_csv(tmp_path / "heads.csv")
    assert top[DIVERGENCE].is_monotonic_decreasing and (top["head"] == top["matched"]).all()


def test_the_atlas_shows_changes_of_measures_that_it_has(tmp_path: Path) -> None:
    made = MadeUpModel(tmp_path, shape=(LAYERS, HEADS))
    made.surface()
    names = [DIVERGENCE, "attention.next", "largest.cls"]
    axes, numbers = {"measure": names}, ("change", "ci_low", "ci_high", "p_corrected")
    frame = made.rows(axes, *numbers, n=6, matched="1-1", compared_with="base")
    made.write("compare/heads.parquet", frame)
    found = Tables(
        {"name": "tiny", "n_layers": LAYERS, "n_heads": HEADS}, made.folder, made.products
    )
    shown = {form.id: form for form in forms(found, Study({"surface": "novels"}, {}))}
    assert list(shown) == ["change.divergence", "change.attention.next"]
    assert shown["change.attention.next"].title == "Change of attention to the next token"
    assert shown["change.attention.next"].rows.table.unit == "points"
