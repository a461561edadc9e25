"""atlas: one page on which every head is seen, and its data."""


localrules:
    atlas_data,
    atlas_page,


from os.path import relpath

ATLAS = config["atlas"]
HEADS_SHOWN = {"category": "Atlas"}
# The files of the page, so that an edited view builds it anew.
PAGE_FOLDER = Path(workflow.basedir) / "workflow_scripts/atlas/page"
PAGE_FILES = ("*.html", "*.css", "*.js", "LICENSE*")
ATLAS_PAGE = sorted(relpath(file) for form in PAGE_FILES for file in PAGE_FOLDER.rglob(form))


include: "atlas_maps.smk"


# The tables of each model that the atlas reads, below its folder, where the study has the chapter.
ATLAS_PRODUCTS = {
    "surface": expand(
        "surface/{name}.parquet", name=["entropy", "special_tokens", "position", "gradients"]
    ),
    "syntax": ["syntax/scores.parquet", "syntax/offsets.parquet"],
    "coreference": ["coreference/scores.parquet", "coreference/rules.parquet"],
    "clusters": ["clusters/embedding.parquet", "clusters/distances.parquet"],
    "patterns": ["patterns/shares.parquet"],
    "frames": ["frames/scores.parquet"],
    "finetuning": expand(
        "finetuning/{task}.{seed}.{of}.parquet",
        of=["similarity", "features", "links", "shared"],
        task=TASKS,
        seed=SEEDS,
    ),
    "ablation": [
        *expand("ablation/{task}.pretrained.{seed}.scores.parquet", task=TASKS, seed=SEEDS),
        "tables/kovaleva2019-heads.csv",
    ],
    "pruning": expand(
        "pruning/{task}.pretrained.{seed}.importance.parquet", task=TASKS, seed=SEEDS
    ),
    "arguments": ["tables/niven2019-heads.csv"],
}
# Translators are of the study, and models of their own in the atlas.
ATLAS_TRANSLATORS, ATLAS_TRANSLATED = [], []
if "translation" in config:
    ATLAS_TRANSLATORS = expand("<results>/translation/{run}.card.json", run=RUNS)
    ATLAS_TRANSLATED = expand(
        "<results>/translation/{run}.{of}.parquet", run=RUNS, of=["scores", "importance"]
    )
ATLAS_TABLES = expand(
    "<results>/{model}/{product}",
    model=MODELS,
    product=[
        product
        for chapter, names in ATLAS_PRODUCTS.items()
        if chapter in config
        for product in names
    ],
)
# The corpora whose numbers it shows, by chapter.
ATLAS_CORPORA = {
    chapter: config[chapter].get("treebank") or config[chapter]["corpus"]
    for chapter in ("surface", "clusters", "syntax", "coreference", "frames")
    if chapter in config
}
if "translation" in config:
    ATLAS_CORPORA["translation"] = "sentence pairs"
# The workflow's own annotations of maps are an AI model's.
ATLAS_ORIGINS = ORIGINS | ({"maps": "machine"} if config.get("patterns", {}).get("builtin") else {})


use rule analysis_step as atlas_data with:
    input:
        cards=expand(rules.model_card.output.model, model=MODELS),
        translators=ATLAS_TRANSLATORS,
        products=ATLAS_TABLES + ATLAS_TRANSLATED,
        maps=expand(rules.atlas_maps.output.maps, model=MODELS),
    output:
        atlas="<results>/atlas.json",
    pathvars:
        job="atlas/atlas_data",
    params:
        **step("atlas/atlas_data.py"),
        study=config["study"],
        seed=config["seed"],
        corpora=ATLAS_CORPORA,
        data=ATLAS_ORIGINS,
        fewest=config.get("syntax", {}).get("fewest", 1),


use rule analysis_step as atlas_page with:
    input:
        atlas=rules.atlas_data.output.atlas,
        sources=ATLAS_PAGE,
    output:
        page=reported("<results>/atlas.html", "every head, by every measure", HEADS_SHOWN, "atlas"),
    pathvars:
        job="atlas/atlas_page",
    params:
        **step("atlas/atlas_page.py"),
        megabytes=ATLAS["megabytes"],


PAGES.append(rules.atlas_page.output.page)
