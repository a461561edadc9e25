"""What every chapter's rules need: the checked config, names, and what makes a result stale."""

from os.path import relpath
from pathlib import Path
from platform import system
from shutil import which

from snakemake.exceptions import WorkflowError

from workflow_scripts.core.run import meaning
from workflow_scripts.core.run.config import check, check_results_directory
from workflow_scripts.core.run.errors import InputError

try:
    config = check(config, Path(workflow.basedir) / "rules/schemas/config.schema.yaml")
    check_results_directory(Path("results"))
except InputError as error:
    raise WorkflowError(str(error)) from None

STUDY = f"results/{config['study']}"
MODELS = list(config["models"])
TEXTS = config["corpora"]["text"]
TREEBANKS = config["corpora"]["treebanks"]
COREFERENCE = config["corpora"]["coreference"]
FRAMES = config["corpora"]["frames"]
VECTORS = config["corpora"]["vectors"]
# The GLUE tasks; ARCT, which has two candidates for each point, goes its own way.
TASKS = {name: task for name, task in config["tasks"].items() if name != "arct"}
ARCT = config["tasks"].get("arct", {})
FINETUNE = config["checkpoints"]["finetune"]
SEEDS = FINETUNE["seeds"]
# Everything that a model reads, tasks aside.
CORPORA = TEXTS | TREEBANKS | COREFERENCE | FRAMES

# The annotated maps that come with the workflow; relative, so that a moved checkout is the same.
ANNOTATED_MAPS = relpath(Path(workflow.basedir) / "annotations/minilm.csv")

# The products of all chapters; each chapter adds its own.
FIGURES: list[str] = []
TABLES: list[str] = []


wildcard_constraints:
    model="|".join(map(re.escape, MODELS)),
    corpus="|".join(map(re.escape, CORPORA)) or "none",
    text="|".join(map(re.escape, TEXTS)) or "none",
    treebank="|".join(map(re.escape, TREEBANKS)) or "none",
    coref="|".join(map(re.escape, COREFERENCE)) or "none",
    frames="|".join(map(re.escape, FRAMES)) or "none",
    vectors="|".join(map(re.escape, VECTORS)) or "none",
    task="|".join(TASKS) or "none",
    init="pretrained|random",
    seed="[0-9]+",
    family="bov|bilstm",
    trained_on="original|swapped|negated",


scattergather:
    attention=config["attention"]["shards"],


# A GPU is shared by the jobs of one machine; a cluster hands out its own.
resource_scopes:
    gpu="local",


# Without a GPU, models run side by side on the cores.
GPU_HERE = which("nvidia-smi") is not None or system() == "Darwin"


def code(script: str) -> str:
    """Digest of what a script of workflow_scripts and its imports mean."""
    return meaning.digest(Path(workflow.basedir) / "workflow_scripts" / script)


def model_source(wildcards) -> dict:
    return config["models"][wildcards.model]


def model_files(wildcards) -> list[str]:
    """The files of a local model, so that new weights make its results stale."""
    return local_files(config["models"][wildcards.model].get("path"))


def local_files(path: str | None) -> list[str]:
    """The regular files at `path`, a file or a directory; none where the source is elsewhere."""
    if path is None:
        return []
    if not Path(path).exists():
        raise WorkflowError(f"config: path: {path}: no such file or directory; correct the path")
    if Path(path).is_file():
        return [path]
    return sorted(str(file) for file in Path(path).iterdir() if file.is_file())


def gpu(wildcards) -> int:
    """Rules that run a model ask for a GPU, where there is one and the study wants it."""
    return int(config["device"] != "cpu" and GPU_HERE)


def files_of(sources: dict, kind: str):
    """A function that finds the local files of the source that the wildcard `kind` names."""

    def files(wildcards) -> list[str]:
        return local_files(sources[wildcards[kind]].get("path"))

    return files


def coreference_files(wildcards) -> list[str]:
    corpus = COREFERENCE[wildcards.coref]
    return local_files(corpus.get("path")) + local_files(corpus.get("trees"))


