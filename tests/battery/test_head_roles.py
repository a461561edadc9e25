"""The jobs of the roles of heads on a tiny decoder: their tables, the figure, and the atlas."""

from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tests.atlas.made_up_tables import MadeUpModel, written
from tests.atlas.plainly import check, read
from tests.core import figure_checks
from tests.core.tiny_decoders import TEXTS, byte_tokenizer, save_llama
from tests.core.tiny_models import write_card
from workflow_scripts.battery import (
    natural_repeats,
    olsson2022_roles,
    random_repeats,
    repeated_sequences,
)
from workflow_scripts.battery.measures import ROLES
from workflow_scripts.core.data.examples import Example, read_examples, write_examples
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.plots import figures


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The paths of a finished chapter, whose threshold every head exceeds."""
    folder = tmp_path_factory.mktemp("battery")
    card = write_card(folder / "attention", save_llama(folder / "model"))
    paths = SimpleNamespace(model=card, folder=folder)
    for name in ("sequences", "random", "roles", "corpus", "table", "svg", "pdf", "png"):
        setattr(paths, name, folder / name)
    texts = [*(f"{one} {two}" for one, two in product(TEXTS, TEXTS)), "no"]
    examples = [Example(str(n), str(n // 2), "", (text,)) for n, text in enumerate(texts)]
    write_examples(paths.corpus, examples)
    repeated_sequences.main(card, paths.sequences, n_sequences=20, length=10)
    random = {"threshold": 0.0, "bootstrap": 100, "device": "cpu"}
    random_repeats.main(card, paths.sequences, paths.random, **random)
    natural = {"max_tokens": 60, "n_segments": 9, "bootstrap": 100, "permutations": 200}
    natural_repeats.main(card, paths.corpus, paths.random, paths.roles, device="cpu", **natural)
    out = {name: getattr(paths, name) for name in ("table", "svg", "pdf", "png")}
    olsson2022_roles.main(paths.roles, card, **out, threshold=0.0)
    return paths


def test_the_sequences_can_be_read_again(study: SimpleNamespace) -> None:
    frame = pd.read_parquet(study.sequences)
    assert frame.groupby("copy").size().to_dict() == {0: 20, 1: 200, 2: 200}
    assert frame.loc[frame["copy"] == 0, "position"].unique().tolist() == [0]
    assert (frame["start"] == "bos").all()
    ids = repeated_sequences.read_sequences(study.sequences)
    first, second = (frame[frame["copy"] == copy]["id"].to_numpy() for copy in (1, 2))
    assert (ids[:, 1:11].ravel() == first).all()
    assert (first == second).all()


def test_nothing_is_left_out_without_a_count(study: SimpleNamespace) -> None:
    """All heads have a row for each role; texts without a query are read, and counted so."""
    random, roles = pd.read_parquet(study.random), pd.read_parquet(study.roles)
    assert len(random) == len(roles) == 3 * 2 * 4
    pd.testing.assert_frame_equal(roles[random.columns], random)
    counts = roles.iloc[0]
    assert (counts["n_read"], counts["n_segments"], counts["n_documents"]) == (5, 4, 2)
    assert 0 < counts["n_queries"] < counts["n_repeats"]


def test_uniform_attention_on_running_text_by_hand(study: SimpleNamespace) -> None:
    """A query at position i sees i + 1 tokens: mean over queries, then over texts."""
    tokenizer = byte_tokenizer()
    examples = read_examples(study.corpus)
    means = []
    for text in tokenize(examples, tokenizer, 60, 128):
        queries = natural_repeats.repeats(text).places.queries.tolist()
        if queries:
            means.append(sum(1 / (query + 1) for query in queries) / len(queries))
    assert len(means) == 4
    uniform = pd.read_parquet(study.roles)["natural_uniform"]
    np.testing.assert_allclose(uniform, sum(means) / 4)


def test_the_table_names_heads_and_what_they_share(study: SimpleNamespace) -> None:
    table = pd.read_csv(study.table)
    roles = pd.read_parquet(study.roles)
    assert len(table) == (roles["score"] > 0).sum()
    for row in table.itertuples():
        layer, head = (int(part) for part in row.head.split("-"))
        assert row.key_value_head == f"{layer}-{(head + 1) // 2}"
        at = (roles["layer"] == layer - 1) & (roles["head"] == head - 1)
        (score,) = roles.loc[at & (roles["role"] == row.role), "score"]
        assert row.score == pytest.approx(score, rel=1e-5)
    assert table["role"].unique().tolist() == list(ROLES)
    assert all(rows["score"].is_monotonic_decreasing for _, rows in table.groupby("role"))


def test_the_atlas_has_the_roles(study: SimpleNamespace, tmp_path: Path) -> None:
    model = MadeUpModel(tmp_path, shape=(2, 4))
    roles = pd.read_parquet(study.roles)
    roles["confirmed"] = (roles["head"] == 1) & (roles["role"] == "induction")
    model.write("battery/roles.parquet", roles)
    path = written(tmp_path, model)
    assert check(path) == 2 * len(ROLES)
    (entry,) = read(path)["models"]
    heads = {badge["title"]: badge["heads"] for badge in entry["badges"]}
    assert heads == {"Previous token": [], "Duplicate token": [], "Induction": [1, 5]}


@pytest.mark.parametrize("shape", [(30, 9), (12, 12), (2, 4), (32, 32)])
def test_maps_are_readable(shape: tuple[int, int]) -> None:
    model = [(layer, head) for layer in range(shape[0]) for head in range(shape[1])]
    rows = [(role, *head) for role in ROLES for head in model]
    frame = pd.DataFrame(rows, columns=["role", "layer", "head"])
    frame = frame.assign(n=20, n_segments=60, n_documents=40, score=np.linspace(0, 1, len(frame)))
    frame["confirmed"] = (frame["role"] == "induction") & (frame["head"] == 1)
    with figures.style():
        figure = olsson2022_roles.draw(frame)
        assert figure_checks.clipped(figure) == []
        assert figure_checks.overlapping(figure) == []
    assert figure.get_figwidth() <= figures.TWO_COLUMNS
    assert [axes.get_title() for axes in figure.axes[:3]][2] == "Induction"
    (dots,) = figure.axes[2].lines
    assert dots.get_xydata().tolist() == [[1, layer] for layer in range(shape[0])]


def test_a_corpus_without_repeats_is_refused(study: SimpleNamespace, tmp_path: Path) -> None:
    write_examples(tmp_path / "corpus", [Example("a", "a", "", ("no",))])
    natural = {"max_tokens": 60, "n_segments": 9, "bootstrap": 100, "permutations": 200}
    paths = (study.model, tmp_path / "corpus", study.random, tmp_path / "roles")
    with pytest.raises(InputError, match=r"no token occurs exactly twice.*of 1 segments"):
        natural_repeats.main(*paths, **natural)
