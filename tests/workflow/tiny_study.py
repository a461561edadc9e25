"""A copy of the workflow with a tiny study, on which whole runs can be tried."""

import copy
import os
import random
import re
import shutil
import subprocess
import sys
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

import yaml

from tests.import_graph import import_graph
from tests.parsed_rules import parsed_rules
from tests.workflow.copied import ROOT, copy_workflow
from workflow_scripts.chapters import CHAPTERS
from workflow_scripts.core.run import schema

PACKAGE = "workflow_scripts"
TEXT = (
    "the a river city old small runs flows through near and of in to by was is are built "
    "king people water stone north south many first century town hills trade . , . , "
)
WORDS = TEXT.split()
JOB = re.compile(r"^ *(?:(?:local)?rule (\w+):$|Job \d+: (\w+) makes )", re.MULTILINE)


class TinyStudy:
    """The workflow in a folder of its own; `run` and `planned` call snakemake there."""

    def __init__(self, folder: Path, model: Path) -> None:
        """Copy the workflow and a model to `folder`, and make up texts and trees."""
        self.folder = folder
        copy_workflow(folder)
        shutil.copytree(model, folder / "tiny-model")
        write_data(folder)
        self.config = tiny_config()
        self.write_config()

    @classmethod
    def made_at(cls, folder: Path) -> Self:
        """The study that another process has made in `folder`."""
        study = cls.__new__(cls)
        text = (folder / "tiny.yaml").read_text(encoding="utf-8")
        study.folder, study.config = folder, yaml.safe_load(text)
        return study

    def copy(self, folder: Path) -> Self:
        """The same study, with its results, in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True)
        twin = copy.copy(self)
        twin.folder, twin.config = folder, copy.deepcopy(self.config)
        return twin

    def write_config(self) -> None:
        """Write `config` as the study file."""
        text = yaml.safe_dump(self.config, sort_keys=False)
        (self.folder / "tiny.yaml").write_text(text, encoding="utf-8")

    def snakemake(self, *options: str, timeout: float = 3600) -> subprocess.CompletedProcess:
        """Run snakemake on the tiny study with the default profile."""
        command = [sys.executable, "-m", "snakemake", *options]
        return subprocess.run(
            [*command, "--cores", "2", "--configfile", "tiny.yaml"],  # which takes all that follows
            cwd=self.folder,
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def run(self, *targets: str) -> None:
        """Run to the end; a failure shows what snakemake printed."""
        done = self.snakemake(*targets)
        assert done.returncode == 0, done.stdout + done.stderr

    def planned(self) -> set[str]:
        """The rules that a dry run would run."""
        done = self.snakemake("--dry-run")
        assert done.returncode == 0, done.stdout + done.stderr
        return set(rules_of(done.stdout + done.stderr)) - {"all"}

    def with_followers(self, rules: set[str]) -> set[str]:
        """`rules` and those with a job that needs, directly or not, a product of theirs."""
        names, followers = self._jobs
        reached: set[str] = set()
        waiting = [job for job, rule in names.items() if rule in rules]
        while waiting:
            job = waiting.pop()
            if job not in reached:
                reached.add(job)
                waiting += followers[job]
        return rules | {names[job] for job in reached} - {"all"}

    @property
    def rules(self) -> set[str]:
        """The rules that a whole run of the study has jobs of."""
        return set(self._jobs[0].values())

    @cached_property
    def _jobs(self) -> tuple[dict[str, str], dict[str, list[str]]]:
        """The rule of each job of a whole run, and the jobs that follow it."""
        done = self.snakemake("--dag", "dot")
        assert done.returncode == 0, done.stderr
        names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)', done.stdout, re.MULTILINE))
        assert len(names) > 100, done.stdout
        followers: dict[str, list[str]] = {job: [] for job in names}
        for job, follower in re.findall(r"^\s*(\d+) -> (\d+)", done.stdout, re.MULTILINE):
            followers[job].append(follower)
        return names, followers


def write_data(folder: Path) -> None:
    """Make up the study's decoder, texts and trees."""
    from tests.core.tiny_decoders import save_llama  # torch, which takes seconds to import

    save_llama(folder / "tiny-decoder")
    (folder / "texts").mkdir()
    (folder / "trees").mkdir()
    for number in range(2):
        (folder / f"texts/{number}.txt").write_text(made_up_text(number), encoding="utf-8")
        trees = made_up_trees(number)
        (folder / f"trees/{number}.conllx").write_text(trees, encoding="utf-8")


