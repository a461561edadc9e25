"""No pickle is ever loaded, wherever one is planted."""

import io
import json
import os
import pickle
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch

from tests.bad_input.formats import FORMATS
from tests.bad_input.refused import refused
from tests.core.tiny_translators import save
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.hub import load_rows
from workflow_scripts.core.data.spacy_parsing import load_spacy
from workflow_scripts.core.data.vectors import read_vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, training_state, translators
from workflow_scripts.core.model.classifiers import load_classifier
from workflow_scripts.corpora.frame_files import sentences_of_nltk
from workflow_scripts.corpora.word_vectors import from_downloader
from workflow_scripts.patterns.annotated_maps import stored_maps


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


UNPICKLED: list[tuple] = []  # what pickles looked up, by Python's own audit of it
sys.addaudithook(
    lambda event, found: UNPICKLED.append(found) if event == "pickle.find_class" else None
)


@pytest.fixture(autouse=True)
def nothing_is_loaded(marker: Path, malicious: bytes, monkeypatch: pytest.MonkeyPatch):
    """No pickle is executed, and not even read by what reads some of them safely."""
    read = []
    load = torch.serialization.load
    monkeypatch.setattr(torch, "load", lambda *a, **k: read.append(a) or load(*a, **k))
    UNPICKLED.clear()
    yield
    assert not marker.exists()
    assert read == []
    assert UNPICKLED == []


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


def test_the_archive_of_weights_would_do_harm(malicious: bytes, marker: Path) -> None:
    torch.serialization.load(io.BytesIO(weights(malicious)), weights_only=False)
    assert marker.exists()
    assert UNPICKLED == [("posix", "mkdir")]
    marker.rmdir()
    UNPICKLED.clear()


NAMES = ("pytorch_model.bin", "model.bin", "training_args.bin", "optimizer.pt", "scheduler.pt")
NAMES += ("tf_model.h5", "flax_model.msgpack", "adapter_model.bin", "vocab.pkl", "tokenizer.pkl")
NAMES += ("pytorch_model-00001-of-00001.bin", "spiece.model", "sentencepiece.bpe.model")


def test_pickles_next_to_a_models_weights_are_ignored(
    model: Path, malicious: bytes, marker: Path
) -> None:
    for name in NAMES:
        (model / name).write_bytes(weights(malicious))
    models.describe(model, "tiny", models.Source(path=str(model)))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_pickled_weights_is_refused(model: Path, malicious: bytes, name: str) -> None:
    (model / "model.safetensors").unlink()
    (model / name).write_bytes(weights(malicious))
    refused(lambda: models.load_body(model, torch.device("cpu")), model, "safetensors")
    refused(lambda: load_classifier(model, torch.device("cpu")), model, "safetensors")


@pytest.mark.parametrize(
    "name",
    [
        "model.safetensors",
        "model.safetensors.index.json",
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
    ],
)
@pytest.mark.parametrize("archive", [True, False], ids=["archive", "bare"])
def test_a_pickle_in_a_models_file_is_not_loaded(
    model: Path, malicious: bytes, name: str, archive: bool
) -> None:
    (model / name).write_bytes(weights(malicious) if archive else malicious)
    describe = lambda: models.describe(model, "tiny", models.Source(path=str(model)))  # noqa: E731
    if name in ("special_tokens_map.json", "model.safetensors.index.json"):
        try:  # files that a loader may ignore
            describe()
        except InputError as error:
            assert str(model) in str(error)
    else:
        refused(describe, model)


