"""Every source of a study is opened by its reader; all problems are named, each with its line."""

import copy
import gzip
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.core.tiny_translators import save
from tests.papers.hub import Mirror, Repositories, Server, serving
from tests.papers.sources import write_framenet
from tests.workflow.tiny_study import made_up_text, made_up_trees, tiny_config
from workflow_scripts.core.data import first_records
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run import downloads, sdists
from workflow_scripts.core.run.config import check
from workflow_scripts.core.run.findings import ERROR, NOTE, OK, Finding, Findings
from workflow_scripts.preflight import sources

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
COMMIT = "b08601e04326c79dfdd32d625aee71d232d685c3"


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the tiny study's data."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("texts/0.txt", made_up_text(0)), ("trees/0.conllx", made_up_trees(0))):
        write(name, text)
    return tmp_path


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def looked_at(config: dict[str, Any]) -> dict[str, Finding]:
    located = sdists.locate(check(copy.deepcopy(config), SCHEMAS))
    located = downloads.locate(located, SCHEMAS)
    return {finding.what: finding for finding in sources.look(located, Network())}


def test_the_tiny_study_is_readable(folder: Path) -> None:
    findings = looked_at(tiny_config())
    assert {name: f.why for name, f in findings.items() if f.state != OK} == {}
    assert set(findings) >= {
        *("corpora.text.made-up", "corpora.treebanks.trees", "corpora.coreference.stories"),
        *("corpora.frames.roles", "corpora.vectors.own", "tasks.mrpc", "tasks.sst2", "tasks.arct"),
        "attention.spacy",
    }


def test_a_source_is_fetched_once_and_kept_for_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_framenet(folder / "mirror/framenet")
    config = tiny_config()
    config["corpora"]["frames"]["lexicon"] = {"fetch": "framenet/framenet_v17.zip/framenet_v17"}
    with serving(Server(Mirror, Repositories(folder))) as server:
        monkeypatch.setenv("ATLAS_MIRROR", server.url)
        for _ in range(2):
            findings = looked_at(config)
            assert findings["fetch.framenet"].why.startswith("fetched: 1 file, ")
            assert findings["corpora.frames.lexicon"].state == OK
        assert server.asked == ["GET /framenet/framenet_v17.zip"]


