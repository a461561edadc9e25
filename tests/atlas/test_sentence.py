"""Sentences of one's own on a study's page: the file that keeps them, and their maps."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from tests.core.tiny_models import HEADS, LAYERS, write_card
from workflow_scripts.atlas import sentence, sentence_maps
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.errors import InputError

TEXTS = ["the king built a town .", "the river is old"]


def test_maps_are_those_of_a_forward_pass(tmp_path: Path, tiny_model_dir: Path) -> None:
    """Of each line, by the library's eager attention; the last line comes first."""
    file, maps = tmp_path / "sentences.txt", tmp_path / "maps.json"
    file.write_text(f"{TEXTS[0]}\n\n{TEXTS[1]}\n", encoding="utf-8")
    sentence_maps.main(write_card(tmp_path, tiny_model_dir), file, maps, device="cpu")
    content = json.loads(maps.read_text(encoding="utf-8"))
    assert [segment["id"] for segment in content["segments"]] == ["own-2", "own-1"]
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_dir, trust_remote_code=False)
    model = AutoModel.from_pretrained(
        tiny_model_dir, attn_implementation="eager", trust_remote_code=False
    ).eval()
    for segment, text in zip(content["segments"], reversed(TEXTS), strict=True):
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            expected = torch.stack(model(**inputs, output_attentions=True).attentions)[:, 0]
        found = decode(content["maps"][segment["maps"]["pretrained"]])
        assert found.shape[:2] == (LAYERS, HEADS)
        np.testing.assert_allclose(found, expected.numpy(), atol=4e-3)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a finished study, in whose folder the test runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/s").mkdir(parents=True)
    (tmp_path / "results/s/atlas.html").touch()
    (tmp_path / "mine.yaml").write_text("study: s\nmodels: {}\n", encoding="utf-8")
    return Path("mine.yaml")


@pytest.mark.parametrize("fails", [False, True])
def test_texts_are_kept_where_the_page_is_built(
    study: Path, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Path("results/s/sentences.txt")
    while_run: list[str] = []

    def run(command: list[str]) -> Any:
        assert command[-2:] == ["--", "results/s/atlas.html"]
        while_run.append(kept.read_text(encoding="utf-8"))
        return subprocess.CompletedProcess(command, int(fails and len(while_run) > 1))

    monkeypatch.setattr(subprocess, "run", run)
    sentence.add(study, TEXTS[:1], "1")
    if fails:
        with pytest.raises(InputError, match=r"atlas\.html was not built"):
            sentence.add(study, TEXTS[1:], "1")
    else:
        sentence.add(study, TEXTS[1:], "1")
    assert while_run[-1].splitlines() == TEXTS
    assert kept.read_text(encoding="utf-8").splitlines() == (TEXTS[:1] if fails else TEXTS)


def test_what_cannot_be_added_is_reported(study: Path) -> None:
    with pytest.raises(InputError, match="TEXT: ' ' has no text"):
        sentence.texts_of(" ")
    with pytest.raises(InputError, match=r"other\.yaml: no such file"):
        sentence.add(Path("other.yaml"), TEXTS, "1")
    Path("results/s/atlas.html").unlink()
    with pytest.raises(InputError, match=r"atlas\.html does not exist; make it first: snakemake"):
        sentence.add(study, TEXTS, "1")


def test_a_file_has_a_text_a_line(tmp_path: Path) -> None:
    """Of whatever length its path is; what cannot be a path is a text."""
    for name in ("texts.txt", f"{'a' * 200}/{'b' * 200}.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join([TEXTS[0], "", f" {TEXTS[1]} "]), encoding="utf-8")
        assert sentence.texts_of(str(file)) == TEXTS
    assert sentence.texts_of("\n".join(TEXTS)) == TEXTS
    for text in (" ".join(TEXTS * 200), "a\0b"):
        assert sentence.texts_of(text) == [text]
