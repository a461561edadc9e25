"""The papers' study on stand-ins: a copy of the workflow, a hub, a mirror, and a small config."""

import subprocess
import sys
from pathlib import Path

import yaml

from tests.papers import berts, data_sets, sources
from tests.papers.hub import Repositories, environment
from tests.workflow.copied import copy_workflow

STUDY = "studies/papers.yaml"
# Numbers alone: every model, task, corpus, set-up and target of the study stays.
SMALL = {
    "device": "cpu",
    "threads": 1,
    "corpora": {
        "text": {"wikipedia": {"n_segments": 6, "max_tokens": 40, "training_share": 0.1}},
        "treebanks": {"trees": {"max_tokens": 40}},
    },
    "attention": {"shards": 2, "task_examples": 6, "batch_tokens": 128},
    "checkpoints": {
        "mlm_head": {"n_segments": 4, "maskings": 1, "epochs": 1},
        "finetune": {"seeds": [1], "epochs": 1, "batch_size": 8},
    },
    "surface": {"bootstrap": 100, "gradients": {"n_segments": 4}},
    "syntax": {"bootstrap": 100, "fewest": 1},
    "coreference": {"bootstrap": 100},
    "probes": {"epochs": 1, "hidden": 4, "structural_rank": 2, "bootstrap": 100},
    "clusters": {"n_segments": 6, "permutations": 100},
    "patterns": {"folds": 2, "epochs": 1},
    "frames": {"bootstrap": 100, "permutations": 400},
    "finetuning": {"bootstrap": 100},
    "ablation": {"bootstrap": 100, "permutations": 400, "halves": 10},
    "pruning": {
        "step": 0.25,
        "draws": 1,
        "examples": 8,
        "bootstrap": 100,
        "speed": {"examples": 4, "repeats": 2},
    },
    "arguments": {
        "seeds": [1],
        "easy": {"bootstrap": 100},
        "bert": {
            "grid": {"learning_rate": [0.001, 0.002], "epochs": [1]},
            "grids": [{"model": "uncased", "learning_rate": [0.001], "epochs": [1, 2]}],
            "epochs": 2,
        },
        "bov": {
            "grid": {
                "learning_rate": [0.1, 0.2],
                "dropout": [0.1],
                "epochs": [1],
                "batch_size": [16],
            },
            "epochs": 1,
        },
        "bilstm": {
            "grid": {"learning_rate": [0.1, 0.2], "dropout": [0.1], "hidden": [4]},
            "epochs": 1,
        },
        "reliance": {"cues": 2, "bootstrap": 100},
        "heads": {"bootstrap": 100, "permutations": 400},
    },
    "translation": {
        "train": {
            "seeds": [1],
            "vocabulary": 100,
            "hidden": 16,
            "feed_forward": 16,
            "layers": 2,
            "heads": 2,
            "epochs": 2,
            "batch_size": 8,
        },
        "generation": {"beams": 2, "max_new_tokens": 6},
        "pruning": {"step": 0.5, "examples": 8},
        "bootstrap": 100,
        "permutations": 2000,
        "halves": 10,
    },
}


class PapersStudy:
    """A copy of the workflow in which the papers' study runs on what lies next to it."""

    def __init__(self, folder: Path) -> None:
        """Copy the workflow, and make up what the study downloads."""
        self.folder = folder / "workflow"
        self.repositories = Repositories(folder / "hub")
        self.mirror, self.vectors = folder / "mirror", folder / "vectors"
        self.home = folder / "home"
        copy_workflow(self.folder)
        text = (self.folder / STUDY).read_text(encoding="utf-8")
        self.config = yaml.safe_load(text)
        for name, model in self.config["models"].items():
            place = self.repositories.add("models", model["hub"], model["revision"])
            berts.write(place, n_layers=3 if name == "large" else 2, cased=name == "cased")
        text = self.config["corpora"]["text"]["wikipedia"]
        place = self.repositories.add("datasets", text["hub"], text["revision"])
        data_sets.write_wikitext(place, text["name"])
        ((glue, commit),) = {
            (task["hub"], task["revision"])
            for task in self.config["tasks"].values()
            if "hub" in task
        }
        data_sets.write_glue(self.repositories.add("datasets", glue, commit), 16, 6)
        sources.write(self.mirror, self.folder / "sources/files.csv")
        sources.write_vectors(self.vectors, self.mirror)
        (self.folder / "small.yaml").write_text(yaml.safe_dump(SMALL), encoding="utf-8")

    def snakemake(
        self, *options: str, hub: str, proxy: str, **env: str
    ) -> subprocess.CompletedProcess:
        """Run snakemake on the study; all but the hub is asked of the proxy."""
        own = {"GENSIM_DATA_DIR": str(self.vectors), "ATLAS_MIRROR": str(self.mirror)}
        command = [sys.executable, "-m", "snakemake", *options, "--cores", "2"]
        return subprocess.run(
            [*command, "--configfile", STUDY, "small.yaml"],
            cwd=self.folder,
            env=environment(hub, proxy, self.home) | own | env,
            capture_output=True,
            text=True,
        )
