"""No pickle is ever loaded, wherever one is planted."""

import ast
import io
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.bad_input.refused import refused
from workflow_scripts.attention import convert
from workflow_scripts.core.model import models
from workflow_scripts.core.model.classifiers import load_classifier
from workflow_scripts.core.run.sources import load_rows


class Payload:
    """What makes a folder when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable, tuple]:
        return os.mkdir, (str(self.marker),)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


@pytest.fixture
def malicious(marker: Path) -> bytes:
    """A pickle that makes the marker, and does: it is tried here."""
    data = pickle.dumps(Payload(marker))
    pickle.loads(data)  # noqa: S301
    marker.rmdir()
    return data


@pytest.fixture(autouse=True)
def nothing_is_loaded(marker: Path):
    yield
    assert not marker.exists()


@pytest.fixture
def model(tmp_path: Path, tiny_model_dir: Path) -> Path:
    return Path(shutil.copytree(tiny_model_dir, tmp_path / "model"))


def weights(malicious: bytes) -> bytes:
    """The pickle in torch's own archive, as `torch.save` writes one."""
    data = io.BytesIO()
    torch.save({}, data)

    source, target = zipfile.ZipFile(data), io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            content = malicious if name.endswith("data.pkl") else source.read(name)
            archive.writestr(name, content)
    return target.getvalue()


NAMES = ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "tf_model.h5", "spiece.model")


def test_a_model_of_pickled_weights_is_refused(model: Path, malicious: bytes) -> None:
    """Next to weights that are none, pickles are ignored."""
    for name in NAMES:
        (model / name).write_bytes(weights(malicious))
    models.describe(model, "tiny", {"path": str(model)})
    (model / "model.safetensors").unlink()
    refused(lambda: models.load_body(model, torch.device("cpu")), model, "safetensors")
    refused(lambda: load_classifier(model, torch.device("cpu")), model, "safetensors")
    refused(lambda: convert.main({"path": str(model)}, model / "new"), model, "never unpickled")


@pytest.mark.parametrize("name", ["mine.py", "train.pkl", "train.parquet", "train.jsonl"])
def test_a_dataset_of_code_or_pickles_is_refused(
    tmp_path: Path, malicious: bytes, marker: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "mine"
    folder.mkdir()
    code = f"import os\nos.mkdir({str(marker)!r})\n".encode()
    (folder / name).write_bytes(code if name.endswith(".py") else malicious)
    refused(lambda: load_rows({"hub": str(folder), "revision": "x"}), "hub", folder)


def test_no_call_may_run_a_models_own_code() -> None:
    """Whatever loads a model, config or tokenizer states that code which comes with it is not run.

    Pickles, `eval` and shells in scripts are refused by the linter.
    """
    for path in (Path(__file__).parents[2] / "workflow_scripts").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = ast.unparse(node) if isinstance(node, ast.Call) else ""
            if call.startswith(("Auto", "kind.from_")):
                assert "trust_remote_code=False" in call, f"{path}: {call}"
