"""What battery's scripts give comparisons of models: the means of these are the tables' scores."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from tests.core.tiny_decoders import LLAMA, TEXTS, save_decoder
from tests.core.tiny_models import write_card
from workflow_scripts.battery import copying, first_token_sinks, inputs, random_repeats, retrieval
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_records


def test_means_of_units_are_the_scores_of_tables(tmp_path: Path) -> None:
    config = deepcopy(LLAMA)
    config.max_position_embeddings = 512  # a needle has many bytes
    card = write_card(tmp_path / "attention", save_decoder(config, tmp_path / "model"))
    corpus, sequences, table = (tmp_path / name for name in ("corpus", "sequences", "scores"))
    texts = [f"{TEXTS[n % 2]}. {TEXTS[(n + 1) % 2]}." for n in range(6)]
    documents = ["a", "a", "b", "c", "d", "e"]
    named = zip(documents, texts, strict=True)
    examples = [Example(str(n), name, "", (text,)) for n, (name, text) in enumerate(named)]
    write_records(corpus, examples)
    inputs.main(card, sequences, n_sequences=4, length=10)
    rest = [tmp_path / "table", tmp_path / "others"]
    limits = {"threshold": 0.1, "bootstrap": 100, "device": "cpu"}
    needles = {"n_needles": 3, "n_tokens": 30}
    segments = {"n_segments": 5, "n_tokens": 20}
    random_repeats.main(card, sequences, table, **limits)
    found = {"role": (random_repeats.units(card, sequences), tables.read(table), "score")}
    copying.main(card, sequences, table, rest[0], **limits)
    found["copying"] = copying.units(card, sequences), tables.read(table), "top"
    retrieval.main(card, corpus, table, *rest, **needles, **limits)
    found["retrieval"] = retrieval.units(card, corpus, **needles), tables.read(table), "score"
    first_token_sinks.main(card, corpus, table, *rest, **segments, **limits)
    frame = tables.read(table)
    sinks = first_token_sinks.units(card, corpus, **segments)
    found["sink"] = sinks, frame[frame["first"] == "text"], "attention"
    for units, frame, column in found.values():
        for name, (sums, n) in units.items():
            rows = frame[frame["role"] == name] if len(units) > 1 else frame
            expected = rows.sort_values(["layer", "head"])[column]
            np.testing.assert_allclose((sums.sum(axis=0) / n.sum()).ravel(), expected, atol=1e-6)
    assert found["role"][0].keys() == {"previous", "duplicate", "induction"}
    assert len(sinks["text"][1]) == pytest.approx(4, abs=1)  # documents of the segments
