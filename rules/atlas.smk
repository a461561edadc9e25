"""atlas: one page on which every head is seen, and its data."""

ATLAS = config["atlas"]
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
