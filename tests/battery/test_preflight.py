"""Lengths that no job could read are found before the study runs, each in one line."""

from pathlib import Path
from typing import Any

import pytest

from tests.core.tiny_decoders import POSITIONS, save_llama
from tests.core.tiny_gguf import save_gguf
from workflow_scripts.battery import preflight
from workflow_scripts.battery.needles import haystacks, make_needles
from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.run.findings import ERROR, OK, Findings
from workflow_scripts.corpora.preflight import Start

TEXT = "the river runs through the old town and the people of the town walk to the river. "
EXAMPLES = [Example(str(number), "d", "f:1", (TEXT * (1 + number % 3),)) for number in range(40)]
PARTS = {"sinks": {"n_tokens": 64}, "causal": {"n_tokens": 64}}
SHORT = {"n_needles": 2, "n_tokens": 20}


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llama(tmp_path_factory.mktemp("decoder") / "model", start=True)


def looked_at(
    model: Path, whole: bool = True, examples: list[Example] = EXAMPLES, **changed: Any
) -> dict[str, tuple[str, str]]:
    """State and line of each finding on a study with one decoder and an encoder."""
    battery = {"corpus": "text", "length": 50, **PARTS, "retrieval": SHORT}
    battery |= {"tests": ["sinks", "retrieval", "causal"]} | changed
    config: dict[str, Any] = {"seed": 1, "battery": battery}
    config["models"] = {
        "tiny": {"path": str(model), "kind": "decoder"},
        "encoder": {"path": "no-such", "kind": "encoder"},
        "other": {"path": "no-such", "kind": "decoder", "chapters": ["surface"]},
    }
    config["corpora"] = {"text": {"text": {"n_segments": 1000}}}
    found = Findings()
    found.read["corpora.text.text"] = Start(examples, whole)
    preflight.look(config, model.parent, Network(), found)
    return {row.what: (row.state, row.why) for row in found.rows}


def longest(model: Path, n_tokens: int) -> int:
    """The longest text of the job."""
    tokenizer = models.load_tokenizer(model)
    made = make_needles(2, 1)
    texts = haystacks(EXAMPLES, made, tokenizer, n_tokens, [models.start_token(tokenizer)])
    return max(len(text.ids) for text in texts)


@pytest.fixture
def room(decoder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The decoder has positions for haystacks of 20 tokens alone."""
    positions = longest(decoder, 20)
    read = preflight.weights.read_config

    def longer(directory: Path) -> Any:
        config = read(directory)
        config.max_position_embeddings = positions
        return config

    monkeypatch.setattr(preflight.weights, "read_config", longer)
    return positions


def test_lengths_that_fit(decoder: Path, room: int) -> None:
    length = (room - 1) // 2
    tokens = {"sinks": {"n_tokens": room}, "causal": {"n_tokens": room}}
    found = looked_at(decoder, length=length, **tokens)
    assert {what for what, (state, _) in found.items() if state != OK} == set()
    assert found["battery, tiny"][1] == f"{room} positions"
    assert found["battery.retrieval.n_tokens, tiny"][1] == f"{room} tokens"
    assert len(found) == 6


def test_each_length_that_does_not_fit_is_named(decoder: Path, room: int) -> None:
    more = {"n_tokens": room + 1}
    retrieval = {"n_needles": 2, "n_tokens": 21}
    found = looked_at(decoder, length=room // 2 + 1, sinks=more, causal=more, retrieval=retrieval)
    wrong = {what: why for what, (state, why) in found.items() if state == ERROR}
    limit = f"but tiny has {room} positions; lower it"
    twice, added = room // 2 + 1, room - 20
    assert wrong == {
        "battery.length, tiny": "config: battery.length: a start token and twice "
        f"{twice} tokens, {limit}",
        "battery.sinks.n_tokens, tiny": f"config: battery.sinks.n_tokens: {room + 1} tokens, "
        + limit,
        "battery.causal.n_tokens, tiny": f"config: battery.causal.n_tokens: {room + 1} tokens, "
        + limit,
        "battery.retrieval.n_tokens, tiny": "config: battery.retrieval.n_tokens: 21 tokens and "
        f"{added} of a needle and its question, {limit}",
    }


def test_only_the_tests_that_the_study_has_are_looked_at(decoder: Path) -> None:
    found = looked_at(decoder, length=70, tests=["copying"])
    assert list(found) == ["battery, tiny", "battery.length, tiny"]
    assert found["battery.length, tiny"][0] == ERROR
    assert f"has {POSITIONS} positions" in found["battery.length, tiny"][1]


@pytest.mark.parametrize("n_tokens", [20, 60])
def test_a_corpus_is_too_short_where_the_job_says_so(decoder: Path, n_tokens: int) -> None:
    tokenizer = models.load_tokenizer(decoder)
    what = "battery.retrieval.n_needles, tiny"
    for n_needles in (2, 4, 5, 6, 7, 11, 12, 13):
        retrieval = {"n_needles": n_needles, "n_tokens": n_tokens}
        state, why = looked_at(decoder, examples=EXAMPLES[:12], retrieval=retrieval)[what]
        try:
            haystacks(EXAMPLES[:12], make_needles(n_needles, 1), tokenizer, n_tokens, [0])
            assert state == OK
        except InputError:
            assert state == ERROR
            assert why.startswith(f"config: battery.retrieval.n_needles: {n_needles}, but for tiny")
            assert "the 12 segments of text hold" in why
    assert state == ERROR
    state, _ = looked_at(decoder, whole=False, examples=EXAMPLES[:12], retrieval=retrieval)[what]
    assert state == OK


def test_a_gguf_file_states_its_positions(tmp_path: Path) -> None:
    save_gguf(tmp_path / "tiny.gguf")
    found = looked_at(tmp_path / "tiny.gguf", length=32, tests=["sinks"])
    assert found["battery, tiny"] == (OK, "64 positions")
    assert "has 64 positions" in found["battery.length, tiny"][1]


def test_a_model_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    found = looked_at(tmp_path / "none")
    assert found == {
        "battery, tiny": (OK, "lengths are not looked at before models.tiny can be read")
    }
