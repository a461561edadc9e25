"""What the studies of the papers' own setting plan, and their settings."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.papers.hub import Nothing, Server, serving
from tests.printed import rules_of
from workflow_scripts.core.data.sources import inside_package
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[2]
FIGURES = {f"clark2019-fig{number}.svg" for number in range(1, 7)}
TABLES = {f"clark2019-table{number}.csv" for number in range(1, 4)}
BERT = ("cased", "uncased")
# Models of studies/papers.yaml by the papers whose figures or tables they have.
PAPERS_MODELS = {
    "clark2019": BERT,
    "kovaleva2019": BERT,
    "michel2019": ("uncased",),
    "niven2019": ("uncased", "large"),
}
# What the user of studies/clark2019.yaml brings.
BROUGHT = (
    "ptb/dev/wsj_2200.conllx",
    "ptb/wsj/wsj_0200.conllx",
    "conll-2012/nw/a.v4_gold_conll",
    "glove.6B.100d.txt",
)


def planned(
    study: str, folder: Path, *options: str, target: str = "clark2019", **env: str
) -> subprocess.CompletedProcess:
    """`snakemake --dry-run` of a study's target, products of Clark et al., in an empty `folder`."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", target, "--cores", "1"]
    command += ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", str(ROOT / "studies" / study), *options]
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True)


def products(output: str) -> dict[str, set[str]]:
    """The figures and tables that are planned for each model."""
    found: dict[str, set[str]] = {}
    for line in re.findall(r"^ +output: (.+)$", output, re.M):
        for model, name in re.findall(r"results/[\w-]+/(\w+)/(?:figures|tables)/([\w.-]+)", line):
            found.setdefault(model, set()).add(name)
    return found


def bring(folder: Path) -> str:
    """Empty stand-ins for the data, and the option that names their directory."""
    for name in BROUGHT:
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return f"data={folder / 'data'}"


def config(study: str) -> dict[str, Any]:
    return check(yaml.safe_load((ROOT / "studies" / study).read_text()), ROOT / "rules/schemas")


def test_all_of_clark_et_al_is_planned_on_bert_base(tmp_path: Path) -> None:
    run = planned("clark2019.yaml", tmp_path, "--config", bring(tmp_path))
    assert run.returncode == 0, run.stderr[-3000:]
    found = products(run.stdout + run.stderr)
    assert found.keys() == set(BERT)
    for model in BERT:
        assert found[model] >= FIGURES | TABLES
        assert found[model] >= {"clark2019-position.csv", "clark2019-linguistic.csv"}


@pytest.mark.parametrize("licensed", [False, True])
def test_the_four_papers_are_planned_without_a_network(tmp_path: Path, licensed: bool) -> None:
    """On their own models and data, or on the licensed corpora in the place of GUM."""
    bring(tmp_path)
    options = ["--config", f"licensed={tmp_path / 'data'}"] if licensed else []
    with serving(Server(Nothing)) as nothing:
        proxies = {"HTTP_PROXY": nothing.url, "HTTPS_PROXY": nothing.url, "HF_HUB_OFFLINE": "0"}
        run = planned("papers.yaml", tmp_path, *options, target="all", **proxies)
        assert nothing.asked == []
    assert run.returncode == 0, run.stderr[-3000:]
    output = run.stdout + run.stderr
    found = products(output)
    assert found.keys() >= {"uncased", "cased", "large"}
    for paper, models in PAPERS_MODELS.items():
        for model in models:
            assert any(name.startswith(f"{paper}-") for name in found[model]), (paper, model)
    assert ("ptb/dev/wsj_2200.conllx" in output) == licensed
    fetched = set(re.findall(r"fetch_source makes results/downloads/([\w-]+)", output))
    assert fetched == {"arct", "arct-runs", "framenet", "multi30k"} | (
        set() if licensed else {"gum"}
    )


@pytest.mark.parametrize("study", ["bert-base.yaml", "clark2019.yaml"])
def test_bert_reads_as_much_text_as_the_paper(study: str) -> None:
    """1000 segments of at most 128 tokens, for every figure of sections 3 and 6."""
    read = config(study)
    text = read["corpora"]["text"][read["surface"]["corpus"]]
    assert (text["n_segments"], text["max_tokens"]) == (1000, 128)
    assert read["surface"]["gradients"]["n_segments"] == 1000
    assert read["clusters"]["n_segments"] == 1000
    assert {model["hub"] for model in read["models"].values()} == {
        f"google-bert/bert-base-{name}" for name in BERT
    }


def test_coreference_documents_are_cut_as_in_the_paper() -> None:
    corpus = config("clark2019.yaml")["corpora"]["coreference"]["ontonotes"]
    assert (corpus["max_tokens"], corpus["windows"]) == (128, "first")


def test_translation_is_searched_as_in_the_paper() -> None:
    """Heads are chosen on newstest2013 and measured on newstest2014 and on MTNT."""
    read = config("wmt14.yaml")["translation"]
    generation = read["generation"]
    assert (generation["beams"], generation["length_penalty"]) == (5, 1)
    data = read["data"]
    assert data["validation"]["source"] == "newstest2013.en"
    assert data["test"]["target"] == "newstest2014.fr"
    mtnt = {"fetch": "newstest", "source": "mtnt.en", "target": "mtnt.fr"}
    assert data["domains"]["mtnt"] == mtnt
    assert (read["modes"], read["sentences"], read["pruning"]["step"]) == (["zero"], 0, 0.1)


def test_smollm2_is_dequantised_before_all_else(tmp_path: Path) -> None:
    try:
        inside_package(config("smollm2.yaml")["models"]["smollm2"]["package"])
    except InputError as error:
        pytest.skip(str(error))
    run = planned("smollm2.yaml", tmp_path)
    assert run.returncode == 0, run.stderr[-3000:]
    output = run.stdout + run.stderr
    tables = {f"clark2019-table{number}.csv" for number in (1, 2)}
    assert products(output)["smollm2"] >= tables | {"clark2019-fig4.svg"}
    rules = rules_of(output)
    assert rules.index("dequantise") < rules.index("model_card") < rules.index("extract")
    assert rules.count("dequantise") == 1
