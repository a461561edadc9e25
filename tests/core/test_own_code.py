"""Models that bring code of their own: it never runs, and what it computes is not assumed."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import NomicBertConfig

from tests.bad_input.refused import refused
from tests.core.tiny_models import _SIZES as SIZES
from tests.core.tiny_models import random_model, save_bert, tokenizer
from workflow_scripts.core.model import models

ROOT = Path(__file__).parents[2]


def change(path: Path, **changed: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


OWN_CODE = """
from pathlib import Path
from transformers import PretrainedConfig
Path({marker!r}).touch()
class Own(PretrainedConfig):
    model_type = "own"
"""
ASKS = """
import sys
from pathlib import Path
from workflow_scripts.core.model import models, weights
from workflow_scripts.core.errors import InputError
def load_body(folder):
    models.load_body(folder, "cpu")
for folder in map(Path, sys.argv[1:]):
    for read in (weights.read_config, models.load_tokenizer, load_body):
        try:
            read(folder)
        except InputError as error:
            print(error)
"""


def test_a_models_own_code_never_runs(tmp_path: Path) -> None:
    """On a terminal that answers y to whatever is asked."""
    marker, own = tmp_path / "ran", {"AutoConfig": "own.Own", "AutoTokenizer": ["own.Own", None]}
    files = {"unknown": "config.json", "known": "config.json", "words": "tokenizer_config.json"}
    for name, file in files.items():
        folder = save_bert(tmp_path / name)
        (folder / "own.py").write_text(OWN_CODE.format(marker=str(marker)))
        change(folder / file, auto_map=own)
    same = save_bert(tmp_path / "same")
    shutil.copy(tmp_path / "known/own.py", same)
    bert = {"AutoConfig": "own.BertConfig", "AutoModel": "own.BertModel"}
    change(same / "config.json", auto_map=bert)
    change(same / "tokenizer_config.json", tokenizer_class="BertTokenizer")
    change(same / "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.BertTokenizer", None]})
    change(tmp_path / "unknown/config.json", model_type="own")
    change(tmp_path / "words/tokenizer_config.json", tokenizer_class="Own")
    asks, answers = pty.openpty()
    os.write(asks, b"y\n" * 50)
    ended = subprocess.run(
        [sys.executable, "-c", ASKS, *(str(tmp_path / name) for name in (*files, "same"))],
        stdin=answers,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(asks)
    os.close(answers)
    assert not marker.exists()
    assert ended.returncode == 0, ended.stderr
    lines = [f"{tmp_path / name / file}: auto_map asks for code" for name, file in files.items()]
    assert [line.partition(" of the model")[0] for line in ended.stdout.splitlines()] == [
        line for line in lines for _ in range(3)
    ]


HUB = "some/repository--modeling_own."
NOMIC = ("NomicBertConfig", "NomicBertModel", "NomicBertForPreTraining")
JINA = ("JinaBertConfig", "JinaBertModel", "JinaBertForMaskedLM")
AUTO = ("AutoConfig", "AutoModel", "AutoModelForMaskedLM")


def test_auto_map_may_name_the_classes_that_are_loaded(tmp_path: Path) -> None:
    """As models on the hub do that transformers took over."""
    directory, nomic = save_bert(tmp_path / "bert"), tmp_path / "nomic"
    random_model(NomicBertConfig(**SIZES)).save_pretrained(nomic)
    tokenizer().save_pretrained(nomic)
    bert = ("BertConfig", "BertModel", "BertForMaskedLM")
    for folder, names in ((nomic, NOMIC), (directory, bert)):
        auto_map = {key: HUB + name for key, name in zip(AUTO, names, strict=True)}
        change(folder / "config.json", auto_map=auto_map)
        own = {"AutoTokenizer": ["own.BertTokenizer", "own.BertTokenizerFast"]}
        change(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer", auto_map=own)
        card = models.describe(folder, "tiny", models.Source(path=str(folder)))
        assert card["max_positions"] == 128


@pytest.mark.parametrize(
    ("file", "key", "name", "why"),
    [
        *(
            ("config.json", key, HUB + name, "BertModel of transformers may compute something else")
            for key, name in zip(AUTO, JINA, strict=True)
        ),
        ("config.json", "AutoModel", "own.BertAlibiModel", "may compute something else"),
        ("config.json", "AutoModel", "own.RobertaModel", "may compute something else"),
        ("tokenizer_config.json", "AutoTokenizer", [None, "own.Own"], "no tokenizer of trans"),
        ("tokenizer_config.json", "AutoTokenizer", ["own.GPT2Tokenizer", None], "no tokenizer of"),
    ],
)
def test_auto_map_may_name_no_other_classes(
    tmp_path: Path, file: str, key: str, name: Any, why: str
) -> None:
    """As of a BERT whose own code adds ALiBi."""
    directory = save_bert(tmp_path / "bert")
    change(directory / file, auto_map={key: name})
    line = f"{directory / file}: auto_map asks for code of the model's own, {key}: "
    refused(lambda: models.load_tokenizer(directory), line, why)
