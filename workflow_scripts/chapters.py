"""The chapters of the workflow and the papers, in order, and what each chapter declares."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

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
    "mixing",
    "claims",
    "atlas",
    "report",
)


class Paper(NamedTuple):
    """What README.md and CITATION.cff state about a paper."""

    cited: str
    title: str
    authors: str  # "Niven, Timothy; Kao, Hung-Yu"
    collection: str
    year: int
    pages: tuple[int, int] | None = None
    kind: str = "conference-paper"  # a type of the Citation File Format


# The papers by the beginning of their products' names.
REFERENCES = {
    "clark2019": Paper(
        "Clark et al. 2019",
        "What Does BERT Look at? An Analysis of BERT's Attention",
        "Clark, Kevin; Khandelwal, Urvashi; Levy, Omer; Manning, Christopher D.",
        "Proceedings of the Second BlackboxNLP Workshop",
        2019,
        (276, 286),
    ),
    "kovaleva2019": Paper(
        "Kovaleva et al. 2019",
        "Revealing the Dark Secrets of BERT",
        "Kovaleva, Olga; Romanov, Alexey; Rogers, Anna; Rumshisky, Anna",
        "Proceedings of EMNLP-IJCNLP 2019",
        2019,
    ),
    "michel2019": Paper(
        "Michel et al. 2019",
        "Are Sixteen Heads Really Better than One?",
        "Michel, Paul; Levy, Omer; Neubig, Graham",
        "Advances in Neural Information Processing Systems 32",
        2019,
    ),
    "niven2019": Paper(
        "Niven and Kao 2019",
        "Probing Neural Network Comprehension of Natural Language Arguments",
        "Niven, Timothy; Kao, Hung-Yu",
        "Proceedings of ACL 2019",
        2019,
    ),
    "olsson2022": Paper(
        "Olsson et al. 2022",
        "In-context Learning and Induction Heads",
        "Olsson, Catherine; Elhage, Nelson; Nanda, Neel; Joseph, Nicholas; DasSarma, Nova; "
        "Henighan, Tom; Mann, Ben; Askell, Amanda; Bai, Yuntao; Chen, Anna; Conerly, Tom; "
        "Drain, Dawn; Ganguli, Deep; Hatfield-Dodds, Zac; Hernandez, Danny; Johnston, Scott; "
        "Jones, Andy; Kernion, Jackson; Lovitt, Liane; Ndousse, Kamal; Amodei, Dario; Brown, Tom; "
        "Clark, Jack; Kaplan, Jared; McCandlish, Sam; Olah, Chris",
        "Transformer Circuits Thread",
        2022,
        kind="article",
    ),
    "kobayashi2020": Paper(
        "Kobayashi et al. 2020",
        "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms",
        "Kobayashi, Goro; Kuribayashi, Tatsuki; Yokoi, Sho; Inui, Kentaro",
        "Proceedings of EMNLP 2020",
        2020,
        (7057, 7075),
    ),
    "kobayashi2021": Paper(
        "Kobayashi et al. 2021",
        "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models",
        "Kobayashi, Goro; Kuribayashi, Tatsuki; Yokoi, Sho; Inui, Kentaro",
        "Proceedings of EMNLP 2021",
        2021,
        (4547, 4568),
    ),
    "mohebbi2023": Paper(
        "Mohebbi et al. 2023",
        "Quantifying Context Mixing in Transformers",
        "Mohebbi, Hosein; Zuidema, Willem; Chrupała, Grzegorz; Alishahi, Afra",
        "Proceedings of EACL 2023",
        2023,
    ),
}
PAPERS = {name: paper.cited for name, paper in REFERENCES.items()}


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
