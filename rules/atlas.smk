"""atlas: one page on which every head is seen, and its data."""

from os.path import relpath

ATLAS = config["atlas"]
HEADS_SHOWN = {"category": "Atlas"}
# The files of the page, so that an edited view builds it anew.
PAGE_FOLDER = Path(workflow.basedir) / "workflow_scripts/atlas/page"
ATLAS_PAGE = sorted(relpath(file) for file in PAGE_FOLDER.rglob("*.*") if file.is_file())


include: "atlas_maps.smk"


# The tables with a row for each head that the atlas reads, where the study has their chapter.
ATLAS_PRODUCTS = {
    "surface": ["position", "special_tokens", "entropy", "gradients"],
}
ATLAS_TABLES = expand(
    "<results>/{model}/{product}.parquet",
    model=MODELS,
    product=[
        f"{chapter}/{name}"
        for chapter, names in ATLAS_PRODUCTS.items()
        if chapter in config
        for name in names
    ],
)


rule atlas_data:
    input:
        cards=expand(rules.model_card.output.model, model=MODELS),
        products=ATLAS_TABLES,
        maps=expand(rules.atlas_maps.output.maps, model=MODELS),
    output:
        atlas="<results>/atlas.json",
    log:
        "<logs>/atlas/atlas_data.log",
    benchmark:
        "<benchmarks>/atlas/atlas_data.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("atlas/atlas_data.py"),
        study=config["study"],
        seed=config["seed"],
    script:
        "../workflow_scripts/atlas/atlas_data.py"


rule atlas_page:
    input:
        atlas=rules.atlas_data.output.atlas,
        sources=ATLAS_PAGE,
    output:
        page=reported("<results>/atlas.html", "every head, by every measure", HEADS_SHOWN, "atlas"),
    log:
        "<logs>/atlas/atlas_page.log",
    benchmark:
        "<benchmarks>/atlas/atlas_page.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("atlas/atlas_page.py"),
        megabytes=ATLAS["megabytes"],
    script:
        "../workflow_scripts/atlas/atlas_page.py"


PAGES.append(rules.atlas_page.output.page)
