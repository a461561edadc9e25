"""The Python of the pages runs: on small made-up files, and on the default study where it is."""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModel, AutoModelForSequenceClassification, BertConfig

from tests.atlas.made_up import made_up
from tests.core.tiny_models import random_tokens, tokenizer, write_card
from tests.core.tiny_translators import save
from tests.default_study import DEMO, MODEL, RESULTS, ROOT, needs, needs_current
from tests.documentation.blocks import Block, of
from workflow_scripts.atlas.atlas_page import build
from workflow_scripts.core.data import cards
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.measures.badges import Badge
from workflow_scripts.core.measures.forms import Table
from workflow_scripts.surface import measures, relative_position

LAYERS, HEADS = 6, 12  # of the default model, whose heads the pages name
CONFIG = BertConfig(
    num_hidden_layers=LAYERS,
    num_attention_heads=HEADS,
    hidden_size=2 * HEADS,
    intermediate_size=32,
    vocab_size=128,
)
CACHE = Path(f"{RESULTS}/{MODEL}/attention/wikipedia.h5")
TRANSLATOR = "Helsinki-NLP/opus-mt-tc-big-en-fr"
RECIPES = "CONTRIBUTING.md"  # code of a chapter's files


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_a_block_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if block.page == RECIPES:
        return runs_in_a_chapter(block.text)
    prepare, check = PYTHON[block.page]
    check(run(block.text, prepare()))


@pytest.mark.parametrize("block", [b for b in of("python") if RESULTS in b.text], ids=str)
def test_a_block_runs_on_the_default_study(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(DEMO / "atlas.html", ROOT / CACHE, ROOT / CACHE.with_name("model.json"))
    needs_current(DEMO / "atlas.json", "atlas_data")
    monkeypatch.chdir(ROOT)
    _, check = PYTHON[block.page]
    check(run(block.text, {}))


def a_classifier() -> dict[str, Any]:
    """A model and examples."""
    options = {"attn_implementation": "eager"}
    model = AutoModelForSequenceClassification.from_config(
        CONFIG, **options, trust_remote_code=False
    ).eval()
    return {"model": model, "tokens": random_tokens((5, 7))}


def an_atlas() -> dict[str, Any]:
    """An atlas, and the model that its card names."""
    atlas = made_up(LAYERS, HEADS, hostile=False)
    folder = Path(RESULTS)
    card = folder / atlas["models"][0]["name"] / "attention"
    card.mkdir(parents=True)
    AutoModel.from_config(CONFIG, trust_remote_code=False).save_pretrained("tiny")
    tokenizer().save_pretrained("tiny")
    write_card(card, Path("tiny"))
    (folder / "atlas.html").write_text(build(atlas), encoding="utf-8")
    (folder / "atlas.json").write_text(json.dumps(atlas), encoding="utf-8")
    return {}


def a_cache() -> dict[str, Any]:
    """The attention of eight segments."""
    write_cache(CACHE, examples=8)
    return {}


def a_translator() -> dict[str, Any]:
    """A translator of the hub, where its name is a folder."""
    save(Path(TRANSLATOR), "marian")
    return {}


def write_cache(path: Path, examples: int) -> None:
    """Uniform attention over four pieces of three words."""
    path.parent.mkdir(parents=True)
    flat = np.arange(4, dtype=np.int32), np.array([0, 1, 1, 2], np.int32), np.zeros(4, np.int8)
    tokens = [Tokens(f"wikipedia-{number}", *flat, n_words=3) for number in range(examples)]
    card = {"name": MODEL, "weights": "abc"}
    cards.write_card(card, path.with_name("model.json"))
    with CacheWriter(path, tokens, LAYERS, HEADS, card) as writer:
        for index in range(examples):
            writer.write(index, np.full((LAYERS, HEADS, 4, 4), 0.25, np.float16))


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """The names after code has run."""
    exec(compile(code, "page", "exec"), names)  # noqa: S102 - the pages' own code
    return names


def holds_weights(found: dict[str, Any]) -> None:
    """What a block has read is attention, the last of its dimensions the keys."""
    maps = found.get("weights", found.get("words"))
    assert maps.shape[-1] == maps.shape[-2]
    np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=0.1)


def holds_logits(found: dict[str, Any]) -> None:
    """Of two examples and two labels, with each head disabled."""
    assert found["logits"].shape == (LAYERS * HEADS, 2, 2)


def holds_files(found: dict[str, Any]) -> None:
    """The weights of a model have been written."""
    assert list(Path(found["folder"]).glob("*.safetensors"))


def runs_in_a_chapter(code: str) -> None:
    """The recipe's code, where it says that it belongs: tests/surface/test_recipe.py has values."""
    if "def main" in code:
        names = run(code, dict(vars(relative_position)))
        one = np.array([[[[0.25, 0.75], [0.5, 0.5]]]])
        assert names["largest_weight"](one).tolist() == [[0.625]]
        return
    if "def badges" in code:
        weights = Table("surface/weights.parquet", "", "largest")
        names = run(code, dict(vars(measures)) | {"Badge": Badge, "WEIGHTS": weights})
        (badge,) = names["badges"]([weights], None)
        assert (badge.mark, badge.table) == ("W", weights)
        return
    table, _, forms = code.partition("if WEIGHTS in found:")
    body = textwrap.indent(f"if WEIGHTS in found:{forms}", "    ")
    names = dict(vars(measures)) | {"over": "over 300 segments"}
    names = run(f"{table}\ndef forms(found):\n{body}", names)
    (form,) = names["forms"]([names["WEIGHTS"]])
    assert (form.id, form.unit) == ("weights.all", "%")


# Of each page with code: what writes the files here that it reads, and gives the names that it
# expects; and what checks the names after a block has run.
PYTHON: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[dict[str, Any]], None]]] = {
    "docs/ablation-engine.md": (a_classifier, holds_logits),
    "docs/atlas.md": (an_atlas, holds_weights),
    "docs/cache.md": (a_cache, holds_weights),
    "docs/data.md": (a_translator, holds_files),
}
