"""A copy of the workflow with a tiny study, on which whole runs can be tried."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PARTS = ["Snakefile", "config.yaml", "rules", "workflow_scripts", "profiles", "report", "envs"]
PARTS += ["annotations"]
TEXT = (
    "the a river city old small runs flows through near and of in to by was is are built "
    "king people water stone north south many first century town hills trade . , . , "
)
WORDS = TEXT.split()


class TinyStudy:
    """The workflow in a folder of its own; `run` and `planned` call snakemake there."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder = folder
        for part in [*PARTS, "studies"]:
            source = ROOT / part
            if source.is_dir():
                skip = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / part, ignore=skip)
            else:
                shutil.copy2(source, folder / part)
        shutil.copytree(model, folder / "tiny-model")
        (folder / "texts").mkdir()
        for number in range(2):
            (folder / f"texts/{number}.txt").write_text(made_up_text(number), encoding="utf-8")
        (folder / "trees").mkdir()
        for number in range(2):
            trees = made_up_trees(number)
            (folder / f"trees/{number}.conllx").write_text(trees, encoding="utf-8")
        self.config = tiny_config()
        self.write_config()

    def write_config(self) -> None:
        """Write `config` as the study file."""
        text = yaml.safe_dump(self.config, sort_keys=False)
        (self.folder / "tiny.yaml").write_text(text, encoding="utf-8")

    def snakemake(self, *options: str, timeout: float = 600) -> subprocess.CompletedProcess:
        """Run snakemake on the tiny study with the default profile."""
        command = [sys.executable, "-m", "snakemake", *options]
        return subprocess.run(
            [*command, "--cores", "2", "--configfile", "tiny.yaml"],  # which takes all that follows
            cwd=self.folder,
            env=os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def run(self, *targets: str) -> None:
        """Run to the end; a failure shows what snakemake printed."""
        done = self.snakemake(*targets)
        assert done.returncode == 0, done.stdout + done.stderr

    def planned(self, *options: str) -> set[str]:
        """The rules that a dry run would run."""
        done = self.snakemake("--dry-run", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        rules = re.findall(r"^(?:local)?rule (\w+):", done.stdout + done.stderr, re.MULTILINE)
        return set(rules) - {"all"}

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace `old`, which must occur, in a file of the study."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


def tiny_config() -> dict[str, Any]:
    """A study of a tiny random model on made-up text."""
    return {
        "study": "tiny",
        "device": "cpu",
        "models": {"tiny": {"path": "tiny-model"}},
        "corpora": {
            "text": {
                "made-up": {
                    "path": "texts",
                    "format": "plain",
                    "n_segments": 12,
                    "max_tokens": 40,
                    "min_words": 5,
                }
            },
            "treebanks": {"trees": {"path": "trees", "max_tokens": 40}},
            "coreference": {"stories": {"generate": 4}},
            "frames": {"roles": {"generate": 20}},
            "vectors": {"own": {"train": "made-up", "dimensions": 4, "epochs": 1}},
        },
        "tasks": {
            "mrpc": {"generate": {"train": 16, "dev": 6}},
            "sst2": {
                "package": "gensim/test/test_data/pang_lee_polarity.cor",
                "encoding": "cp1252",
                "n_train": 16,
                "n_dev": 6,
            },
            "arct": {"generate": {"train": 16, "dev": 8, "test": 8}, "adversarial": "built"},
        },
        "attention": {"shards": 2, "batch_tokens": 256},
        "checkpoints": {
            "mlm_head": {"n_segments": 10, "maskings": 1, "epochs": 1},
            "finetune": {"batch_size": 8, "epochs": 2, "every_epoch": ["mrpc"]},
        },
        "surface": {"corpus": "made-up", "bootstrap": 100, "gradients": {"n_segments": 6}},
        "syntax": {"treebank": "trees", "bootstrap": 100, "fewest": 1, "relations": ["det"]},
        "coreference": {"corpus": "stories", "bootstrap": 100},
        "probes": {
            "treebank": "trees",
            "vectors": "own",
            "epochs": 1,
            "hidden": 4,
            "structural_rank": 2,
            "bootstrap": 100,
        },
        "clusters": {"corpus": "made-up", "n_segments": 4, "permutations": 100},
        "patterns": {"folds": 2, "epochs": 1, "sheet_maps": 30},
        "frames": {"corpus": "roles", "percentile": 80, "bootstrap": 100},
        "finetuning": {"bootstrap": 100},
        "ablation": {"mean": ["layer"], "reference": 4, "bootstrap": 100, "halves": 10},
        "pruning": {
            "step": 0.25,
            "draws": 2,
            "examples": 8,
            "bootstrap": 100,
            "speed": {"examples": 4, "repeats": 2},
        },
        "arguments": {
            "vectors": "own",
            "seeds": [1],
            "setups": ["full", "W"],
            "train_on": ["original", "negated"],
            "bert": {"grid": {"learning_rate": [0.001, 0.01]}, "epochs": 1},
            "bov": {"grid": {"learning_rate": [0.01, 0.02]}, "epochs": 1},
            "bilstm": {"grid": {"learning_rate": [0.01], "hidden": [4]}, "epochs": 1},
            "reliance": {"cues": 2, "bootstrap": 100},
            "heads": {"points": 4, "bootstrap": 100},
        },
    }


def made_up_text(seed: int) -> str:
    """Documents of paragraphs, one a line, with blank lines between documents."""
    rng = random.Random(seed)
    documents = []
    for _ in range(8):
        paragraphs = [" ".join(rng.choices(WORDS, k=rng.randint(8, 30))) for _ in range(4)]
        documents.append("\n".join(paragraphs))
    return "\n\n".join(documents) + "\n"


def made_up_trees(seed: int) -> str:
    """Sentences in CoNLL-X whose words all depend on the word before."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(12):
        words = rng.choices(WORDS, k=rng.randint(4, 12))
        rows = [
            f"{n}\t{word}\t_\tNN\tNN\t_\t{n - 1}\t{'det' if n > 1 else 'root'}\t_\t_"
            for n, word in enumerate(words, 1)
        ]
        sentences.append("\n".join(rows))
    return "\n\n".join(sentences) + "\n\n"


def rules_importing(tiny_study: TinyStudy, module: str) -> set[str]:
    """The rules whose script imports `module`, a path such as core/data/cache.py."""
    found = set()
    for smk in (tiny_study.folder / "rules").glob("*.smk"):
        text = smk.read_text(encoding="utf-8")
        for name, body in re.findall(r"^rule (\w+):\n(.*?)(?=^\w|\Z)", text, re.M | re.S):
            script = re.search(r'script:\s+"\.\./workflow_scripts/([^"]+)"', body)
            if script and module in _reached(script.group(1)):
                found.add(name)
    return found


@cache
def _reached(script: str) -> set[str]:
    """Files that a fresh Python process loads from the package when it imports `script`."""
    package = ROOT / "workflow_scripts"
    name = "workflow_scripts." + script.removesuffix(".py").replace("/", ".")
    code = (
        "import importlib, json, sys; from pathlib import Path; "
        f"importlib.import_module({name!r}); "
        "print(json.dumps([m.__file__ for n, m in sys.modules.items() "
        "if n.startswith('workflow_scripts') and getattr(m, '__file__', None)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=package.parent,
        env=os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        str(Path(file).relative_to(package)) for file in json.loads(done.stdout.split("\n")[-2])
    }
