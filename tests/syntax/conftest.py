"""A study of a random treebank that the tests of this chapter share."""

from pathlib import Path

import pytest

from tests.attention.builders import write_cache
from tests.core.tiny_models import write_card
from tests.syntax.builders import random_trees, run
from workflow_scripts.core.data.annotations import to_example, write_records


@pytest.fixture(scope="package")
def study(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random treebank, its attention cache and its scores."""
    folder = tmp_path_factory.mktemp("syntax")
    write_card(folder, tiny_model_dir)
    trees = random_trees(40)
    write_records(folder / "trees.jsonl", trees)
    write_records(
        folder / "corpus.jsonl", [to_example(tree, f"d{k // 3}") for k, tree in enumerate(trees)]
    )
    write_cache(folder / "cache.h5", folder / "model.json", folder / "corpus.jsonl", 60)
    run(folder, folder / "trees.jsonl", released_direction=True)
    return folder