def test_an_archive_that_is_none_is_fetched_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads it is not read, but what reads a source whose name begins the same is."""
    monkeypatch.setenv("ATLAS_MIRROR", "mirror")
    for name in ("framenet", "framenet-1.5"):
        write_framenet(folder / "mirror" / name)
    archive = (folder / "mirror/framenet/framenet_v17.zip").rename(folder / "good.zip")
    (folder / "mirror/framenet/framenet_v17.zip").write_bytes(b"<html>log in</html>")
    with zipfile.ZipFile(folder / "mirror/framenet-1.5/framenet_v15.zip", "w") as zipped:
        zipped.writestr("framenet_v15/lu/lu1.xml", "<other/>")
    config = tiny_config()
    config["corpora"]["frames"] |= {
        "first": {"fetch": "framenet/framenet_v17.zip/framenet_v17"},
        "other": {"fetch": "framenet-1.5/framenet_v15.zip/framenet_v15"},
    }
    findings = looked_at(config)
    assert "not unpacked" in findings["fetch.framenet"].why
    first, other = (findings[f"corpora.frames.{name}"] for name in ("first", "other"))
    assert (first.state, first.why) == (
        NOTE,
        "not read, as results/downloads/framenet was not fetched",
    )
    place = "results/downloads/framenet-1.5/framenet_v15.zip/framenet_v15/lu/lu1.xml:1: "
    assert other.state == ERROR
    assert other.why.startswith(place)
    archive.rename(folder / "mirror/framenet/framenet_v17.zip")
    assert looked_at(config)["corpora.frames.first"].state == OK


def bad_study() -> dict[str, Any]:
    """A study whose every source has something wrong, and what must be reported of each."""
    config = tiny_config()
    corpora, tasks = config["corpora"], config["tasks"]
    config["sdists"] = {"data": {"requirement": "no-such-data==1.0", "sha256": "0" * 64}}
    corpora["text"] |= {
        "bytes": {"path": "bad/bytes.txt", "format": "plain"},
        "dump": {"path": "bad/dump.xml.bz2", "format": "mediawiki"},
        "package": {"package": "no_such_package/text.txt"},
        "hub": {"hub": "no/such", "revision": COMMIT},
        "pinned": {"sdist": "data/text.txt"},
    }
    corpora["treebanks"] |= {
        "circle": {"path": "bad/circle.conllx"},
        "gone": {"path": "bad/gone.conllx"},
        "parser": {"parse": "made-up", "spacy": "no_such_parser"},
    }
    corpora["coreference"]["open"] = {"path": "bad/open.conll", "format": "gum"}
    corpora["frames"] |= {"xml": {"path": "bad/lu1.xml"}, "corpus": {"nltk": "framenet_v15"}}
    corpora["vectors"] |= {"glove": {"path": "bad/glove.txt"}, "none": {"download": "no-vectors"}}
    tasks["rte"] = {"path": "bad/rte"}
    tasks["sst2"] = {"path": "bad/reviews.txt", "format": "ratings"}
    tasks["qnli"] = {"hub": "nyu-mll/glue", "revision": COMMIT}
    tasks["arct"] = {"path": "bad/arct"}
    config["patterns"]["annotations"] = [{"file": "bad/maps.csv", "caches": ["tiny/mrpc"]}]
    config["claims"]["files"] = ["bad/claims.csv"]
    config["translation"] = {
        "data": {
            **{split: sides(f"bad/{split}") for split in ("train", "validation", "test")},
            "domains": {"chat": sides("bad/chat")},
        },
        "model": {"path": "bad/translator"},
    }
    return config


def sides(name: str) -> dict[str, str]:
    return {"source": f"{name}.en", "target": f"{name}.de"}


MESSAGES = {
    "sdists.data": "sdists: no-such-data==1.0: not fetched",
    "corpora.text.bytes": "bad/bytes.txt:2: byte 0xff at column 4 is not UTF-8",
    "corpora.text.dump": "bad/dump.xml.bz2: not a complete MediaWiki dump",
    "corpora.text.package": "'no_such_package' is not installed; install it with pip",
    "corpora.text.hub": "HF_HUB_OFFLINE is set, and it is not in the local cache",
    "corpora.treebanks.circle": "bad/circle.conllx:1: ",
    "corpora.treebanks.gone": "bad/gone.conllx: no such file or directory; correct the path",
    "corpora.treebanks.parser": "spacy: no_such_parser: no such model package",
    "corpora.coreference.open": "bad/open.conll:2: mention 1 is opened but never closed",
    "corpora.frames.xml": "bad/lu1.xml:1: not a lexical unit of FrameNet; remove the file",
    "corpora.frames.corpus": "nltk: framenet_v15: this corpus is not installed",
    "corpora.vectors.glove": "bad/glove.txt:2: ",
    "corpora.vectors.none": "download: no-vectors: not in ",
    "tasks.rte": "bad/rte/train.tsv:2: label 'maybe' is unknown",
    "tasks.sst2": "bad/reviews.txt:1: 1 columns; write id, rating and text with tabs",
    "tasks.qnli": "HF_HUB_OFFLINE is set, and it is not in the local cache",
    "tasks.arct": "bad/arct: no train-full.txt; put it there",
    "patterns.annotations 1": "bad/maps.csv:1: the columns must be",
    "claims.files 1": "bad/claims.csv",
    "translation.data.train": "bad/train.de:2: an empty sentence; remove line 2 here and in bad/tr",
    "translation.data.validation": "bad/validation.en:2: bad/validation.de ends before this line",
    "translation.data.test": "bad/test.de: no such file; correct the path",
    "translation.data.chat": "bad/chat.en:1: the control character '\\x07' at column 4",
    "translation.model": "bad/translator: no such model directory; correct the model's source",
}


def test_every_bad_source_is_named_at_once(folder: Path) -> None:
    Path("bad/arct").mkdir(parents=True)
    Path("bad/bytes.txt").write_bytes(b"good\nbad\xff\n")
    Path("bad/dump.xml.bz2").write_bytes(b"no dump")
    row = "{}\tword\t_\tNN\tNN\t_\t{}\tdet\t_\t_\n"
    write("bad/circle.conllx", row.format(1, 2) + row.format(2, 1) + "\n")
    write("bad/open.conll", "# begin document a\n0\tword\t(1\n# end document\n")
    write("bad/lu1.xml", "<other/>\n")
    write("bad/glove.txt", "the 0.1 0.2\nof 0.1 many\n")
    for name in ("train", "dev"):
        write(f"bad/rte/{name}.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tmaybe\n")
    write("bad/reviews.txt", "no columns\n")
    write("bad/maps.csv", "a,b\n1,2\n")
    write("bad/claims.csv", "a,b\n1,2\n")
    write("bad/train.en", "A dog.\nA cat.\n")
    write("bad/train.de", "Ein Hund.\n\n")
    write("bad/validation.en", "A dog.\nA cat.\n")
    write("bad/validation.de", "Ein Hund.\n")
    write("bad/test.en", "A dog.\n")
    write("bad/chat.en", "Hey\a\n")
    write("bad/chat.de", "He\n")
    findings = looked_at(bad_study())
    wrong = {name: finding.why for name, finding in findings.items() if finding.state == ERROR}
    assert wrong.keys() == MESSAGES.keys()
    assert {name: why for name, why in wrong.items() if MESSAGES[name] not in why} == {}
    # Its text adds no problem of its own.
    unread = findings["corpora.text.pinned"].why
    assert unread == "not read, as results/sdists/no-such-data==1.0 was not fetched"
    assert findings["corpora.text.made-up"].state == OK
    assert not [why for why in wrong.values() if "\n" in why]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_of_a_large_file_the_first_lines_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """A wrong line among the first is named as in the file itself; one after them is not read."""
    monkeypatch.setattr(first_records, "LARGE", 100)
    monkeypatch.setattr(first_records, "LINES", 10)
    rows = [f"{number}\ta text\tanother\tentailment" for number in range(50)]
    rows[30] = "30\tonly two"
    config = tiny_config()
    config["tasks"]["rte"] = {"path": "rte"}
    opened = gzip.open if ending else open
    for wrong in (None, 4):
        lines = ["index\tsentence1\tsentence2\tlabel", *rows]
        if wrong is not None:
            lines[wrong] = "no columns"
        Path("rte").mkdir(exist_ok=True)
        for name in ("train.tsv", "dev.tsv"):
            with opened(f"rte/{name}{ending}", "wt") as file:
                file.write("\n".join(lines) + "\n")
        finding = looked_at(config)["tasks.rte"]
        if wrong is None:
            assert (finding.state, finding.why) == (OK, "the first rows: train 9, dev 9")
        else:
            assert finding.state == ERROR
            assert finding.why.startswith(f"rte/train.tsv{ending}:5: 1 columns where")


def test_translations_and_their_model_are_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config() | {"translation": {"data": {}, "model": {"path": "translator"}}}
    for split, n in (("train", 30), ("validation", 3), ("test", 2)):
        for ending in ("en", "de"):
            write(f"pairs/{split}.{ending}", f"{ending}\n" * n)
        config["translation"]["data"][split] = sides(f"pairs/{split}")
    save(Path("translator"), "marian")
    monkeypatch.setattr(first_records, "LARGE", 80)
    monkeypatch.setattr("workflow_scripts.translation.preflight.LINES", 10)
    findings = looked_at(config)
    found = {name: f.why for name, f in findings.items() if name.startswith("translation.")}
    assert found.pop("translation.model").startswith("marian, an encoder of 2 layers of 4 heads, ")
    assert found == {
        "translation.data.train": "the first 10 pairs",
        "translation.data.validation": "3 pairs",
        "translation.data.test": "2 pairs",
    }
    config["translation"]["model"]["target_lang"] = "de"
    finding = looked_at(config)["translation.model"]
    assert finding.state == ERROR
    assert "the tokenizer takes no codes of languages" in finding.why


def test_generated_translations_are_written_in_small(folder: Path) -> None:
    sizes = {"train": 400, "validation": 20, "test": 20}
    config = tiny_config() | {"translation": {"data": {"generate": sizes}, "train": {}}}
    finding = looked_at(config)["translation.data.generate"]
    assert (finding.state, finding.why) == (OK, "pairs written: train 60, validation 20, test 20")


def test_an_error_that_is_no_input_error_is_reported_too() -> None:
    def fail() -> tuple[None, str]:
        raise RecursionError("too\ndeep")

    found = Findings()
    assert found.look("x", fail) is None
    assert found.rows == [Finding("x", ERROR, "RecursionError: too deep")]