def tiny_config() -> dict[str, Any]:
    """A study of tiny random models on made-up text, with every chapter."""
    config = {
        "study": "tiny",
        "device": "cpu",
        "bootstrap": 100,
        "permutations": 1000,
        "threads": 1,  # so that two jobs run at a time: most of each is the import of torch
        "models": {
            "tiny": {"from": "tiny-model"},
            "decoder": {
                "from": "tiny-decoder",
                "kind": "decoder",
                "chapters": ["battery", "context"],
            },
            "twin": {"from": "tiny-model", "chapters": ["compare"]},
        },
        "corpora": {
            "text": {
                "made-up": {
                    "from": "texts",
                    "format": "plain",
                    "n_segments": 12,
                    "max_tokens": 40,
                    "segments": "pairs",
                    "min_words": 5,
                }
            },
            "treebanks": {"trees": {"from": "trees", "max_tokens": 40}},
            "coreference": {"stories": {"from": "generate:4"}},
            "frames": {"roles": {"from": "generate:20"}},
            "vectors": {"own": {"from": "train:made-up", "dimensions": 4, "epochs": 1}},
        },
        "tasks": {
            "mrpc": {"from": {"generate": {"train": 16, "dev": 6}}},
            "arct": {
                "from": {"generate": {"train": 16, "dev": 8, "test": 8}},
                "adversarial": "built",
            },
        },
        "attention": {"batch_tokens": 256},
        "checkpoints": {
            "mlm_head": {"n_segments": 10, "maskings": 1, "epochs": 1},
            "finetune": {"batch_size": 8, "epochs": 2, "every_epoch": ["mrpc"]},
        },
        "surface": {"gradients": {"n_segments": 6}},
        "syntax": {"fewest": 1, "relations": ["det"]},
        "probes": {
            "treebank": "trees",
            "vectors": "own",
            "epochs": 1,
            "hidden": 4,
            "structural_rank": 2,
        },
        "clusters": {"n_segments": 4},
        "patterns": {"folds": 2, "epochs": 1, "sheet_maps": 30},
        "frames": {"percentile": 80},
        "finetuning": {},
        "ablation": {
            "modes": ["uniform", "zero", "resample"],
            "mean_units": ["layer"],
            "reference": 4,
        },
        "mixing": {
            "measures": ["ratio", "zeroing"],
            "zeroing": {"n_segments": 4, "max_tokens": 20},
        },
        "untrained": {"copies": 2, "n_segments": 4},
        "pruning": {
            "step": 0.25,
            "draws": 2,
            "examples": 8,
            "speed": {"examples": 4, "repeats": 2},
        },
        "arguments": {
            "vectors": "own",
            "seeds": [1],
            "setups": ["full", "W"],
            "train_on": ["original"],
            "bert": {"grid": {"learning_rate": [0.001, 0.01]}, "epochs": 1},
            "bov": {"grid": {"learning_rate": [0.01, 0.02]}, "epochs": 1},
            "bilstm": {"grid": {"learning_rate": [0.01], "hidden": [4]}, "epochs": 1},
            "reliance": {"cues": 2},
            "heads": {"points": 4},
        },
        "translation": {
            "data": {"from": {"generate": {"train": 40, "validation": 6, "test": 6}}},
            "train": {
                "vocabulary": 100,
                "hidden": 16,
                "feed_forward": 16,
                "layers": 2,
                "heads": 2,
                "epochs": 2,
                "batch_size": 8,
                "seeds": [1],
                "every_epoch": True,
            },
            "generation": {"beams": 2, "max_new_tokens": 6},
            "pruning": {"step": 0.5, "draws": 1, "examples": 8},
        },
        "compare": {"before": "tiny", "after": "twin"},
        "report": {"without": ["kovaleva2019-fig8"]},
        "battery": {"length": 10, "n_segments": 12},
        "context": {
            "n_tokens": 24,
            "n_documents": 2,
            "n_held_out": 3,
            "gate_steps": 3,
            "sinks": 2,
            "recent": 8,
            "steps": 4,
            "draws": 2,
        },
    }
    for chapter in CHAPTERS:
        config[chapter] = corpora_of(chapter, config) | config.get(chapter, {})
    return config


def corpora_of(chapter: str, config: dict[str, Any]) -> dict[str, str]:
    """The keys that the chapter requires and that name a corpus, each with the study's only one."""
    part = schema.assemble(ROOT / "rules/schemas")["properties"][chapter]
    names = {key: part["properties"][key].get("names", "") for key in part.get("required", [])}
    return {
        key: next(iter(config["corpora"][name.removeprefix("corpora.")]))
        for key, name in names.items()
        if name.startswith("corpora.")
    }


def rules_of(printed: str) -> list[str]:
    """The rule of each job, whether it is printed in full or by its message."""
    return [rule or of_message for rule, of_message in JOB.findall(printed)]


def refusal(printed: str) -> str:
    """The line of the InputError that kept the workflow, or the study's file, from being read."""
    lines = printed.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith("InputError in file ")]
    found = {lines[start + 1] for start in starts}  # one attempt after the other fails alike
    (line,) = found or {line for line in lines if line.startswith("Error: ")}
    return line


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


def rules_importing(module: str) -> set[str]:
    """The rules whose script imports `module`, a path such as core/data/cache.py."""
    rules = parsed_rules().values()
    return {rule.name for rule in rules if rule.script and module in imported(rule.script)}


@cache
def imported(script: str) -> set[str]:
    """The modules that `script` imports, directly or not, and itself; all as paths.

    Read by grimp, not by the code that the staleness of results rests on.
    """
    names = {module_name(script)} | import_graph().find_upstream_modules(module_name(script))
    return {name.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py" for name in names}


def module_name(path: str) -> str:
    """The name of the module at a path below the package."""
    return f"{PACKAGE}." + path.removesuffix(".py").replace("/", ".")
