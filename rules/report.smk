"""report: its front page, a page for each printed table, and the claims' page."""

from os.path import relpath

from workflow_scripts.report import captions
from workflow_scripts.report.entries import beside, heading

REPORT = config["report"]
PAGE_SOURCES = [
    relpath(file) for file in Path(workflow.basedir, "workflow_scripts/report/page").glob("*.*")
]
# The printed tables by paper, so that a paper's tables need nothing of another's.
PRINTED: dict[str, list[Entry]] = {}
for entry in ENTRIES:
    if entry.kind == "table" and entry.category != JUDGED["category"]:
        PRINTED.setdefault(entry.category.partition(" ")[0].lower(), []).append(entry)


def caption_of(entry: Entry) -> str:
    """The file of an entry's caption."""
    return relpath(Path(workflow.basedir, f"report/{entry.caption}.rst"))


def page_of(entry: Entry):
    """A table's page, which the report shows."""

    def words(wildcards) -> dict[str, str]:
        return labels(entry, ENTRIES, titles_of_tasks())

    place = {"category": entry.category, "subcategory": entry.subcategory or None}
    return report(entry.shown, caption=f"../report/{entry.caption}.rst", labels=words, **place)


for part, printed in PRINTED.items():

    rule:
        name:
            f"table_pages_{part}"
        input:
            tables=[entry.path for entry in printed],
            captions_of=[caption_of(entry) for entry in printed],
            sources=PAGE_SOURCES,
        output:
            pages_of=[page_of(entry) for entry in printed],
            latex_of=[beside(entry.path, "tex") for entry in printed],
        log:
            f"<logs>/report/table_pages_{part}.log",
        benchmark:
            f"<benchmarks>/report/table_pages_{part}.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            code=code("report/table_pages.py"),
            headings=lambda wildcards, printed=printed: [
                heading(entry, titles_of_tasks()) for entry in printed
            ],
            texts=lambda wildcards, printed=printed: captions.digest(
                [Path(caption_of(entry)) for entry in printed], config
            ),
        script:
            "../workflow_scripts/report/table_pages.py"

    PAGES += [file for entry in printed for file in (entry.shown, beside(entry.path, "tex"))]


# What the config says of the study, and where the report shows what.
STUDY_FACTS = {
    "study": config["study"],
    "about": REPORT["about"],
    "results": RESULTS,
    "seeds": f"{config['seed']} (samples, bootstrap), {', '.join(map(str, SEEDS))} (fine-tuning)",
    "texts": {name: {"title": name, "source": entry} for name, entry in CORPORA.items()},
    "tasks": {name: {"title": name, "source": entry} for name, entry in config["tasks"].items()},
}
