"""What the rules of all chapters share: the checked config, products, look-ups, and staleness."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from workflow_scripts.chapters import CHAPTERS, PAPERS
from workflow_scripts.core.data import cards
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import code_digest, digests
from workflow_scripts.core.run import downloads, model_sources, sources
from workflow_scripts.core.run.config import abilities, check, check_marks, check_paths
from workflow_scripts.core.run.config import served, training_share
from workflow_scripts.core.run.files import files_below, inside
from workflow_scripts.core.run.schema import data_read

SCHEMAS = ROOT / "rules/schemas"

# Jobs need docstrings, which transformers reads.
os.environ.pop("PYTHONOPTIMIZE", None)
check_marks(str(ROOT))
main = workflow.is_main_process
config = check(config, SCHEMAS)
if main:  # jobs are started by a process that has checked the paths
    check_paths(config, SCHEMAS)
config = downloads.locate(sources.pinned(config, refuse=main), SCHEMAS)

RESULTS = f"results/{config['study']}"
# The models that each chapter reads.
SERVED = served(config, SCHEMAS)
MODELS = list(config["models"])
# The tasks of models that are classifiers already, and the encoders that are trained.
ADOPTED = {name: entry["task"] for name, entry in config["models"].items() if "task" in entry}
TRAINED = [
    name
    for name, entry in config["models"].items()
    if entry["kind"] == "encoder" and name not in ADOPTED
]
# Where each model comes from.
NO_SOURCE = ("kind", "task", "chapters", "note")
SOURCES = {
    name: {key: value for key, value in entry.items() if key not in NO_SOURCE}
    for name, entry in config["models"].items()
}
# What a model with a note is called wherever numbers of it are shown.
LABELS = {
    name: f"{name} ({entry.get('note', 'GGUF')})"
    for name, entry in config["models"].items()
    if "note" in entry or model_sources.is_gguf(entry)
}
TEXTS = config["corpora"]["text"]
TREEBANKS = config["corpora"]["treebanks"]
COREFERENCE = config["corpora"]["coreference"]
FRAMES = config["corpora"]["frames"]
VECTORS = config["corpora"]["vectors"]
# The SHA-256 of each source distribution, by its requirement.
SDISTS = {pin["requirement"]: pin["sha256"] for pin in config["sdists"].values()}
# ARCT, whose points have two candidates each, has rules of its own.
TASKS = {name: task for name, task in config["tasks"].items() if name != "arct"}
# Those that the study defines: only they have labels. Scripts read them in core/data/tasks.py.
OWN_TASKS = {name: task for name, task in TASKS.items() if "labels" in task}
os.environ["ATLAS_TASKS"] = json.dumps(OWN_TASKS)
ARCT = config["tasks"].get("arct", {})
FINETUNE = config["checkpoints"]["finetune"]
SEEDS = FINETUNE["seeds"]
# What scripts that compute intervals are given, and those that test as well.
INTERVALS = {"bootstrap": config["bootstrap"], "seed": config["seed"]}
TESTS = INTERVALS | {"permutations": config["permutations"]}
# Tokens of an example whose maps are drawn, at most (Kovaleva et al., appendix A).
MOST_DRAWN_TOKENS = 40
# The classifiers of figures and tables: fine-tuned from pretrained weights, not random ones.
FINETUNED_RUNS = {"task": TASKS, "init": "finetuned", "seed": SEEDS, "allow_missing": True}
# What each model must have, with the chapters that need it.
ABILITIES = abilities(config, SCHEMAS)
# Every corpus whose attention is extracted.
CORPORA = TEXTS | TREEBANKS | COREFERENCE | FRAMES

# Categories of the report, next to the papers, whose menu is in alphabetical order.
JUDGED = "Claims"
COUNTS = "Texts and tasks"
COMPARED = "Two models compared"


include: "common_products.smk"
include: "common_slurm.smk"
include: "common_on_the_fly.smk"


pathvars:
    results=RESULTS,
    logs="<results>/logs",
    benchmarks="<results>/benchmarks",


wildcard_constraints:
    model="|".join(map(re.escape, config["models"])) or "none",
    corpus="|".join(map(re.escape, CORPORA)) or "none",
    text="|".join(map(re.escape, TEXTS)) or "none",
    treebank="|".join(map(re.escape, TREEBANKS)) or "none",
    coref="|".join(map(re.escape, COREFERENCE)) or "none",
    frames="|".join(map(re.escape, FRAMES)) or "none",
    vectors="|".join(map(re.escape, VECTORS)) or "none",
    requirement="|".join(map(re.escape, SDISTS)) or "none",
    download="|".join(map(re.escape, downloads.sources())),
    task="|".join(TASKS) or "none",
    init="finetuned|random",
    seed="[0-9]+",


scattergather:
    attention=config["attention"]["shards"],


# A GPU is shared by the jobs of one machine; a cluster allocates GPUs to each job. With
# `--resources serial=1` a group asks for what its jobs need one after the other.
resource_scopes:
    gpu="local",
    serial="local",


def code(script: str) -> Callable[[object], str]:
    """The digest of what a script of workflow_scripts and its imports mean, as a param.

    It is computed for the jobs that are planned, not for all rules: a job's process parses these.
    """
    path = ROOT / "workflow_scripts" / script
    return lambda wildcards: code_digest.digest(path)


def step(script: str) -> dict:
    """The params of a step that runs a script of workflow_scripts.

    One that draws a figure is given the label of its model, where that has a note.
    """
    given = {"script": script, "code": code(script)}
    if LABELS and "@figures.drawn" in (ROOT / "workflow_scripts" / script).read_text("utf-8"):
        given["label"] = lambda wildcards: LABELS.get(wildcards.get("model"), "")
    return given


def used(corpora: dict) -> list[str]:
    """The corpora that another part of the config names: others are never prepared."""

    def strings(part) -> set[str]:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return {part} if isinstance(part, str) else set().union(*map(strings, inner))

    named = strings(config)
    return [name for name in corpora if name in named]


def source(table: dict, wildcard: str, settings: tuple[str, ...]):
    """A function that gives where the entry that the wildcard names comes from.

    That is everything the study states about the entry except `settings`, which other rules and
    parameters read.
    """
    return lambda wildcards: without(table[wildcards[wildcard]], settings)


def without(entry: dict, settings: tuple[str, ...]) -> dict:
    """A part of the config without the keys `settings`."""
    return {key: value for key, value in entry.items() if key not in settings}


def folder(name: str, path: str, kept: bool = True) -> dict:
    """The outputs of a directory product: itself, and the digests of its files (job.py writes them).

    What is not `kept` is removed after its last reader.
    """
    products = {name: directory(path), f"{name}_digests": path + digests.LISTING}
    return products if kept else {key: temp(product) for key, product in products.items()}


def contents(**folders: str | list[str]) -> dict:
    """The inputs by which a rule reads directory products.

    Snakemake compares a directory by date alone, so that the digests of its files decide.
    """
    inputs = {}
    for name, paths in folders.items():
        listed = [paths] if isinstance(paths, str) else paths
        inputs[name] = ancient(paths)
        inputs[f"{name}_digests"] = [f"{path}{digests.LISTING}" for path in listed]
    return inputs


def origin(entry: dict) -> str:
    """Of what origin a corpus or task is: generated, silver (parsed by a program) or real."""
    return "generated" if "generate" in entry else "silver" if "parse" in entry else "real"


# The kind of data that each chapter reads, their name and their entry.
READ = data_read(config, SCHEMAS, CHAPTERS)
# Of what origin the data of each kind and task are; a kind that two chapters read is the first's.
ORIGINS = {kind: origin(entry) for kind, _, entry in reversed(READ.values())}
ORIGINS |= {task: origin(entry) for task, entry in config["tasks"].items()}
# The workflow's own annotations of maps are an AI model's.
ORIGINS |= {"maps": "machine"} if config.get("patterns", {}).get("builtin") else {}


def memory(mb: int, per_input_mb: float = 0):
    """A function that gives the memory of a job in MB: `mb` and so much for each MB of its input.

    Of an input that is a directory, such as a checkpoint's, its files count. Every further attempt
    is given as much again.
    """

    def mem_mb(wildcards, input, attempt) -> int:
        read = sum(map(bytes_of, input)) / 1e6 if per_input_mb else 0
        return round((mb + per_input_mb * read) * attempt)

    return mem_mb


def minutes(first: int):
    """A function that gives the run time of a job: every further attempt has as much again."""
    return lambda wildcards, attempt: first * attempt


def bytes_of(path: str) -> int:
    """The size of a file, or of all files directly in a directory."""
    if Path(path).is_dir():
        return sum(file.stat().st_size for file in Path(path).iterdir() if file.is_file())
    return Path(path).stat().st_size


def device(wildcards, input=()) -> str:
    """Where a job runs a model. As it takes input, it is not tracked: numbers are the same."""
    return config["device"]


# The rule and the study decide whether a rule wants a GPU, never the host that plans it.
gpu = int(config["device"] != "cpu")
# What jobs that run or train a model ask a scheduler for: memory in MB, minutes, a GPU.
MODEL_JOB = {"mem_mb": memory(6000, 3), "runtime": minutes(240), "gpu": gpu}
TRAINING_JOB = {"mem_mb": memory(8000, 6), "runtime": minutes(1440), "gpu": gpu}
# One that reads a few examples of large caches, or one after the other of many weights.
SAMPLING_JOB = MODEL_JOB | {"mem_mb": memory(4000)}


def files_of(table: dict, wildcard: str, keys: tuple[str, ...] = ("path",), **which):
    """A function that finds the local files of the entry that the wildcard names.

    `keys` name the paths; `which` is for `local_files`.
    """
    return lambda wildcards: [
        file for key in keys for file in local_files(table[wildcards[wildcard]].get(key), **which)
    ]


def local_files(
    path: str | None, folder: str = "", endings: Iterable[str] = ("",), deep: bool = True
) -> list[str]:
    """The files at `path`, a file or a directory; none where the source is elsewhere.

    Of a directory those with one of `endings`. Where it has the folder `folder`, those in it. For a
    path that a job fetches, the directory of what it fetches with their digests.
    """
    if path is None:
        return []
    if fetched := downloads.directory_of(path):
        return [ancient(fetched), fetched + digests.LISTING]
    if not Path(path).is_dir():
        return [path]
    return [str(file) for file in files_below(inside(Path(path), folder), endings, deep)]


def source_files(wildcards) -> list[str]:
    """The files of a local model, so that new weights make its results stale.

    Folders in its directory are not loaded: other formats, earlier checkpoints.
    """
    places = model_sources.local_directories(SOURCES[wildcards.model])
    return [file for place in places for file in local_files(place, deep=False)]


def model_files(wildcards) -> list[str]:
    """The files that are loaded: of a model that must be converted, what a job makes of it."""
    if not model_sources.must_convert(SOURCES[wildcards.model]):
        return source_files(wildcards)
    directory = f"{RESULTS}/{wildcards.model}/{cards.CONVERTED}"
    return [ancient(directory), directory + digests.LISTING]


include: "common_chapters.smk"
include: "common_steps.smk"
