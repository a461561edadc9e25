"""Wrong input and hostile paths through whole runs: one line, nothing half-written, no shell."""

import shutil
from pathlib import Path

import pytest

from tests.bad_input.test_texts import WORDS
from tests.workflow.tiny_study import TinyStudy, made_up_text, made_up_trees, refusal

# A path that does something in a shell that reads it, and is unusual to every other program.
HOSTILE = "-a b'c\"d;touch e$HOME$(touch f)`touch g`&|#*?[x]é\u202eא\\n~%\n"
NAME = HOSTILE.strip()  # in a study a path has one line
RESULTS = "results/tiny"


@pytest.fixture
def study(tmp_path: Path, tiny_model_dir: Path) -> TinyStudy:
    folder = tmp_path / "study"
    folder.mkdir()
    return TinyStudy(folder, tiny_model_dir)


def test_a_wrong_study_starts_no_job(study: TinyStudy) -> None:
    with (study.folder / "tiny.yaml").open("a", encoding="utf-8") as file:
        file.write("atention: {}\n")
    done = study.snakemake("all")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "config: atention: unknown key; accepted: " in refusal(done.stderr)
    study.config["context"]["list_by"] = "retrieval"
    study.write_config()
    assert "context.list_by: retrieval is no score" in refusal(study.snakemake("all").stderr)
    assert not (study.folder / "results").exists()


def test_check_prints_all_that_is_wrong(study: TinyStudy) -> None:
    """Each failed job is one line, and no product is there in part."""
    folder = study.folder
    (folder / "glue").mkdir()
    for split in ("train", "dev"):
        rows = "index\tsentence1\tsentence2\tlabel\n0\tA\tB\tentailment\n1\tC\tD\tperhaps\n"
        (folder / f"glue/{split}.tsv").write_text(rows, encoding="utf-8")
    (folder / "vectors.txt").write_bytes(b"\x80")
    (folder / "tiny-model/model.safetensors").unlink()
    (folder / "tiny-model/pytorch_model.bin").write_bytes(b"no weights")
    study.config["tasks"]["rte"] = {"from": "glue"}
    packed = {"package": "gensim/test/test_data/pang_lee_polarity.cor", "encoding": "cp1252"}
    study.config["tasks"]["sst2"] = packed | {"n_train": 16, "n_dev": 6}
    study.config["corpora"]["vectors"]["own"] = {"from": "vectors.txt"}
    study.write_config()
    done = study.snakemake("check", "--keep-going", "--retries", "0")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    end = {line for line in done.stderr.splitlines() if line.startswith("Error: ")}
    expected = ["glue/train.tsv:3: label 'perhaps' is unknown; RTE has", "vectors.txt:1: byte 0x80"]
    expected += ["tiny-model/pytorch_model.bin: is missing or damaged, or holds more"]
    for words in expected:
        assert len([line for line in end if line.startswith(f"Error: {words}")]) == 1, end
    assert len(end) == len(expected)
    results = folder / RESULTS
    failed = ("tasks/rte.parquet", "corpora/own.words.txt", "tiny/attention/model.json")
    assert not [name for name in failed if (results / name).exists()]
    made = (
        "tasks/mrpc.jsonl",
        "tasks/sst2.jsonl",
        "corpora/trees.jsonl",
        "decoder/attention/model.json",
    )
    assert [name for name in made if not (results / name).is_file()] == []
    assert not list(results.rglob("*.part"))
    assert not list(results.rglob("*.h5"))


def hostile_files(study: TinyStudy) -> None:
    """Texts, trees, a task and a model below a hostile path, in files of hostile names."""
    folder = study.folder / NAME
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / f"{HOSTILE}.txt").write_text(made_up_text(0), encoding="utf-8")
    words = [word for kind in WORDS.values() for word in kind if len(word) < 30]
    rows = [f"{n}\t{word}\t_\tNN\tNN\t_\t{n - 1}\tdet\t_\t_" for n, word in enumerate(words, 1)]
    (folder / "trees").mkdir()
    sentence = "\n".join(rows[:12]) + "\n\n"
    trees = sentence + made_up_trees(0)
    (folder / "trees" / f"{HOSTILE}.conllx").write_text(trees, encoding="utf-8")
    (folder / "MRPC").mkdir()
    for split in ("train", "dev"):
        pairs = [f"{k % 2}\t{k}\t{k}\t{' '.join(words[k:])}\tthe city" for k in range(8)]
        text = "\n".join(["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *pairs]) + "\n"
        (folder / f"MRPC/{split}.tsv").write_text(text, encoding="utf-8")
    shutil.move(study.folder / "tiny-model", folder / "model")
    study.config["data"] = f"texts/../{NAME}"
    study.config["models"]["tiny"]["from"] = f"{NAME}/model"
    study.config["models"]["twin"]["from"] = f"{NAME}/model"
    study.config["tasks"]["mrpc"] = {"from": "MRPC"}
    study.write_config()


def test_hostile_paths_and_texts_are_read(tmp_path: Path, tiny_model_dir: Path) -> None:
    """The folder of the workflow, its data and its model, and the files in them."""
    folder = tmp_path / HOSTILE
    folder.mkdir()
    study = TinyStudy(folder, tiny_model_dir)
    hostile_files(study)
    before = {path for path in tmp_path.rglob("*") if "results" not in path.parts}
    names = ["corpora/made-up.jsonl", "tasks/mrpc.parquet", "tasks/mrpc.annotation.jsonl"]
    targets = [f"{RESULTS}/{name}" for name in names]
    study.run(*targets, f"{RESULTS}/tiny/attention/trees.h5")
    assert all((folder / target).is_file() for target in targets)
    after = {path for path in tmp_path.rglob("*") if "results" not in path.parts}
    assert all({".snakemake", "__pycache__"} & {*path.parts} for path in after - before)