def test_an_index_that_names_pickled_shards_is_refused(model: Path, malicious: bytes) -> None:
    (model / "model.safetensors").unlink()
    index = '{"metadata": {}, "weight_map": {"embeddings.word_embeddings.weight": "w.bin"}}'
    (model / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    (model / "pytorch_model.bin.index.json").write_text(index, encoding="utf-8")
    (model / "w.bin").write_bytes(weights(malicious))
    (model / "w.safetensors").write_bytes(weights(malicious))
    refused(lambda: models.load_body(model, torch.device("cpu")), model)


def test_a_models_own_code_is_not_run(model: Path, marker: Path) -> None:
    code = f"import os\nos.mkdir({str(marker)!r})\n"
    (model / "modeling_own.py").write_text(code, encoding="utf-8")
    config = model / "config.json"
    auto = '"auto_map": {"AutoConfig": "modeling_own.C", "AutoModel": "modeling_own.M"}, '
    config.write_text(config.read_text().replace("{", "{" + auto, 1), encoding="utf-8")
    try:
        models.describe(model, "tiny", models.Source(path=str(model)))
    except InputError as error:
        assert str(model) in str(error)


def test_pickles_of_a_translator_are_not_loaded(tmp_path: Path, malicious: bytes) -> None:
    model = save(tmp_path / "model", "marian")

    def described() -> None:
        translators.describe(model, "tiny", translators.Languages())

    for name in NAMES:
        (model / name).write_bytes(weights(malicious))
    described()
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        valid = (model / name).read_bytes()
        for data in (malicious, weights(malicious)):
            (model / name).write_bytes(data)
            refused(described, model)
        (model / name).write_bytes(valid)
    described()
    (model / "model.safetensors").unlink()
    refused(described, model, ", a pickle, which is never read")


def test_a_pickled_state_of_training_is_not_resumed(tmp_path: Path, malicious: bytes) -> None:
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(layer.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    parts = training_state.Parts(layer, schedule, torch.Generator())
    for data in (malicious, weights(malicious)):
        (tmp_path / "state.safetensors").write_bytes(data)
        with pytest.raises(Exception):  # noqa: B017 - of what kind is the business of training
            training_state.resume(tmp_path / "state.safetensors", parts)


@pytest.mark.parametrize("name", FORMATS)
def test_a_pickle_is_no_text_file(tmp_path: Path, malicious: bytes, name: str) -> None:
    form = FORMATS[name]
    path = tmp_path / form.name
    for data in (malicious, weights(malicious)):
        path.write_bytes(data)
        refused(lambda: form.read(path), path)


def test_pickles_are_no_tables_caches_cards_or_vectors(tmp_path: Path, malicious: bytes) -> None:
    path, words = tmp_path / "file", tmp_path / "words.txt"
    words.write_text("the\n", encoding="utf-8")
    for data in (malicious, weights(malicious), numpy_object(malicious)):
        path.write_bytes(data)
        refused(lambda: tables.read(path), path)
        refused(lambda: read_card(path), path)
        refused(lambda: read_vectors(path, words), path)
        refused(lambda: stored_maps(path, []), path)
        refused(lambda: Cache(path, {"name": "tiny", "weights": "abc"}), path)


def numpy_object(malicious: bytes) -> bytes:
    """A .npy file of objects, whose values are a pickle."""
    data = io.BytesIO()
    np.save(data, np.array([None], dtype=object), allow_pickle=True)
    start = data.getvalue().index(b"\n") + 1
    return data.getvalue()[:start] + malicious


def test_an_extension_type_of_a_table_is_not_unpickled(tmp_path: Path, malicious: bytes) -> None:
    pickled = {b"ARROW:extension:name": b"arrow.py_extension_type"}
    pickled |= {b"ARROW:extension:metadata": malicious}
    field = pa.field("id", pa.string(), metadata=pickled)
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pa.table([pa.array(["a"])], schema=pa.schema([field])), path)
    try:
        assert tables.read(path, ("id",))["id"].tolist() == ["a"]
    except InputError as error:
        assert str(path) in str(error)


def test_objects_of_an_hdf5_file_are_not_unpickled(tmp_path: Path, malicious: bytes) -> None:
    path = tmp_path / "maps.h5"
    with h5py.File(path, "w") as file:
        for name in ("key", "length", "pattern", "special", "segment"):
            file[name] = np.void(malicious)
    refused(lambda: stored_maps(path, []), path)
    refused(lambda: Cache(path, {"name": "tiny", "weights": "abc"}), path)


@pytest.mark.parametrize("name", ["glove-wiki-gigaword-50", "word2vec-google-news-300", "a.bin"])
def test_vectors_in_a_pickle_are_refused(
    tmp_path: Path, malicious: bytes, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """gensim's own format is a pickle; its downloader reads what lies in its folder."""
    from gensim import downloader

    ending = Path(name).suffix or ".gz"
    folder = tmp_path / "gensim-data" / name
    folder.mkdir(parents=True)
    file = f"vectors{ending}"
    (folder / file).write_bytes(malicious)
    (folder / "__init__.py").write_text("raise SystemExit", encoding="utf-8")
    known = {"corpora": {}, "models": {name: {"parts": 1, "file_name": file}}}
    information = json.dumps(known)
    (tmp_path / "gensim-data/information.json").write_text(information, encoding="utf-8")
    monkeypatch.setattr(downloader, "BASE_DIR", str(tmp_path / "gensim-data"))
    monkeypatch.setattr(downloader, "DATA_LIST_URL", (tmp_path / "none").as_uri())
    refused(lambda: from_downloader(name), folder / file)


def test_a_spacy_model_is_a_package_never_a_directory(
    tmp_path: Path, malicious: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "en_mine"
    (folder / "vocab").mkdir(parents=True)
    for name in ("vocab/lookups.bin", "vocab/strings.json", "vocab/vectors", "tokenizer", "model"):
        (folder / name).write_bytes(malicious)
    (folder / "meta.json").write_text('{"lang": "en", "name": "mine"}', encoding="utf-8")
    (folder / "config.cfg").write_text("[nlp]\nlang = en\npipeline = []\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("en_mine", "./en_mine", str(folder)):
        refused(lambda name=name: load_spacy(name), "spacy", "no such model package")


def test_pickles_of_an_nltk_corpus_are_refused(
    tmp_path: Path, malicious: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk

    folder = tmp_path / "corpora/framenet_v17"
    for name in ("lu/lu1.xml", "frame/A.xml", "luIndex.xml", "frameIndex.xml", "index.pickle"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(malicious)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    refused(lambda: sentences_of_nltk("framenet_v17"), "framenet_v17")


def dataset(folder: Path, malicious: bytes, marker: Path, kind: str) -> None:
    """A directory in the hub's form whose only data are malicious."""
    code = f"import os\nos.mkdir({str(marker)!r})\n"
    if kind == "script":
        (folder / f"{folder.name}.py").write_text(code, encoding="utf-8")
    elif kind == "pickled table":
        (folder / "train.pkl").write_bytes(malicious)
        (folder / "train.pickle").write_bytes(malicious)
    elif kind == "named as a table":
        (folder / "train.parquet").write_bytes(malicious)
    elif kind == "named as lines":
        (folder / "train.jsonl").write_bytes(malicious)
    else:
        with tarfile.open(folder / "train.tar", "w") as archive:
            members = {"a.txt": b"text", "a.pyd": malicious, "a.pickle": malicious}
            members |= {"a.pth": weights(malicious), "a.npy": numpy_object(malicious)}
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize(
    "kind", ["script", "pickled table", "named as a table", "named as lines", "archive"]
)
def test_a_dataset_of_pickles_is_refused(
    tmp_path: Path, malicious: bytes, marker: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "mine"
    folder.mkdir()
    dataset(folder, malicious, marker, kind)
    refused(lambda: load_rows({"hub": str(folder), "revision": "x"}), "hub", folder)
