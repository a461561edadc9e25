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


def test_the_four_papers_are_planned_without_a_network(tmp_path: Path) -> None:
    """On their own models, and on data that are fetched."""
    with serving(Server(Nothing)) as nothing:
        proxies = {"HTTP_PROXY": nothing.url, "HTTPS_PROXY": nothing.url, "HF_HUB_OFFLINE": "0"}
        command = [sys.executable, "-m", "snakemake", "--dry-run", "all", "--cores", "1"]
        command += ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(tmp_path)]
        command += ["--configfile", str(ROOT / "studies/papers.yaml")]
        run = subprocess.run(command, env=os.environ | proxies, capture_output=True, text=True)
        assert nothing.asked == []
    assert run.returncode == 0, run.stderr[-3000:]
    output = run.stdout + run.stderr
    product = r"results/[\w-]+/(\w+)/(?:figures|tables)/(\w+)-"  # the model and the paper
    found = set(re.findall(product, output))
    for paper, models in PAPERS_MODELS.items():
        assert {(model, paper) for model in models} <= found
    fetched = set(re.findall(r"fetch_source makes results/downloads/([\w-]+)", output))
    assert fetched == {"arct", "arct-runs", "framenet", "gum", "multi30k"}
