"""report: its front page, a page for each printed table, and the claims' page."""

from os.path import relpath

from workflow_scripts.report import captions
from workflow_scripts.report.entries import beside, heading, shown_by_category

REPORT = config["report"]
PAGE = Path(workflow.basedir, "workflow_scripts/report/page")
PAGE_SOURCES = [relpath(PAGE / f"table.{ending}") for ending in ("html", "css", "js")]
FRONT_SOURCES = [relpath(PAGE / name) for name in ("overview.html", "overview.css", "links.js")]
PAPERS = tuple(paper["category"] for paper in (CLARK, KOVALEVA, MICHEL, NIVEN))
# The printed tables by paper, so that a paper's tables need nothing of another's.
PRINTED: dict[str, list[Entry]] = {}
for entry in ENTRIES:
    if entry.kind == "table" and entry.category != JUDGED["category"]:
        PRINTED.setdefault(entry.category.partition(" ")[0].lower(), []).append(entry)


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
        localrule: True
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


CLAIM_PAGES = {
    entry.of["model"]: entry.shown
    for entry in ENTRIES
    if entry.kind == "table" and entry.category == JUDGED["category"]
}
# What claims may link to.
LINKED = [entry.shown for entry in ENTRIES if entry.category.startswith(PAPERS)]

if CLAIM_PAGES:

    use rule analysis_step as claims_page with:
        input:
            claims=rules.claim_verdicts.output.table,
            cases=rules.claim_verdicts.output.cases,
            published=rules.claim_verdicts.input.published,
            products=LINKED,
            caption_of=relpath(Path(workflow.basedir, "report/claims.rst")),
            atlas=rules.atlas_data.output.atlas if "atlas" in config else [],
            atlas_page=rules.atlas_page.output.page if "atlas" in config else [],
            sources=PAGE_SOURCES,
        output:
            page=reported(
                "<results>/{model}/tables/claims.html",
                "every published claim, judged",
                JUDGED,
                "claims",
            ),
            latex="<results>/{model}/tables/claims.tex",
        pathvars:
            job="report/{model}.claims_page",
        localrule: True
        params:
            **step("report/claims_page.py"),
            model="{model}",
            heading="Every published claim, judged",
            place=f"{RESULTS}/{{model}}/tables/claims.html",
            texts=lambda wildcards: captions.digest(
                [Path(workflow.basedir, "report/claims.rst")], config
            ),


for page in CLAIM_PAGES.values():
    PAGES += [page, beside(page, "tex")]
# Sentence pairs stand with the texts.
PAIRS_SHOWN, TRANSLATOR_CARDS = {}, []
if "translation" in config:
    PAIRS_SHOWN["pairs"] = PAIRS if "generate" in PAIRS else {"path": PAIRS["test"]["source"]}
    TRANSLATOR_CARDS = expand(TRANSLATOR_CARD, run=RUNS)
# What the config says of the study, and where the report shows what.
STUDY_FACTS = {
    "study": config["study"],
    "about": REPORT["about"],
    "results": RESULTS,
    "seeds": f"{config['seed']}; of fine-tuning {', '.join(map(str, SEEDS))}",
    "texts": {name: CORPORA[name] for name in used(CORPORA)} | PAIRS_SHOWN,
    "tasks": {
        f"{name}.points" if name == "arct" else name: config["tasks"][name]
        for name in config["tasks"]
    },
    "claims": CLAIM_PAGES,
    "atlas": f"{RESULTS}/atlas.html" if "atlas" in config else "",
    "shown": shown_by_category(ENTRIES),
}


use rule analysis_step as overview with:
    input:
        cards=expand(rules.model_card.output.model, model=MODELS),
        claims=[beside(page, "csv") for page in CLAIM_PAGES.values()],
        translators=TRANSLATOR_CARDS,
        counts=[entry.path for entry in ENTRIES if entry.path.endswith(".counts.csv")],
        products=[FIGURES, TABLES, PAGES],
        sources=FRONT_SOURCES,
    output:
        overview="<results>/report/overview.rst",
    pathvars:
        job="report/overview",
    localrule: True
    params:
        **step("report/overview.py"),
        facts=STUDY_FACTS,
        benchmarks=f"{RESULTS}/benchmarks",


PAGES.append(rules.overview.output.overview)
# A report may be made before the front page: of one paper, for example.
OVERVIEW = Path(f"{RESULTS}/report/overview.rst").absolute()


report: str(OVERVIEW) if OVERVIEW.is_file() else "../report/workflow.rst"
