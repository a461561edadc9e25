"""The recipe for a surface measure, as CONTRIBUTING.md states it."""

import re
import runpy
import textwrap
from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.stats.bootstrap import per_head
from workflow_scripts.surface import entropy

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def test_the_recipe_as_written_resamples_articles(tmp_path: Path) -> None:
    """Its code, with the imports of `entropy.py`, on six segments of three articles."""
    section = CONTRIBUTING.read_text(encoding="utf-8").split("\n## A surface measure")[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    articles = ["a", "a", "b", "c", "c", "c"]
    examples = [
        Example(f"s-{number}", article, f"s:{number}", ("a text",))
        for number, article in enumerate(articles)
    ]
    corpus, attention, largest = (tmp_path / name for name in ("s.jsonl", "s.h5", "out.parquet"))
    write_records(corpus, examples)
    patterns = np.random.default_rng(0).dirichlet(np.ones(4), size=(6, 2, 3, 4)).astype(np.float16)
    flat = np.arange(4, dtype=np.int32), np.arange(4, dtype=np.int32), np.zeros(4, np.int8)
    tokens = [Tokens(example.id, *flat, n_words=4) for example in examples]
    card = {"name": "tiny", "weights": "abc"}
    write_card(card, tmp_path / "model.json")
    with CacheWriter(attention, tokens, 2, 3, card) as writer:
        for index, pattern in enumerate(patterns):
            writer.write(index, pattern)
    script = tmp_path / "largest.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    recipe = runpy.run_path(str(script), {**vars(entropy), "__name__": "recipe"})
    recipe["main"](attention, corpus, tmp_path / "model.json", largest, bootstrap=100)
    values = {"all": patterns.max(axis=-1).mean(axis=-1, dtype=np.float64)}
    expected = per_head(values, "query", "largest", 100, 1, articles)
    assert tables.read(largest).equals(expected)
    assert expected["n_documents"].tolist() == [3] * 6
