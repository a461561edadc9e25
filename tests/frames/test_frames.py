"""Attention along links, against plain loops, and along their controls, by hand and planted."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import write_card
from tests.frames.test_frame_filters import framenet, run
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Element, FrameLinks, frame_heads, read_links
from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.core.stats.randomisation import matched_p_values
from workflow_scripts.frames import (
    figures,
    frame_drawings,
    frame_scores,
    measures,
)

DIRECTIONS = ("either", "from predicate", "to predicate")


def links_in(text: str, target: list[int], *elements: list[int], others: tuple = ()) -> FrameLinks:
    core, rest = (
        tuple(Element("", tuple(words)) for words in items) for items in (elements, others)
    )
    return FrameLinks("a", tuple(text.split()), "", tuple(target), core, rest, "by hand")


def test_controls_by_hand() -> None:
    #                 0   1   2     3     4     5   6  7   8    9   10
    links = links_in("The man had often eaten bread , at home today .", [4], [0, 1], [5])
    agent, theme = links.elements
    # By one place it joins man and bread; then, by two, five or six, it holds a comma.
    places = [(place.element, place.target) for place in frame_scores.controls(links, agent)]
    assert places == [((3, 4), (7,)), ((4, 5), (8,))]
    # The and man are of one element, eaten and bread are linked; 6 and 10 are punctuation.
    places = [(*place.element, *place.target) for place in frame_scores.controls(links, theme)]
    assert places == [(2, 1), (3, 2), (4, 3), (8, 7), (9, 8)]
    # Elements that are not core are of the frame, too: home and today.
    links = links_in("The man had often eaten bread , at home today .", [4], [5], others=([8, 9],))
    places = [(*p.element, *p.target) for p in frame_scores.controls(links, links.elements[0])]
    assert places == [(1, 0), (2, 1), (3, 2), (4, 3), (8, 7)]


def made_up(links: FrameLinks, rng: np.random.Generator, kind: str) -> np.ndarray:
    """Attention among words [query, key] of a head that looks three words back, or along links."""
    n = len(links.words)
    weights = rng.uniform(0, 0.02, (n, n))
    if kind == "nearby":
        weights[np.arange(3, n), np.arange(n - 3)] += rng.uniform(0.6, 0.8, n - 3)
    if kind == "linking":
        for element in links.elements:
            weights[links.target[0], element.words[0]] += rng.uniform(0.05, 0.2)
    return weights


def test_a_head_that_looks_nearby_does_not_link() -> None:
    """It has most attention between linked words, which are three words apart, and no more."""
    rng = np.random.default_rng(1)
    kinds = ["nearby", "linking", *["noise"] * 10]
    results = []
    for _ in range(60):
        start = int(rng.integers(0, 4))
        text = " ".join("abcdefghijkl"[: int(rng.integers(9, 12))])
        links = links_in(text, [start + 3], [start])
        pattern = np.stack([made_up(links, rng, kind) for kind in kinds])[None]
        word = np.arange(len(links.words))
        example = CachedExample("a", word, word, np.zeros_like(word), pattern)
        results.append(frame_scores.compare(example, links))
    documents = [str(number) for number in range(60)]
    frame = frame_scores.comparison(results, documents, 999, 1999, 1)
    either = frame[frame["direction"] == "either"].set_index("head")
    assert either["linked"].idxmax() == 0
    assert either.loc[0, "p_corrected"] > 0.05
    assert either.loc[0, "difference_low"] < 0 < either.loc[0, "difference_high"]
    assert either.loc[1, "p_corrected"] < 0.02
    assert frame_heads(frame)["head"].tolist() == [1]
    assert (
        frame[frame["direction"] == "to predicate"].set_index("head").loc[1, "p_corrected"] > 0.05
    )


@pytest.fixture(scope="module")
def study(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frames")
    write_card(folder, tiny_model_dir)
    run(folder, {"path": str(framenet(folder / "fn"))})
    write_cache(folder / "attention.h5", folder / "model.json", folder / "sentences")
    paths = {"attention": folder / "attention.h5", "model": folder / "model.json"}
    paths |= {"annotation": folder / "annotation"}
    scores = folder / "scores"
    read = {"corpus": folder / "sentences", "scores": scores}
    frame_scores.main(**paths, **read, bootstrap=100, permutations=500)
    frame_drawings.main(**paths, scores=scores, drawings=folder / "drawings", percentile=80)
    printed = {"table": folder / "table", "controls": folder / "controls"}
    figures.kovaleva2019_frames(scores, **printed, percentile=80, generated=False)
    return folder


def sentences(study: Path) -> list[tuple[CachedExample, FrameLinks]]:
    with open_cache(study / "attention.h5") as cache:
        return list(zip(cache, read_links(study / "annotation"), strict=True))


def pairs_of(example: CachedExample, target: tuple, element: tuple, direction: str) -> list:
    """The pairs of tokens, query and key, of a link's words."""
    out = [(a, b) for a in target for b in element]
    words = {"from predicate": out, "to predicate": [(b, a) for a, b in out]}
    words["either"] = words["from predicate"] + words["to predicate"]
    tokens = {
        w: [k for k, word in enumerate(example.word) if word == w] for w in {*target, *element}
    }
    return [[(a, b) for a in tokens[p] for b in tokens[q]] for p, q in words[direction]]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_scores_against_a_loop(study: Path, direction: str) -> None:
    scores = tables.read(study / "scores")
    scores = scores[scores["direction"] == direction].set_index(["layer", "head"])
    for layer, head in ((0, 0), (2, 1)):
        means = []
        for example, links in sentences(study):
            most = [
                max(
                    float(example.pattern[layer, head, a, b])
                    for tokens in pairs_of(example, links.target, element.words, direction)
                    for a, b in tokens
                )
                for element in links.elements
            ]
            means.append(sum(most) / len(most))
        row = scores.loc[(layer, head)]
        assert row["attention"] == pytest.approx(np.mean(means), abs=1e-6)
        assert row["n"] == 6
        assert row["n_documents"] == 1  # all are of one lexical unit


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_links_and_controls_against_a_loop(study: Path, direction: str) -> None:
    scores = tables.read(study / "scores")
    scores = scores[scores["direction"] == direction].set_index(["layer", "head"])
    split = False

    def most(example: CachedExample, target: tuple, element: tuple, layer: int, head: int) -> float:
        weights = example.pattern[layer, head].astype(float)
        tokens = pairs_of(example, target, element, direction)
        return max(np.mean([weights[a, b] for a, b in pairs]) for pairs in tokens)

    for layer, head in ((0, 0), (2, 1)):
        linked, control, n_links = [], [], 0
        for example, links in sentences(study):
            split |= len(set(example.word)) < len(example.word) - 1
            ours, theirs = [], []
            for element in links.elements:
                places = frame_scores.controls(links, element)
                if places:
                    ours.append(most(example, links.target, element.words, layer, head))
                    theirs.append(np.mean([most(example, *place, layer, head) for place in places]))
            if ours:
                linked.append(np.mean(ours))
                control.append(np.mean(theirs))
                n_links += len(ours)
        row = scores.loc[(layer, head)]
        assert row["linked"] == pytest.approx(np.mean(linked), abs=1e-5)
        assert row["control"] == pytest.approx(np.mean(control), abs=1e-5)
        assert row["difference"] == pytest.approx(row["linked"] - row["control"], abs=1e-6)
        assert row["n_compared"] == len(linked) < 6
        assert row["links_compared"] == n_links
    assert split  # words of several tokens are among them


