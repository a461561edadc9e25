"""Measures of attention that is not stored: the same as from a cache, bit for bit."""

import weakref
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from transformers import BertConfig, BertModel

from tests.core.tiny_decoders import save_llama
from tests.core.tiny_models import random_tokens, save_bert, write_card
from tests.syntax.builders import random_trees
from workflow_scripts.attention import extract, on_the_fly
from workflow_scripts.core.data.annotations import (
    Document,
    Element,
    FrameLinks,
    Mention,
    Tree,
    to_example,
    write_records,
)
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.extraction import Computed
from workflow_scripts.core.run import job

DRAWS = {"bootstrap": 100}
ANNOTATED = {name: f"{name}.jsonl" for name in ("trees", "mentions", "links")}
# What reads every example: inputs besides those of all, outputs, params.
MEASURES: dict[str, tuple[dict, tuple[str, ...], dict]] = {
    "surface/relative_position": ({}, ("position", "above"), {"threshold": 0.2, **DRAWS}),
    "surface/special_tokens": ({}, ("special_tokens",), DRAWS),
    "surface/same_word": ({}, ("same_word",), DRAWS),
    "surface/entropy": ({}, ("entropy", "table"), {"broad": 1.0, **DRAWS}),
    "clusters/head_distances": ({}, ("distances_table",), {"n_segments": 7, "smoothing": 0.001}),
    "syntax/syntax_scores": (
        {"trees": ANNOTATED["trees"]},
        ("scores", "released", "offsets", "best"),
        {"largest_offset": 2, "released_direction": True, **DRAWS},
    ),
    "coreference/coreference_scores": (
        {"annotation": ANNOTATED["mentions"]},
        ("scores", "rules", "best", "mentions"),
        DRAWS,
    ),
    "frames/frame_scores": (
        {"annotation": ANNOTATED["links"]},
        ("scores",),
        {"permutations": 100, **DRAWS},
    ),
}


def document_of(tree: Tree) -> Document:
    n = len(tree.words)
    spans = [(0, "a", "proper"), (2, "b", "nominal"), (4, "a", "pronoun"), (n - 1, "b", "nominal")]
    mentions = tuple(Mention(k, k + 1, k, chain, kind) for k, chain, kind in spans)
    return Document(tree.id, tree.words, ("",) * n, tree.heads, tree.relations, mentions, "f:1")


def links_of(tree: Tree) -> FrameLinks:
    elements = (Element("Agent", (2,)), Element("Goods", (3, 4)))
    return FrameLinks(tree.id, tree.words, "Buying", (1,), elements, (), "f:1")


@pytest.fixture(scope="module", params=["encoder", "decoder"])
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with all annotations, its cache, and what all scripts make of the cache."""
    folder = tmp_path_factory.mktemp(request.param)
    save = save_bert if request.param == "encoder" else save_llama
    write_card(folder, save(folder / "model"))
    trees = random_trees(11)
    write_records(folder / ANNOTATED["trees"], trees)
    write_records(folder / ANNOTATED["mentions"], map(document_of, trees))
    write_records(folder / ANNOTATED["links"], map(links_of, trees))
    examples = [to_example(tree, f"d{k // 2}") for k, tree in enumerate(trees)]
    write_records(folder / "corpus.jsonl", examples)
    extract.main(
        folder / "model.json",
        folder / "corpus.jsonl",
        folder / "attention.h5",
        max_tokens=100,
        batch_tokens=150,
        device="cpu",
    )
    (folder / "cached").mkdir()
    for step in steps(folder, "cached"):
        module = import_module("workflow_scripts." + step["script"][:-3].replace("/", "."))
        module.main(**job.values_of(module.main, SimpleNamespace(**step, threads=1)))
    return folder


def steps(folder: Path, out: str) -> list[dict[str, Any]]:
    """What the rules of MEASURES would give them, with outputs in the folder `out`."""
    common = {"attention": "attention.h5", "model": "model.json", "corpus": "corpus.jsonl"}
    return [
        {
            "script": f"{name}.py",
            "input": {key: str(folder / file) for key, file in (common | inputs).items()},
            "output": {
                key: str(folder / out / f"{name}.{key}".replace("/", ".")) for key in outputs
            },
            "params": params,
        }
        for name, (inputs, outputs, params) in MEASURES.items()
    ]


def test_all_is_equal_to_what_a_cache_gives(study: Path) -> None:
    (study / "computed").mkdir()
    listed = steps(study, "computed")
    made = [Path(file) for step in listed for file in step["output"].values()]
    card, corpus = str(study / "model.json"), str(study / "corpus.jsonl")
    sources = {str(study / "attention.h5"): {"card": card, "corpus": corpus, "max_tokens": 100}}
    on_the_fly.main(made, listed, sources, True, batch_tokens=150, device="cpu", threads=2)
    for path in made:
        assert path.read_bytes() == (study / "cached" / path.name).read_bytes(), path.name


def computed_by(folder: Path) -> Computed:
    return Computed(
        folder / "corpus.jsonl",
        *on_the_fly.read("cpu", str(folder / "model.json"), str(folder / "corpus.jsonl"), 100),
        batch_tokens=150,
    )


def test_the_reader_gives_what_a_cache_does(study: Path) -> None:
    computed, parts = computed_by(study), []
    with Cache(study / "attention.h5", read_card(study / "model.json")) as cache:
        for name in ("ids", "n_layers", "n_heads", "bidirectional"):
            assert getattr(computed, name) == getattr(cache, name)
        np.testing.assert_array_equal(computed.lengths, cache.lengths)
        computed.each(parts.append)
        assert len(parts) == len(cache) * cache.n_layers
        for part in parts:
            np.testing.assert_array_equal(part.pattern, cache[part.index].pattern[part.layers])
        for index in (3, -1):
            for name in ("pattern", "ids", "word", "segment", "index", "id"):
                expected = getattr(cache[index], name)
                np.testing.assert_array_equal(getattr(computed[index], name), expected)


@pytest.mark.parametrize("n_layers", [2, 8])
def test_memory_does_not_grow_with_layers(n_layers: int) -> None:
    config = BertConfig(
        hidden_size=16, num_attention_heads=4, num_hidden_layers=n_layers, intermediate_size=16
    )
    model = attention.open_attention(BertModel(config).eval())
    computed, kept = Computed(Path("corpus"), model, random_tokens([9, 20, 14]), 40), []
    alive: list[int] = []

    def update(part: CachedExample) -> None:
        alive.append(sum(one() is not None for one in kept))
        kept.append(weakref.ref(part.pattern))

    computed.each(update)
    assert len(alive) == 3 * n_layers
    assert max(alive) <= 1
