"""The files of a figure, a table or counts, and their place in the report."""

from collections.abc import Iterable
from itertools import product

from workflow_scripts.core.run.config import KINDS
from workflow_scripts.report.entries import Entries, Entry, labels, titles_of_tasks

# The default targets; `figure` and `table` enter the products of all chapters.
FIGURES: list[str] = []
TABLES: list[str] = []
PAGES: list[str] = []
# Tables with numbers of heads, and others that claims are judged by, each with what they were
# entered with.
MEASURED: list[tuple[str, tuple[str, ...], dict]] = []
JUDGED_BY: list[tuple[str, dict]] = []
# What the report shows, and the tables whose pages the chapter `report` makes.
ENTRIES = Entries()
# What `drawn` was told of each figure, by the name of its rule.
DRAWN: dict[str, dict] = {}
# The kinds of models whose products are entered now.
ENTERED_KINDS = list(KINDS)


def products_of(*kinds: str) -> None:
    """Let the rest of the chapter's rules enter products of models of these kinds alone."""
    ENTERED_KINDS[:] = kinds


def figure(
    name: str,
    title: str,
    section: dict,
    caption: str = "",
    wanted: bool = True,
    per_model: bool = True,
    kinds: Iterable[str] = KINDS,
) -> dict:
    """A figure's outputs: its svg, which is shown in the report, pdf and png.

    Its caption is report/<caption>.rst, by default that of its name without a wildcard; raises
    InputError where it is missing. It is drawn for every model of these `kinds` that the chapter
    reads (with `per_model`), and for every value of another wildcard in its name.
    """
    path = f"{product_folder(per_model)}/figures/{name}"
    kinds = [kind for kind in kinds if kind in ENTERED_KINDS]
    caption = caption or name.partition(".")[0]
    if not (ROOT / f"report/{caption}.rst").is_file():
        raise InputError(
            f"report/{caption}.rst, the caption of {path}.svg, is missing; write it, or give "
            'caption="measure" for the figure of a measure'
        )
    if wanted:
        for kind in ("svg", "pdf", "png"):
            FIGURES.extend(for_all(f"{path}.{kind}", model=of_kinds(kinds)))
        enter(f"{path}.svg", title, section, caption, kinds)
    in_report = reported(f"{path}.svg", title, section, caption)
    return {"svg": in_report, "pdf": f"{path}.pdf", "png": f"{path}.png"}


def drawn(
    name: str,
    title: str,
    section: dict,
    input: dict,
    params: dict | None = None,
    tables: dict[str, str] | None = None,
    own: str = "",
    **where,
) -> None:
    """Declare a figure, whose rule is made of this by rules/figures.smk.

    The function of its name (`clark2019-fig4`: `clark2019_fig4`) in the chapter's figures.py draws
    it, from `input` and `params`; `tables` are the CSV files that it writes, too. Where another
    rule has that name, `own` names rule and function; `figure` in `params` names another
    function. `where` is as in `figure`.
    """
    stem, _, wildcards = name.partition(".")
    own = own or stem.replace("-", "_")
    model = "{model}." if where.get("per_model", True) else ""
    of = f"{wildcards}." if wildcards else ""
    DRAWN[own] = {
        "input": input,
        "output": figure(name, title, section, **where) | (tables or {}),
        "job": f"{chapter}/{model}{of}{own}",
        "params": step(f"{chapter}/figures.py") | {"figure": own} | (params or {}),
    }


def table(
    name: str,
    title: str,
    section: dict,
    caption: str = "",
    wanted: bool = True,
    per_model: bool = True,
    kinds: Iterable[str] = KINDS,
) -> str:
    """A table's output, a CSV file whose page is shown in the report; made as `figure` is drawn."""
    path = f"{product_folder(per_model)}/tables/{name}.csv"
    if wanted:
        TABLES.extend(for_all(path, model=of_kinds(kinds)))
    return listed(path, title, section, caption or name, wanted, kinds)


