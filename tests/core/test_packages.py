"""Sources in installed packages: pinned by version and content when a run is planned."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from tests.parsed_rules import ROOT, parse
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import sources as data_sources

SOURCE = {"package": "carrier/model"}


@pytest.fixture
def site(tmp_path: Path, tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the package `carrier` 1.0, which has a model and texts."""
    folder = tmp_path / "site"
    shutil.copytree(tiny_model_dir, folder / "carrier/model")
    (folder / "carrier/__init__.py").touch()
    (folder / "carrier/reviews.txt").write_text("__label__pos good\n", encoding="utf-8")
    install(folder, "1.0")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install(site: Path, version: str) -> None:
    """State another version of the package."""
    for old in site.glob("*.dist-info"):
        shutil.rmtree(old)
    (site / f"carrier-{version}.dist-info").mkdir()
    text = f"Metadata-Version: 2.1\nName: carrier\nVersion: {version}\n"
    (site / f"carrier-{version}.dist-info/METADATA").write_text(text, encoding="utf-8")


def sources() -> dict[str, Any]:
    """Each place of a study that can name a package."""
    task = {"package": "carrier/reviews.txt", "domains": {"d": {"package": "carrier/reviews.txt"}}}
    return {
        "models": {"m": dict(SOURCE)},
        "corpora": {"text": {"t": {"package": "carrier/reviews.txt"}}},
        "tasks": {"sst2": task},
        "translation": {"model": dict(SOURCE)},
    }


def test_every_source_in_a_package_is_pinned(site: Path) -> None:
    config = sources()
    pinned = data_sources.pinned(config)
    assert config == sources()
    task = pinned["tasks"]["sst2"]
    pins = [pinned["models"]["m"], pinned["translation"]["model"]]
    pins += [pinned["corpora"]["text"]["t"], task, task["domains"]["d"]]
    assert [pin["version"] for pin in pins] == ["1.0"] * 5
    assert len({pin["sha256"] for pin in pins}) == 2
    assert data_sources.pinned(config) == pinned
    (site / "carrier/reviews.txt").write_text("__label__pos better\n", encoding="utf-8")
    install(site, "2")
    now = data_sources.pinned(config)
    assert now["models"]["m"] == pinned["models"]["m"] | {"version": "2"}
    text = now["corpora"]["text"]["t"]
    assert (text["version"], text["sha256"] != pins[2]["sha256"]) == ("2", True)


def test_what_is_not_installed_is_named_with_its_key(site: Path) -> None:
    shutil.rmtree(site / "carrier/model")
    assert data_sources.pinned(sources(), refuse=False)["models"]["m"] == SOURCE
    words = r"config: models\.m\.from: package: carrier/model: .* correct the path \(and 1 more\)"
    with pytest.raises(InputError, match=words):
        data_sources.pinned(sources())


def read_by_rules(study: Path) -> list[dict[str, Any]]:
    """The sources that the rules read, of the model, the text, the task and the GGUF file.

    And the files that the last one's card is made of.
    """
    wildcards = {"model_card": {"model": "m"}, "segments": {"text": "t"}}
    wildcards |= {"prepare_task": {"task": "sst2"}, "convert": {"model": "g"}}
    rules = {rule.name: rule for rule in parse(study).rules}
    read = [rules[name].params.source(Wildcards(fromdict=of)) for name, of in wildcards.items()]
    files = rules["model_card"].input.files(Wildcards(fromdict=wildcards["convert"]))
    return [*read, {"files": files}]


def test_the_pins_reach_the_rules(site: Path) -> None:
    """As a param, by which Snakemake decides; not as a path, which other machines do not have."""
    study = {"study": "s"} | {key: sources()[key] for key in ("models", "corpora", "tasks")}
    shutil.copy(site / "carrier/reviews.txt", site / "carrier/tiny.gguf")
    study["models"]["g"] = {"package": "carrier/tiny.gguf", "kind": "decoder", "note": "tiny"}
    (site / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.test_packages", site / "study.yaml"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{site}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    model, text = data_sources.pin(SOURCE["package"]), data_sources.pin("carrier/reviews.txt")
    made = "results/s/g/converted"
    assert found.pop() == {"files": [made, f"{made}.sha256"]}
    pins = [model, text, text, text]
    assert [{key: source.get(key) for key in model} for source in found] == pins
    assert found[3] == text | {"package": "carrier/tiny.gguf"}
    assert found[2]["domains"]["d"] == text | {"package": "carrier/reviews.txt"}
    assert str(site) not in json.dumps(found)


if __name__ == "__main__":
    print(json.dumps(read_by_rules(Path(sys.argv[1]))))
