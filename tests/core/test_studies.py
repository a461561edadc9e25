"""What the studies of the papers' own setting plan."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.papers.hub import Nothing, Server, serving

ROOT = Path(__file__).parents[2]
BERT = ("cased", "uncased")
# Models of studies/papers.yaml by the papers whose figures or tables they have.
PAPERS_MODELS = {
    "clark2019": BERT,
    "kovaleva2019": BERT,
    "michel2019": ("uncased",),
    "niven2019": ("uncased", "large"),
}


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


def test_the_four_papers_are_planned_without_a_network(tmp_path: Path) -> None:
    """On their own models, and on data that are fetched."""
    with serving(Server(Nothing)) as nothing:
        proxies = {"HTTP_PROXY": nothing.url, "HTTPS_PROXY": nothing.url, "HF_HUB_OFFLINE": "0"}
        run = planned("papers.yaml", tmp_path, target="all", **proxies)
        assert nothing.asked == []
    assert run.returncode == 0, run.stderr[-3000:]
    output = run.stdout + run.stderr
    found = products(output)
    assert found.keys() >= {"uncased", "cased", "large"}
    for paper, models in PAPERS_MODELS.items():
        for model in models:
            assert any(name.startswith(f"{paper}-") for name in found[model]), (paper, model)
    fetched = set(re.findall(r"fetch_source makes results/downloads/([\w-]+)", output))
    assert fetched == {"arct", "arct-runs", "framenet", "gum", "multi30k"}
