"""Helpers of rules; the linter of Snakemake wants them apart from rules."""

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from math import ceil
from os.path import relpath

from workflow_scripts.core.data.packages import location
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.corpora.frame_files import definitions_of
from workflow_scripts.report import captions
from workflow_scripts.report.entries import Entry, heading, titles_of_tasks, with_ending


def cache_mb(model: str, corpus: str) -> int:
    """The MB that are declared for the attention cache of a corpus or task.

    Those are 2 bytes for each layer, head, query and key of examples of `max_tokens` tokens. Where
    only a file holds how many examples a corpus has, 1000 count.
    """
    entry = (CORPORA | TASKS)[corpus]
    keys = ("n_segments", "n_sentences", "generate")
    n = next((entry[key] for key in keys if entry.get(key)), 1000)
    if corpus in TASKS:
        n = config["attention"]["task_examples"]
    maps = ATTENTION_MAPS.get(model) or maps_of(config["models"][model])
    return ceil(n * entry["max_tokens"] ** 2 * maps * 2 / 1e6)


def maps_of(model: dict) -> int:
    """Layers times heads of a model from a path or package; BERT-base's for one on the hub."""
    with suppress(InputError, OSError, ValueError, KeyError):
        if "hub" not in model:
            about = json.loads((location(model) / "config.json").read_text(encoding="utf-8"))
            return about["num_hidden_layers"] * about["num_attention_heads"]
    return 144


def cache_file(path: str):
    """An attention cache; removed after its last reader, where the study keeps none."""
    return path if config["attention"]["keep"] else temp(path)


def card_of(model: str, cache: str) -> str:
    """The card of the model that an attention cache is of: the pretrained one, or a classifier."""
    own = "attention/model" if cache in CORPORA | TASKS else f"checkpoints/{cache}"
    return f"<results>/{model}/{own}.json"


def weights_mb(model: str) -> int:
    """The MB of the weights of a model from a path or package; BERT-base's for one on the hub."""
    with suppress(InputError):
        if "hub" not in (entry := config["models"][model]):
            return ceil(bytes_of(location(entry)) / 1e6)
    return 440


def products_judged(wildcards) -> list[str]:
    """What claims about a model are judged by: printed tables, and what its rules entered."""
    model = {"model": [wildcards.model]}
    entered = [(path, of) for path, _, of in MEASURED] + JUDGED_BY
    printed = CLAIMS_PRINTED[wildcards.model] + CLAIMS_PRINTED[""]
    tables = [file for path, of in entered for file in for_all(path, **of, **model)]
    return list(dict.fromkeys(printed + tables))


def text_of(table: dict, wildcard: str, key: str, endings: tuple[str, ...]):
    """A function that gives the files of the text that the entry names under `key`, if any."""

    def files(wildcards) -> list[str]:
        text = table[wildcards[wildcard]].get(key)
        return [f"<results>/corpora/{text}.{ending}" for ending in endings] if text else []

    return files


def caption_of(entry: Entry) -> str:
    """The file of an entry's caption."""
    return relpath(ROOT / f"report/{entry.caption}.rst")


def by_model(files: Iterable[str]) -> dict[str, list[str]]:
    """The files of each model, and under "" those of the whole study."""
    found = {model: [] for model in ["", *MODELS]}
    for file in files:
        folder = file.replace("<results>", RESULTS).removeprefix(f"{RESULTS}/").partition("/")[0]
        found[folder if folder in config["models"] else ""].append(file)
    return found


def tables_printed(category: str, of_model: bool) -> dict[str, Entry]:
    """The printed tables of a category, of each model or of the study: one entry by its pattern."""
    listed = [entry for entry in ENTRIES if entry.kind == "table" and entry.category == category]
    return {entry.pattern: entry for entry in listed if ("model" in entry.of) == of_model}


def headings_of(printed: Iterable[Entry]) -> list[str]:
    """The titles of printed tables, the same for every model."""
    words = titles_of_tasks()
    return [heading(entry, words) for entry in printed]


@cache
def texts_of(*files: str) -> str:
    """Digest of captions as this study renders them, for every model the same."""
    return captions.digest(map(Path, files), config)


def page_of(entry: Entry):
    """The pages of a printed table of all models, which the report shows."""
    place = {"category": entry.category, "subcategory": entry.subcategory or None}
    return reported(with_ending(entry.pattern, "html"), entry.title, place, entry.caption)


def corpora_definitions(wildcards) -> list[str]:
    """The files of FrameNet's frames, where the study's filters read them; the job misses others."""
    path = FRAMES[wildcards.frames].get("path")
    if (
        path is None
        or CORPORA_FRAME_FILTERS != "released"
        or not definitions_of(Path(path)).is_dir()
    ):
        return []
    return local_files(str(definitions_of(Path(path))))


def domains_of(table: dict, wildcard: str):
    """A function that finds the local files of the domains of the task that the wildcard names."""

    def files(wildcards) -> list[str]:
        domains = table[wildcards[wildcard]]["domains"].values()
        return [file for domain in domains for file in local_files(domain.get("path"))]

    return files


def translator_mb(hidden: int, feed_forward: int, layers: int, vocabulary: int, **_) -> int:
    """The MB of the weights of a translator that the study trains: embeddings and matrices."""
    layer = 12 * hidden**2 + 4 * hidden * feed_forward  # one of the encoder, one of the decoder
    return ceil(4 * (vocabulary * hidden + layers * layer) / 1e6)


def translated(kind, name: str, title: str):
    """A figure or table of all translators."""
    return kind(f"michel2019-translation-{name}", title, TRANSLATION_SECTION, per_model=False)


def unfinished() -> set[str]:
    """The outputs of the jobs of this run that have failed or were not reached."""
    return {str(file) for job in workflow.dag.needrun_jobs() for file in job.output}
