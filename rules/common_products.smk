"""The files of a figure, a table or counts, and their place in the report."""

from collections.abc import Iterable
from itertools import product

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


def figure(
    name: str,
    title: str,
    section: dict,
    caption: str = "",
    wanted: bool = True,
    per_model: bool = True,
) -> dict:
    """A figure's outputs: its svg, which is shown in the report, pdf and png.

    Its caption is report/<caption>.rst, by default that of its name without a wildcard; raises
    InputError where it is missing. It is drawn for every model (with `per_model`), and for every
    value of another wildcard in its name.
    """
    path = f"{product_folder(per_model)}/figures/{name}"
    caption = caption or name.partition(".")[0]
    if not (ROOT / f"report/{caption}.rst").is_file():
        raise InputError(
            f"report/{caption}.rst, the caption of {path}.svg, is missing; write it, or give "
            'caption="measure" for the figure of a measure'
        )
    if wanted:
        for kind in ("svg", "pdf", "png"):
            FIGURES.extend(for_all(f"{path}.{kind}"))
        enter(f"{path}.svg", title, section, caption)
    in_report = reported(f"{path}.svg", title, section, caption)
    return {"svg": in_report, "pdf": f"{path}.pdf", "png": f"{path}.png"}


def table(
    name: str,
    title: str,
    section: dict,
    caption: str = "",
    wanted: bool = True,
    per_model: bool = True,
) -> str:
    """A table's output, a CSV file whose page is shown in the report; made as `figure` is drawn."""
    path = f"{product_folder(per_model)}/tables/{name}.csv"
    if wanted:
        TABLES.extend(for_all(path))
    return listed(path, title, section, caption or name, wanted)


def listed(path: str, title: str, section: dict, caption: str, wanted: bool = True) -> str:
    """A CSV file whose page is shown in the report, where it is `wanted`."""
    if wanted:
        enter(path, title, section, caption)
    return path


def measured(path: str, *modules: str, **of: Iterable) -> str:
    """A table of measures of heads, for the atlas and claims; the chapter's measures.py declares it.

    `modules` are the chapter's modules that other chapters collect and that read this table, `of`
    the values of wildcards where they are not those of `cases`.
    """
    MEASURED.append((path, modules, of))
    return path


def judged(path: str, **of: Iterable) -> str:
    """Another table that claims are judged by; `of` as in `measured`."""
    JUDGED_BY.append((path, of))
    return path


def read_by(module: str) -> list[str]:
    """The tables, of any model, that the module of this name in their own chapter reads."""
    return [path for path, modules, _ in MEASURED if module in modules]


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


def enter(path: str, title: str, section: dict, caption: str) -> None:
    """Let the report list a product, once for every value of the wildcards in its path."""
    for of in cases(path):
        file = path.format(**of).replace("<results>", RESULTS)
        pattern = path.format(**(of | {"model": "{model}"}))
        ENTRIES.add(Entry(file, title, caption, pattern=pattern, **({"of": of} | section)))


def reported(path: str, title: str, section: dict, caption: str):
    """A file that is shown in the report, labelled in words."""

    def words(wildcards) -> dict[str, str]:
        file = path.format(**wildcards).replace("<results>", RESULTS)
        own = ENTRIES.get(file) or Entry(file, title, caption, **section)
        return labels(own, ENTRIES, titles_of_tasks())

    return report(path, caption=f"../report/{caption}.rst", labels=words, **section)


def for_all(path: str, **of: Iterable) -> list[str]:
    """The files of this study that match a product's path with wildcards."""
    return [path.format(**case) for case in cases(path, **of)]


def cases(path: str, **of: Iterable) -> list[dict[str, str]]:
    """The values that the wildcards in a product's path have in this study, or `of` gives."""
    values = {"model": MODELS, "task": list(TASKS), "init": ["pretrained"], "seed": SEEDS} | of
    names = [name for name in values if f"{{{name}}}" in path]
    return [dict(zip(names, case)) for case in product(*(values[name] for name in names))]
