"""What a reader opens is an input of its rule: one function lists the files for both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from snakemake.iocontainers import Wildcards

from tests.bad_input.formats import CONLL, FRAMENET, GUM, POINTS, mrpc
from tests.parsed_rules import ROOT, parse
from tests.workflow.tiny_study import made_up_text, tiny_config
from workflow_scripts.core.data.annotations import COREFERENCE_ENDINGS
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.run.files import files_at, files_below
from workflow_scripts.corpora.frame_files import sentences_of
from workflow_scripts.corpora.mention_files import texts_of
from workflow_scripts.corpora.segments import articles
from workflow_scripts.corpora.tree_files import trees_of
from workflow_scripts.tasks.arct_files import splits_in
from workflow_scripts.tasks.glue_files import read_directory

SPACE = 'xmlns="http://framenet.icsi.berkeley.edu"'
FRAME = f'<frame {SPACE}><FEcoreSet><memberFE name="Donor"/></FEcoreSet></frame>'
DATA = {
    "texts/en/a.txt": made_up_text(0),
    "trees/dev/a.conllx": CONLL,
    "coref/data/dev/one.conll": GUM,
    "gold/dev/one.conllx": "# newdoc id = one\n"
    + "".join(
        f"{k}\t{word}\t_\tNN\tNN\t_\t{k - 1}\tdep\t_\t_\n"
        for k, word in enumerate("Anna Keller saw her dog".split(), 1)
    ),
    "framenet/lu/lu7.xml": FRAMENET,
    "framenet/frame/Giving.xml": FRAME,
    "glue/train.tsv": mrpc(["1\t2\t3\tA\tB"]),
    "glue/dev.tsv": mrpc(["1\t2\t3\tA\tB"]),
    "arct/data/train/train-full.txt": POINTS,
    "arct/data/dev/dev-full.txt": POINTS,
    "model/config.json": "{}",
    "model/checkpoint-9/optimizer.safetensors": "",
}


def study() -> dict:
    """A study of files in folders of folders."""
    config = tiny_config()
    for chapter in ("battery", "context", "compare"):
        del config[chapter]
    del config["models"]["decoder"], config["models"]["twin"]
    config["models"]["tiny"]["from"] = "model"
    corpora = config["corpora"]
    corpora["text"]["made-up"]["from"] = "texts"
    corpora["treebanks"]["trees"]["from"] = "trees"
    corpora["coreference"]["stories"] = {"path": "coref", "trees": "gold"}
    corpora["frames"]["roles"] = {"path": "framenet/lu"}
    config["frames"]["filters"] = "released"
    config["tasks"]["mrpc"] = {"path": "glue"}
    config["tasks"]["arct"] = {"path": "arct"}
    return config


# The rule that reads each source, its wildcards and its reader.
READERS = {
    "segments": ({"text": "made-up"}, lambda: articles({"path": "texts"})),
    "treebank": ({"treebank": "trees"}, lambda: trees_of(Path("trees"), "auto")),
    "coreference_corpus": ({"coref": "stories"}, lambda: texts_of(Path("coref"), "auto", "gold")),
    "frames_corpus": ({"frames": "roles"}, lambda: sentences_of(Path("framenet/lu"), True)),
    "prepare_task": ({"task": "mrpc"}, lambda: read_directory(Path("glue"), TASKS["mrpc"])),
    "prepare_arct": ({}, lambda: splits_in(Path("arct"))),
    "model_card": ({"model": "tiny"}, lambda: [Path("model/config.json").read_text()]),
}


def listed_and_opened() -> dict[str, tuple[list[str], list[str]]]:
    """The local files among each rule's inputs, and those that its reader opens."""
    rules = {rule.name: rule for rule in parse(Path("study.yaml")).rules}
    opened: list[str] = []
    sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
    found = {}
    for name, (wildcards, read) in READERS.items():
        values = [
            value(Wildcards(fromdict=wildcards)) if callable(value) else value
            for value in rules[name].input
        ]
        inputs = [
            str(file) for value in values for file in ([value] if isinstance(value, str) else value)
        ]
        opened.clear()
        assert list(read())
        found[name] = inputs, [file for file in opened if file in DATA]
    return found


def test_every_file_that_a_reader_opens_is_an_input(tmp_path: Path) -> None:
    for name, text in DATA.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study()), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.test_files"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for rule, (inputs, opened) in found.items():
        assert opened, rule
        assert set(opened) <= set(inputs), rule
    read = {file for _, opened in found.values() for file in opened}
    assert read == set(DATA) - {"model/checkpoint-9/optimizer.safetensors"}
    assert "model/checkpoint-9/optimizer.safetensors" not in found["model_card"][0]


def made(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("", encoding="utf-8")


def names(folder: Path, *endings: str) -> list[str]:
    return [str(file.relative_to(folder)) for file in files_below(folder, endings or ("",))]


def test_the_files_of_a_directory_are_in_one_order(tmp_path: Path) -> None:
    made(
        tmp_path, "b/2.x", "a/10.x", "a-b/1.x", "c.x", "a/b/1.x", "a/note.md", ".git/index", "._c.x"
    )
    assert names(tmp_path, ".x") == ["a/10.x", "a/b/1.x", "a-b/1.x", "b/2.x", "c.x"]
    assert names(tmp_path) == ["a/10.x", "a/b/1.x", "a/note.md", "a-b/1.x", "b/2.x", "c.x"]
    assert files_below(tmp_path, deep=False) == [tmp_path / "c.x"]
    assert files_below(tmp_path / "a/note.md", (".x",)) == [tmp_path / "a/note.md"]
    assert files_below(tmp_path / "none") == []


def test_a_program_s_annotation_is_left_out_next_to_the_gold_one(tmp_path: Path) -> None:
    kept = ["a/one.v4_gold_conll", "b/one.v4_auto_conll", "b/two.v4_gold_conll"]
    made(tmp_path, *kept, "a/one.v4_auto_conll")
    for endings in ((), COREFERENCE_ENDINGS):
        assert names(tmp_path, *endings) == kept
    auto = tmp_path / "a/one.v4_auto_conll"
    assert files_at(auto, COREFERENCE_ENDINGS) == [auto]


def test_links_are_followed_once(tmp_path: Path) -> None:
    made(tmp_path, "real/a.x", "corpus/b.x")
    (tmp_path / "corpus/linked").symlink_to(tmp_path / "real")
    (tmp_path / "corpus/up").symlink_to(tmp_path / "corpus")
    (tmp_path / "corpus/gone.x").symlink_to(tmp_path / "gone.x")
    os.mkfifo(tmp_path / "corpus/pipe.x")
    assert names(tmp_path / "corpus", ".x") == ["b.x", "gone.x", "linked/a.x"]


if __name__ == "__main__":
    print(json.dumps(listed_and_opened()))