def test_a_comparison_by_hand() -> None:
    """Two sentences of one lexical unit, the second with two links, and one of another unit."""
    rng = np.random.default_rng(1)
    links = [rng.random((places, 3, 2, 3)) for places in (2, 3, 4, 2)]
    compared = [[links[0]], links[1:3], [links[3]]]
    frame = frame_scores.comparison(compared, ["lu1", "lu1", "lu2"], 200, 500, 1)
    assert frame["n_compared"].unique() == [3]
    assert frame["n_documents_compared"].unique() == [2]
    assert frame["links_compared"].unique() == [4]
    weights = np.array([1 / 3, 1 / 6, 1 / 6, 1 / 3])
    p, corrected = matched_p_values([link.reshape(-1, 3, 6) for link in links], weights, 500, 1)
    for row in frame.itertuples():
        number, head = DIRECTIONS.index(row.direction), 3 * row.layer + row.head
        of_link = [link[:, number, row.layer, row.head] for link in links]
        linked = sum(w * values[0] for w, values in zip(weights, of_link, strict=True))
        control = sum(w * values[1:].mean() for w, values in zip(weights, of_link, strict=True))
        assert row.linked == pytest.approx(linked)
        assert row.control == pytest.approx(control)
        assert row.difference == pytest.approx(linked - control)
        assert row.p == p[number, head]
        assert row.p_corrected == corrected[number, head]
        # Sampled whole, the units give three samples: the first twice, both, the second twice.
        means = [values[0] - values[1:].mean() for values in of_link]
        units = [means[0] + (means[1] + means[2]) / 2, means[3]]
        ends = sorted([units[0] / 2, units[1]])
        assert (row.difference_low, row.difference_high) == pytest.approx(tuple(ends))


def test_tables(study: Path) -> None:
    scores = tables.read(study / "scores")
    table, controls = pd.read_csv(study / "table"), pd.read_csv(study / "controls")
    for direction in DIRECTIONS:
        values = scores[scores["direction"] == direction]["attention"]
        rows = table[table["direction"] == direction]
        assert len(rows) == (values > np.percentile(values, 80)).sum() > 0
        assert (rows["attention"] > rows["threshold"]).all()
        assert rows["count_fixed"].unique() == [len(rows)]
        assert rows["attention"].is_monotonic_decreasing
        assert controls[controls["direction"] == direction]["difference"].is_monotonic_decreasing
    of_paper = table.groupby("direction")["paper"].unique()
    assert of_paper["either"] == ["0.201 and 0.209"]
    assert table[table["direction"] != "either"]["paper"].isna().all()
    (study / "frames").mkdir()
    tables.write(scores, study / "frames/scores.parquet")
    kinds = measures.columns(TableSet([study / "frames/scores.parquet"]), {})
    listed = controls[controls["direction"] == "either"].set_index("head")["frame_head"]
    assert listed[head_labels(kinds)].tolist() == kinds["frame_head"].tolist()
