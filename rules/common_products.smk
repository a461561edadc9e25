"""Figures, tables and counts: how chapters declare them, and their place in the report."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
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
# What the report and the page show.
ENTRIES = Entries()
# What `drawn` was told of each figure, by the name of its rule.
DRAWN: dict[str, dict] = {}


@dataclass(frozen=True)
class Products:
    """What the rules of a chapter declare their products with.

    They are of models of these `kinds`, of `only` some of them, or of the study (`per_model`), and
    stand in the report's category, which is a paper's name or a title. Those that are not `wanted`
    are made on demand.
    """

    chapter: str
    category: str = ""
    subcategory: str = ""
    kinds: Iterable[str] = KINDS
    per_model: bool = True
    wanted: bool = True
    only: Iterable[str] = tuple(MODELS)

    def when(self, wanted: bool) -> "Products":
        """The same of products that are `wanted` only so."""
        return replace(self, wanted=wanted)

    def models(self, kinds: Iterable[str] = KINDS) -> list[str]:
        """The models of these kinds."""
        both = set(self.kinds) & set(kinds)
        served = [name for name in SERVED[self.chapter] if name in self.only]
        return [name for name in served if config["models"][name]["kind"] in both]

    def drawn(
        self,
        name: str,
        title: str,
        input: dict,
        params: dict | None = None,
        table: str = "",
        tables: Callable[[], dict[str, str]] = dict,
        own: str = "",
        caption: str = "",
    ) -> None:
        """Declare a figure, whose rule is made of this by rules/figures.smk.

        The function of its name (`clark2019-fig4`: `clark2019_fig4`) in the chapter's figures.py
        draws it from `input` and `params`; `own` names rule and function where another rule has
        that name. It writes an svg, which the report shows, pdf and png, a CSV file of its name
        where `table` is the title of one, and the CSV files `tables`. It is drawn for every value
        of another wildcard in its name.
        """
        path = f"{self._folder()}/figures/{name}"
        stem = name.partition(".")[0]
        own, caption = own or stem.replace("-", "_"), caption or captioned(stem, "figure")
        figure = self.when(self.wanted and stem not in config["report"]["without"])
        if figure.wanted:
            for kind in ("svg", "pdf", "png"):
                FIGURES.extend(for_all(f"{path}.{kind}", model=self.models()))
        shown = figure.listed(f"{path}.svg", title, caption, drawn=own)
        written = {"table": figure.table(stem, table)} if table else tables()
        DRAWN[own] = {
            "input": input,
            "output": {
                "svg": shown,
                "pdf": f"{path}.pdf",
                "png": f"{path}.png",
                **written,
            },
            "params": step(f"{self.chapter}/figures.py") | {"figure": own} | (params or {}),
        }

    def table(self, name: str, title: str, caption: str = "") -> str:
        """A table's output, a CSV file that the report lists."""
        path = f"{self._folder()}/tables/{name}.csv"
        if self.wanted:
            TABLES.extend(for_all(path, model=self.models()))
        return self.listed(path, title, caption or captioned(name, "table"))

    def listed(self, path: str, title: str, caption: str, drawn: str = "", **of: str) -> str:
        """A file that the report lists, once for every value of the wildcards in its path."""
        for case in cases(path, model=self.models()) if self.wanted else ():
            file = path.format(**case).replace("<results>", RESULTS)
            place = {"of": of or case} | self._section()
            ENTRIES.add(Entry(file, title, caption, drawn=drawn, **place))
        return reported(path, title, self._section(), caption)

    def measured(self, path: str, *readers: str, **of: Iterable) -> str:
        """A table of measures of heads, for the atlas and claims; measures.py declares it.

        `readers` name what of the chapter reads it for other chapters (`read_by`), `of` the values
        of wildcards where they are not those of `cases`.
        """
        if self.wanted:
            MEASURED.append((path, readers, {"model": self.models()} | of))
        return path

    def judged(self, path: str, **of: Iterable) -> str:
        """Another table that claims are judged by; `of` as in `measured`."""
        JUDGED_BY.append((path, {"model": self.models()} | of))
        return path

    def counts(self, name: str, caption: str, of: Iterable[str]) -> str:
        """The counts of a corpus or task, a CSV file; the report lists those in `of`."""
        path = f"<results>/{self.chapter}/{{name}}.counts.csv"
        for each in of:
            self.listed(path.format(name=each), "examples read and excluded", caption, counted=each)
        return reported(
            path.format(name=name), "examples read and excluded", self._section(), caption
        )

    def _folder(self) -> str:
        """Where figures/ and tables/ are."""
        return "<results>/{model}" if self.per_model else "<results>"

    def _section(self) -> dict[str, str]:
        """The place in the report."""
        place = {"category": PAPERS.get(self.category, self.category)}
        return place | ({"subcategory": self.subcategory} if self.subcategory else {})


def captioned(name: str, kind: str) -> str:
    """The caption of a product: report/<name>-<kind>.rst, where that is, else report/<name>.rst."""
    own = f"{name}-{kind}"
    return own if (ROOT / f"report/{own}.rst").is_file() else name


def reported(path: str, title: str, section: dict, caption: str):
    """A file that is shown in the report, labelled in words."""

    def words(wildcards) -> dict[str, str]:
        file = path.format(**wildcards).replace("<results>", RESULTS)
        own = ENTRIES.get(file) or Entry(
            file, title, caption, of=dict(wildcards.items()), **section
        )
        return labels(own, ENTRIES, titles_of_tasks(), LABELS)

    return report(path, caption=f"../report/{caption}.rst", labels=words, **section)


def read_by(reader: str):
    """A function that gives a model's tables that their own chapter's function of this name reads.

    Those of later chapters, too, as they are looked for when all rules are there.
    """
    return lambda wildcards: declared_of(
        wildcards.model, [(path, of) for path, readers, of in MEASURED if reader in readers]
    )


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
    values = {"model": MODELS, "task": list(TASKS), "init": ["finetuned"], "seed": SEEDS} | of
    names = [name for name in values if f"{{{name}}}" in path]
    return [dict(zip(names, case)) for case in product(*(values[name] for name in names))]
