"""report: its front page, a page for each printed table, and the claims' page."""

from os.path import relpath

from workflow_scripts.report.entries import shown_by_category, with_ending

REPORT = config["report"]
REPORT_PAGE = ROOT / "workflow_scripts/report/page"
REPORT_PAGE_SOURCES = [relpath(REPORT_PAGE / f"table.{ending}") for ending in ("html", "css", "js")]
REPORT_FRONT_SOURCES = [
    relpath(REPORT_PAGE / name) for name in ("overview.html", "overview.css", "links.js")
]
# The printed tables by paper, so that a paper's tables need nothing of another's: those of models
# that have the same ones, and those of the study.
REPORT_PRINTED = {
    f"table_pages_{part}{end}": (models, printed)
    for part, category in (PAPERS | {"texts": COUNTS, "compared": COMPARED}).items()
    for end, (models, printed) in tables_printed(category).items()
    if printed
}


for name, (models, printed) in REPORT_PRINTED.items():

    rule:
        name:
            name
        input:
            tables=list(printed),
            captions_of=[caption_of(entry) for entry in printed.values()],
            sources=REPORT_PAGE_SOURCES,
        output:
            pages_of=[page_of(entry) for entry in printed.values()],
            latex_of=[with_ending(pattern, "tex") for pattern in printed],
        wildcard_constraints:
            model="|".join(map(re.escape, models)),
        localrule: True
        conda:
            "../envs/analysis.yaml"
        params:
            code=code("report/table_pages.py"),
            headings=lambda wildcards, printed=printed: headings_of(
                printed.values(), wildcards.get("model")
            ),
            texts=lambda wildcards, printed=printed: texts_of(
                *(caption_of(entry) for entry in printed.values())
            ),
        script:
            "../workflow_scripts/report/table_pages.py"

    PAGES.extend(
        file
        for pattern in printed
        for ending in ("html", "tex")
        for file in for_all(with_ending(pattern, ending), model=models)
    )


REPORT_CLAIM_PAGES = {
    entry.of["model"]: entry.shown
    for entry in ENTRIES
    if entry.kind == "table" and entry.category == JUDGED
}
# What claims may link to.
REPORT_LINKED = by_model(entry.shown for entry in ENTRIES if entry.category in PAPERS.values())

if REPORT_CLAIM_PAGES:

    use rule light_step as claims_page with:
        input:
            claims=rules.claim_verdicts.output.table,
            cases=rules.claim_verdicts.output.cases,
            published=rules.claim_verdicts.input.published,
            products=lambda w: REPORT_LINKED[w.model] + REPORT_LINKED[""],
            caption_of=relpath(ROOT / "report/claims.rst"),
            atlas=rules.atlas_data.output.atlas if "atlas" in config else [],
            atlas_page=rules.atlas_page.output.page if "atlas" in config else [],
            sources=REPORT_PAGE_SOURCES,
        output:
            page=reported(
                "<results>/{model}/tables/claims.html",
                "central claims: the papers' numbers and ours",
                {"category": JUDGED},
                "claims",
            ),
            latex="<results>/{model}/tables/claims.tex",
        params:
            **step("report/claims_page.py"),
            model="{model}",
            heading=lambda w: f"Central claims{comma_label(w.model)}",
            page_path=f"{RESULTS}/{{model}}/tables/claims.html",
            texts=lambda wildcards: texts_of(relpath(ROOT / "report/claims.rst")),


PAGES.extend(
    file for page in REPORT_CLAIM_PAGES.values() for file in (page, with_ending(page, "tex"))
)
# Sentence pairs stand with the texts.
REPORT_PAIRS, REPORT_TRANSLATORS = {}, []
if "translation" in config:
    REPORT_PAIRS["pairs"] = (
        {"path": TRANSLATION_PAIRS["test"]["source"]}
        if "test" in TRANSLATION_PAIRS
        else TRANSLATION_PAIRS
    )
    REPORT_TRANSLATORS = expand(TRANSLATION_CARD, run=TRANSLATION_RUNS)
# What the config states about the study, and where the report shows what.
REPORT_FACTS = {
    "study": config["study"],
    "about": REPORT["about"],
    "results": RESULTS,
    "seeds": f"{config['seed']}; of fine-tuning {', '.join(map(str, SEEDS))}",
    "texts": {name: CORPORA[name] for name in used(CORPORA)} | REPORT_PAIRS,
    "tasks": {
        f"{name}.points" if name == "arct" else name: config["tasks"][name]
        for name in config["tasks"]
    },
    "claims": REPORT_CLAIM_PAGES,
    "atlas": f"{RESULTS}/atlas.html" if "atlas" in config else "",
    "labels": LABELS,
    "shown": shown_by_category(ENTRIES),
}
REPORT_PRODUCTS = FIGURES + TABLES + PAGES


use rule light_step as overview with:
    input:
        cards=expand(rules.model_card.output.model, model=SERVED["report"]),
        claims=[with_ending(page, "csv") for page in REPORT_CLAIM_PAGES.values()],
        translators=REPORT_TRANSLATORS,
        counts=[entry.path for entry in ENTRIES if entry.path.endswith(".counts.csv")],
        carried=[relpath(ROOT / f"claims/judged/{name}.csv") for name in ("real", "multi30k")],
        products=lambda w: REPORT_PRODUCTS,
        sources=REPORT_FRONT_SOURCES,
    output:
        overview="<results>/report/overview.rst",
    params:
        **step("report/overview.py"),
        facts=REPORT_FACTS,
        benchmarks=f"{RESULTS}/benchmarks",


PAGES.append(rules.overview.output.overview)
# A report may be made before the front page: of one paper, for example.
REPORT_OVERVIEW = Path(f"{RESULTS}/report/overview.rst").absolute()


report: str(REPORT_OVERVIEW) if REPORT_OVERVIEW.is_file() else "../report/workflow.rst"
