"""Helpers of rules; the linter of Snakemake wants them apart from rules."""

from collections.abc import Iterable
from functools import cache
from os.path import relpath
from types import SimpleNamespace

from workflow_scripts.atlas.findings import CANDIDATES
from workflow_scripts.corpora.frame_files import definitions_of
from workflow_scripts.report.entries import caption, labels, titles_of_tasks


def cache_file(path: str):
    """An attention cache; removed after its last reader, where the study keeps none."""
    return path if config["attention"]["keep_caches"] else temp(path)


def card_of(model: str, cache: str) -> str:
    """The card of the model that an attention cache is of: the pretrained one, or a classifier."""
    own = "attention/model" if cache in CORPORA | TASKS else f"checkpoints/{cache}"
    return f"<results>/{model}/{own}.json"


def claims_of(wildcards) -> list[str]:
    """The files of claims that a model is judged by."""
    kind = config["models"][wildcards.model]["kind"]
    own = published.FILES[kind] if CLAIMS["builtin"] else ()
    return [relpath(ROOT / f"claims/{name}.csv") for name in own] + CLAIMS["files"]


def atlas_findings(wildcards) -> dict[str, list[str]]:
    """What the findings of the atlas rest on, of the chapters that the study has."""
    judged = SERVED["claims"] if "claims" in config else []
    named = [candidate[0] for candidate in CANDIDATES if isinstance(candidate, tuple)]
    published = {file for model in judged for file in claims_of(SimpleNamespace(model=model))}
    return {
        "claims": expand("<results>/{model}/tables/claims.csv", model=judged),
        "cases": expand("<results>/{model}/claims/cases.parquet", model=judged),
        "published": sorted(published),
        "printed": [each.path for each in ENTRIES if each.name in named and each.kind == "table"],
    }


def atlas_figures(wildcards) -> list[dict[str, str]]:
    """What each figure of the study is, in its order, with its caption's text."""
    words, found = titles_of_tasks(), []
    for entry in ENTRIES:
        if entry.kind == "figure":
            named = labels(entry, ENTRIES, words, LABELS)
            of_job = {"wildcards": entry.of, "params": DRAWN[entry.drawn]["params"]}
            path = Path(entry.path).relative_to(RESULTS)
            about = {
                "id": path.with_suffix("").as_posix().replace("figures/", ""),
                "title": named["result"] + (f", {named['task']}" if "task" in named else ""),
                "model": entry.of.get("model", ""),
                "label": named.get("model", ""),
                "category": entry.category,
                "caption": caption(
                    ROOT / f"report/{entry.caption}.rst", config, rule=entry.drawn, **of_job
                ),
            }
            found.append(about)
    return found


def products_judged(wildcards) -> list[str]:
    """What claims about a model are judged by: of all its tables those that measures read."""
    from workflow_scripts.claims.claim_verdicts import files_read  # slow, and only needed here

    entered = [(path, of) for path, _, of in MEASURED] + JUDGED_BY
    printed = CLAIMS_PRINTED[wildcards.model] + CLAIMS_PRINTED[""]
    files = dict.fromkeys(printed + declared_of(wildcards.model, entered))
    return files_read(map(Path, claims_of(wildcards)), files)


def untrained_of(model: str) -> list[str]:
    """The tables of a model's untrained copies, where the study has some."""
    return untrained_products(model) if "untrained" in config else []


def untrained_judged(wildcards) -> list[str]:
    """Those that measures of claims read."""
    from workflow_scripts.claims.claim_verdicts import files_read

    return files_read(map(Path, claims_of(wildcards)), untrained_of(wildcards.model))


def text_of(table: dict, wildcard: str, key: str, endings: tuple[str, ...]):
    """A function that gives the files of the text that the entry names under `key`, if any."""

    def files(wildcards) -> list[str]:
        text = table[wildcards[wildcard]].get(key)
        return [f"<results>/corpora/{text}.{ending}" for ending in endings] if text else []

    return files


def by_model(files: Iterable[str]) -> dict[str, list[str]]:
    """The files of each model, and under "" those of the whole study."""
    found = {model: [] for model in ["", *config["models"]]}
    for file in files:
        folder = file.replace("<results>", RESULTS).removeprefix(f"{RESULTS}/").partition("/")[0]
        found[folder if folder in config["models"] else ""].append(file)
    return found


def atlas_generated(model: str) -> list[str]:
    """The corpora and tasks of a model's maps that no person wrote."""
    return [name for name in ATLAS_KINDS[model] if origin((CORPORA | TASKS)[name]) == "generated"]


def atlas_classifiers(wildcards) -> dict[str, list[str]]:
    """What the maps of a model's classifiers are made from, where it has classifiers."""
    kinds, model = ATLAS_KINDS[wildcards.model], f"<results>/{wildcards.model}"
    tasks = [name for name, kind in kinds.items() if kind == "task"]
    runs = [f"{task}.finetuned.{SEEDS[0]}" for task in tasks]
    stored = [] if wildcards.model in ADOPTED else runs  # else the model's own attention is theirs
    return contents(checkpoints=[f"{model}/checkpoints/{run}" for run in runs]) | {
        "tuned": [f"{model}/attention/{run}.h5" for run in stored],
        "cards": [f"{model}/checkpoints/{run}.json" for run in runs],
        "tables": [f"<results>/tasks/{task}.parquet" for task in tasks],
    }


def corpora_definitions(wildcards) -> list[str]:
    """The files of FrameNet's frames, where the study's filters read them; the job misses others."""
    path = FRAMES[wildcards.frames].get("path")
    if path is None or CORPORA_FRAME_FILTERS != "released":
        return []
    folder = definitions_of(Path(path))
    return local_files(str(folder)) if folder.is_dir() else []


def domains_of(wildcards) -> list[str]:
    """The local files of the domains of a task."""
    domains = TASKS[wildcards.task].get("domains", {}).values()
    return [file for domain in domains for file in local_files(domain.get("path"))]


def training_files(path: str | None, unread: tuple[str, ...]) -> list[str]:
    """The local files at a path; of a directory, those whose names begin with none of `unread`."""
    files = local_files(path)
    if path is None or downloads.directory_of(path) or not Path(path).is_dir():
        return files
    return [file for file in files if not Path(file).name.lower().startswith(unread)]


def argument_search(grid: str, settings: dict, wildcards) -> list[str]:
    """The search that training takes its settings from, where its grid has several points."""
    if not any(len(values) > 1 for values in settings["grid"].values()):
        return []
    searched = "original" if settings["search"] == "full" else wildcards.trained_on
    return expand(grid, **dict(wildcards.items()) | {"trained_on": searched})


def checkpoint_labels(wildcards) -> dict:
    """The labels of an own task, whose table has their numbers alone."""
    task = OWN_TASKS.get(wildcards.task, {})
    return without(task, (*TASK_EVALUATED, "n_train", "max_tokens"))


def translation_files(aligned: dict) -> list[str]:
    """The local files of line-aligned splits, of entries with source and target."""
    pairs = [pair for pair in aligned.values() if isinstance(pair, dict) and "target" in pair]
    return [file for pair in pairs for side in pair.values() for file in local_files(side)]


def task_generated(name: str) -> dict:
    """The inputs of the directory that the study's own grammar writes a task into."""
    read = {
        task: contents(generated=[f"<results>/tasks/{task}.{name}"] if "generate" in entry else [])
        for task, entry in TASKS.items()
    }
    return {
        key: lookup(f"{{task}}/{key}", within=read) for key in ("generated", "generated_digests")
    }
