"""Figures, tables and counts: how chapters declare them, and their place in the report."""

from collections.abc import Callable, Iterable
from itertools import product

from workflow_scripts.core.run.config import KINDS
from workflow_scripts.report.entries import Entries, Entry, labels, titles_of_tasks

# The default targets of all chapters.
FIGURES: list[str] = []
TABLES: list[str] = []
PAGES: list[str] = []
# Tables with numbers of heads, and others that claims are judged by, each with what they were
# declared with.
MEASURED: list[tuple[str, tuple[str, ...], dict]] = []
JUDGED_BY: list[tuple[str, dict]] = []
# What the report shows, and the tables whose pages the chapter `report` makes.
ENTRIES = Entries()
# What `drawn` was told of each figure, by the name of its rule.
DRAWN: dict[str, dict] = {}


class Products:
    """What the rules of a chapter declare their products with, for its models of `kinds`."""

    def __init__(self, chapter: str, kinds: Iterable[str] = KINDS) -> None:
        self.chapter, self.kinds = chapter, set(kinds)

    def models(self, kinds: Iterable[str] = KINDS) -> list[str]:
        """The models of these kinds."""
        wanted = self.kinds.intersection(kinds)
        return [name for name in SERVED[self.chapter] if config["models"][name]["kind"] in wanted]

    def drawn(
        self,
        name: str,
        title: str,
        section: dict,
        input: dict,
        params: dict | None = None,
        tables: Callable[[], dict[str, str]] = dict,
        own: str = "",
        caption: str = "",
        wanted: bool = True,
        per_model: bool = True,
        kinds: Iterable[str] = KINDS,
    ) -> None:
        """Declare a figure, whose rule is made of this by rules/figures.smk.

        The function of its name (`clark2019-fig4`: `clark2019_fig4`) in the chapter's figures.py
        draws it from `input` and `params`; `own` names rule and function where another rule has
        that name. It writes an svg, which the report shows, pdf and png, and the CSV files
        `tables`. Its caption is report/<caption>.rst, by default that of its name. It is drawn for
        every model of these `kinds` (with `per_model`) and every value of another wildcard in its
        name.
        """
        path = f"{product_folder(per_model)}/figures/{name}"
        stem = name.partition(".")[0]
        own, caption = own or stem.replace("-", "_"), caption or stem
        if not (ROOT / f"report/{caption}.rst").is_file():
            raise InputError(f"report/{caption}.rst, the caption of {path}.svg, is missing")
        if wanted:
            for kind in ("svg", "pdf", "png"):
                FIGURES.extend(for_all(f"{path}.{kind}", model=self.models(kinds)))
            self._enter(f"{path}.svg", title, section, caption, kinds)
        shown = {"svg": reported(f"{path}.svg", title, section, caption)}
        DRAWN[own] = {
            "input": input,
            "output": shown | {"pdf": f"{path}.pdf", "png": f"{path}.png"} | tables(),
            "params": step(f"{self.chapter}/figures.py") | {"figure": own} | (params or {}),
        }

    def table(
        self,
        name: str,
        title: str,
        section: dict,
        caption: str = "",
        wanted: bool = True,
        per_model: bool = True,
        kinds: Iterable[str] = KINDS,
    ) -> str:
        """A table's output, a CSV file whose page is shown in the report; for whom as `drawn`."""
        path = f"{product_folder(per_model)}/tables/{name}.csv"
        if wanted:
            TABLES.extend(for_all(path, model=self.models(kinds)))
        return self.listed(path, title, section, caption or name, wanted, kinds)

    def listed(
        self,
        path: str,
        title: str,
        section: dict,
        caption: str,
        wanted: bool = True,
        kinds: Iterable[str] = KINDS,
    ) -> str:
        """A CSV file whose page is shown in the report, where it is `wanted`."""
        if wanted:
            self._enter(path, title, section, caption, kinds)
        return path

    def measured(
        self,
        path: str,
        *readers: str,
        wanted: bool = True,
        kinds: Iterable[str] = KINDS,
        **of: Iterable,
    ) -> str:
        """A table of measures of heads, for the atlas and claims; measures.py declares it.

        `readers` name what of the chapter reads it for other chapters (`read_by`), `of` the values
        of wildcards where they are not those of `cases`.
        """
        if wanted:
            MEASURED.append((path, readers, {"model": self.models(kinds)} | of))
        return path

    def judged(self, path: str, kinds: Iterable[str] = KINDS, **of: Iterable) -> str:
        """Another table that claims are judged by; `kinds` and `of` as in `measured`."""
        JUDGED_BY.append((path, {"model": self.models(kinds)} | of))
        return path

    def counts(self, folder: str, name: str, caption: str, of: Iterable[str]) -> str:
        """The counts of a corpus or task, a CSV file; the report has the pages of those in `of`."""
        for counted in of:
            path = f"<results>/{folder}/{counted}.counts.csv"
            section = COUNTS | {"of": {"counted": counted}}
            self._enter(path, "examples read and excluded", section, caption, KINDS)
        return f"<results>/{folder}/{name}.counts.csv"

    def _enter(self, path: str, title: str, section: dict, caption: str, kinds: Iterable[str]):
        """Let the report list a product, once for every value of the wildcards in its path."""
        for of in cases(path, model=self.models(kinds)):
            file = path.format(**of).replace("<results>", RESULTS)
            pattern = path.format(**(of | {"model": "{model}"}))
            ENTRIES.add(Entry(file, title, caption, pattern=pattern, **({"of": of} | section)))


def product_folder(per_model: bool) -> str:
    """Where figures/ and tables/ are: of each model, or of the study."""
    return "<results>/{model}" if per_model else "<results>"


def reported(path: str, title: str, section: dict, caption: str):
    """A file that is shown in the report, labelled in words."""

    def words(wildcards) -> dict[str, str]:
        file = path.format(**wildcards).replace("<results>", RESULTS)
        own = ENTRIES.get(file) or Entry(file, title, caption, **section)
        return labels(own, ENTRIES, titles_of_tasks(), LABELS)

    return report(path, caption=f"../report/{caption}.rst", labels=words, **section)


def read_by(reader: str):
    """A function that gives a model's tables that their own chapter's function of this name reads."""
    found = [(path, of) for path, readers, of in MEASURED if reader in readers]
    return lambda wildcards: declared_of(wildcards.model, found)


def declared_of(model: str, declared: Iterable[tuple[str, dict]]) -> list[str]:
    """Of declared tables, those of a model, and of the study."""
    return [
        file
        for path, of in declared
        for file in for_all(path, **of | {"model": set(of["model"]) & {model}})
    ]


def for_all(path: str, **of: Iterable) -> list[str]:
    """The files of this study that match a product's path with wildcards."""
    return [path.format(**case) for case in cases(path, **of)]


def cases(path: str, **of: Iterable) -> list[dict[str, str]]:
    """The values that the wildcards in a product's path have in this study, or `of` gives."""
    values = {"model": MODELS, "task": list(TASKS), "init": ["pretrained"], "seed": SEEDS} | of
    names = [name for name in values if f"{{{name}}}" in path]
    return [dict(zip(names, case)) for case in product(*(values[name] for name in names))]