def listed(
    path: str,
    title: str,
    section: dict,
    caption: str,
    wanted: bool = True,
    kinds: Iterable[str] = KINDS,
) -> str:
    """A CSV file whose page is shown in the report, where it is `wanted`, of models of `kinds`."""
    if wanted:
        enter(path, title, section, caption, kinds)
    return path


def measured(
    path: str, *modules: str, wanted: bool = True, kinds: Iterable[str] = KINDS, **of: Iterable
) -> str:
    """A table of measures of heads, for the atlas and claims; the chapter's measures.py declares it.

    `modules` are the chapter's modules that other chapters collect and that read this table, `of`
    the values of wildcards where they are not those of `cases`; of models, those of `kinds`. The
    atlas and claims read it only where it is `wanted`.
    """
    if wanted:
        MEASURED.append((path, modules, {"model": of_kinds(kinds)} | of))
    return path


def judged(path: str, kinds: Iterable[str] = KINDS, **of: Iterable) -> str:
    """Another table that claims are judged by; `kinds` and `of` as in `measured`."""
    JUDGED_BY.append((path, {"model": of_kinds(kinds)} | of))
    return path


def of_kinds(kinds: Iterable[str]) -> list[str]:
    """The models of these kinds that the chapter being read has, without what `products_of` bars."""
    of = {*kinds} & {*ENTERED_KINDS}
    return [name for name in MODELS if config["models"][name]["kind"] in of]


def read_by(module: str):
    """A function that gives a model's tables that their own chapter's module of this name reads."""
    found = [(path, of) for path, modules, of in MEASURED if module in modules]
    return lambda wildcards: entered_of(wildcards.model, found)


def entered_of(model: str, entered: Iterable[tuple[str, dict]]) -> list[str]:
    """Of tables that were entered, those of a model, and of the study."""
    return [
        file
        for path, of in entered
        for file in for_all(path, **of | {"model": set(of["model"]) & {model}})
    ]


def counts(folder: str, name: str, caption: str, of: Iterable[str]) -> str:
    """The counts of a corpus or task, a CSV file; the pages of those in `of` are in the report."""
    for counted in of:
        path = f"<results>/{folder}/{counted}.counts.csv"
        section = COUNTS | {"of": {"counted": counted}}
        enter(path, "examples read and excluded", section, caption)
    return f"<results>/{folder}/{name}.counts.csv"


def product_folder(per_model: bool) -> str:
    """Where figures/ and tables/ are: of each model, or of the study."""
    return "<results>/{model}" if per_model else "<results>"


def enter(path: str, title: str, section: dict, caption: str, kinds: Iterable[str] = KINDS) -> None:
    """Let the report list a product, once for every value of the wildcards in its path."""
    for of in cases(path, model=of_kinds(kinds)):
        file = path.format(**of).replace("<results>", RESULTS)
        pattern = path.format(**(of | {"model": "{model}"}))
        ENTRIES.add(Entry(file, title, caption, pattern=pattern, **({"of": of} | section)))


def reported(path: str, title: str, section: dict, caption: str):
    """A file that is shown in the report, labelled in words."""

    def words(wildcards) -> dict[str, str]:
        file = path.format(**wildcards).replace("<results>", RESULTS)
        own = ENTRIES.get(file) or Entry(file, title, caption, **section)
        return labels(own, ENTRIES, titles_of_tasks(), LABELS)

    return report(path, caption=f"../report/{caption}.rst", labels=words, **section)


def for_all(path: str, **of: Iterable) -> list[str]:
    """The files of this study that match a product's path with wildcards."""
    return [path.format(**case) for case in cases(path, **of)]


def cases(path: str, **of: Iterable) -> list[dict[str, str]]:
    """The values that the wildcards in a product's path have in this study, or `of` gives."""
    values = {"model": MODELS, "task": list(TASKS), "init": ["pretrained"], "seed": SEEDS} | of
    names = [name for name in values if f"{{{name}}}" in path]
    return [dict(zip(names, case)) for case in product(*(values[name] for name in names))]