def frames_files(wildcards) -> list[str]:
    """The lu files: of a FrameNet directory, of a directory of lu files, or one."""
    path = FRAMES[wildcards.frames].get("path")
    inner = None if path is None else Path(path) / "lu"
    return local_files(str(inner) if inner and inner.is_dir() else path)


def generated_files(wildcards) -> list[str]:
    """The directory of a task that the study's own grammar writes."""
    generated = "generate" in TASKS[wildcards.task]
    return [f"{STUDY}/tasks/{wildcards.task}.generated"] if generated else []


def arct_place(wildcards) -> list[str]:
    """The directory of ARCT's files where the study makes or fetches it."""
    kinds = ("generate", "fetch")
    return [f"{STUDY}/tasks/arct.{kind}" for kind in kinds if ARCT.get(kind)]


def arct_files(wildcards) -> list[str]:
    """ARCT's local files, and those in the folders beside them."""
    named = [ARCT[key] for key in ("test", "truth") if key in ARCT]
    found = local_files(ARCT.get("path")) + [file for one in named for file in local_files(one)]
    folders = sorted(Path(ARCT["path"]).glob("*/")) if "path" in ARCT else []
    return found + [file for one in folders for file in local_files(str(one))]


def searched(wildcards) -> list[str]:
    """The table of the grid search, where a family's grid has more than one point."""
    family = wildcards.get("family", "bert")
    if all(len(values) == 1 for values in config["arguments"][family]["grid"].values()):
        return []
    owner = "arguments" if family != "bert" else f"{wildcards.model}/arguments"
    return [f"{STUDY}/{owner}/{family}.{wildcards.trained_on}.grid.csv"]


def kept(wildcards) -> list[str]:
    """The set-ups whose weights are kept: only of models trained on the original points."""
    return config["arguments"]["keep"] if wildcards.trained_on == "original" else []


def annotated_caches(wildcards) -> list[str]:
    """The caches, written <model>/<cache>, that the study's own annotated maps come from."""
    names = [Path(name) for one in config["patterns"]["annotations"] for name in one["caches"]]
    return [f"{STUDY}/{name.parent}/attention/{name.name}.h5" for name in names]


def table_if_any(chapter: str, table: str) -> list[str]:
    """A table of what heads do, of a chapter that the study may go without."""
    path = f"{STUDY}/{{model}}/{chapter}/{table}.parquet"
    return [path] if chapter in config else []


def recipe(wildcards) -> dict:
    """How a checkpoint is trained, for checkpoints/classifier_training.py."""
    keys = ("epochs", "batch_size", "learning_rate", "warmup", "weight_decay", "precision")
    return {key: FINETUNE[key] for key in keys} | {"seed": int(wildcards.seed)}


def vectors_texts(wildcards) -> list[str]:
    """The texts that word vectors are trained on."""
    text = VECTORS[wildcards.vectors].get("train")
    parts = ("training.jsonl", "jsonl")
    return [f"{STUDY}/corpora/{text}.{part}" for part in parts] if text else []


def parsed_text(wildcards) -> list[str]:
    """The segments that a silver treebank is parsed from."""
    text = TREEBANKS[wildcards.treebank].get("parse")
    return [f"{STUDY}/corpora/{text}.jsonl"] if text else []


def source_of(corpus: dict) -> dict:
    """The keys of a corpus that say where it comes from."""
    keys = ("hub", "name", "split", "revision", "path", "package", "parse", "spacy", "format")
    keys += ("generate", "trees", "download", "train", "encoding", "nltk", "test", "truth")
    return {key: corpus[key] for key in keys if key in corpus}


def text_setting(key: str):
    """A function that looks up `key` of the text at hand."""

    def setting(wildcards):
        return TEXTS[wildcards.text][key]

    return setting


def max_tokens(wildcards) -> int:
    return CORPORA[wildcards.corpus]["max_tokens"]
