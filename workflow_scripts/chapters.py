"""The chapters of the workflow and the papers, in order, and what each chapter declares."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

# In the order of the rule files; a study has those that its config names.
CHAPTERS = (
    "corpora",
    "tasks",
    "attention",
    "checkpoints",
    "surface",
    "syntax",
    "coreference",
    "probes",
    "clusters",
    "patterns",
    "frames",
    "finetuning",
    "ablation",
    "pruning",
    "arguments",
    "translation",
    "battery",
    "context",
    "mixing",
    "untrained",
    "compare",
    "claims",
    "atlas",
    "report",
)


# The papers by the beginning of their products' names.
PAPERS = {
    "clark2019": "Clark et al. 2019",
    "kovaleva2019": "Kovaleva et al. 2019",
    "michel2019": "Michel et al. 2019",
    "niven2019": "Niven and Kao 2019",
    "olsson2022": "Olsson et al. 2022",
    "kobayashi2020": "Kobayashi et al. 2020",
    "kobayashi2021": "Kobayashi et al. 2021",
    "mohebbi2023": "Mohebbi et al. 2023",
}
# What stands with the name of a paper in which the claim was not read.
SOURCES = {
    "": "",
    "slides": "as summarised in slides",
    "summaries": "as summarised",
    "memory": "as summarised from memory",
    "assumed": "assumed",
}


def collect(name: str) -> dict[str, ModuleType]:
    """The module `name` of every chapter that has one, by chapter.

    core/integrity/code_digest.py knows this function by name; what it imports makes results stale.
    """
    folder = Path(__file__).parent
    return {
        chapter: import_module(f"{__package__}.{chapter}.{name}")
        for chapter in CHAPTERS
        if (folder / chapter / f"{name}.py").is_file()
    }
