"""clusters: distances between heads (Clark et al. 2019, section 6)."""

CLUSTERS = config["clusters"]
CLARK_CLUSTERS = {"category": "Clark et al. 2019", "subcategory": "6 Clusters"}


rule distances:
    input:
        attention=f"{STUDY}/{{model}}/attention/{CLUSTERS['corpus']}.h5",
        model=rules.model.output.model,
    output:
        distances_table=f"{STUDY}/{{model}}/clusters/distances.parquet",
    log:
        f"{STUDY}/logs/clusters/{{model}}.distances.log",
    benchmark:
        f"{STUDY}/benchmarks/clusters/{{model}}.distances.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=60,
        gpu=gpu,
    params:
        code=code("clusters/head_distances.py"),
        n_segments=CLUSTERS["n_segments"],
        smoothing=CLUSTERS["smoothing"],
        device=config["device"],
    script:
        "../workflow_scripts/clusters/head_distances.py"


rule embedding:
    input:
        distances_table=rules.distances.output.distances_table,
        position=rules.position.output.position,
        special_tokens=rules.special_tokens.output.special_tokens,
        entropy=rules.entropy.output.entropy,
    output:
        embedding=f"{STUDY}/{{model}}/clusters/embedding.parquet",
        table=report(
            f"{STUDY}/{{model}}/tables/clark2019-clusters.csv",
            caption="../report/clark2019-clusters.rst",
            labels={"model": "{model}", "product": "distances within and between layers"},
            **CLARK_CLUSTERS,
        ),
    log:
        f"{STUDY}/logs/clusters/{{model}}.embedding.log",
    benchmark:
        f"{STUDY}/benchmarks/clusters/{{model}}.embedding.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("clusters/head_embedding.py"),
        thresholds=CLUSTERS["thresholds"],
        permutations=CLUSTERS["permutations"],
        seed=config["seed"],
    script:
        "../workflow_scripts/clusters/head_embedding.py"


rule clark2019_fig6:
    input:
        embedding=rules.embedding.output.embedding,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-fig6.svg",
            caption="../report/clark2019-fig6.rst",
            labels={"model": "{model}", "product": "Figure 6, heads in the plane"},
            **CLARK_CLUSTERS,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-fig6.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-fig6.png",
    log:
        f"{STUDY}/logs/clusters/{{model}}.clark2019_fig6.log",
    benchmark:
        f"{STUDY}/benchmarks/clusters/{{model}}.clark2019_fig6.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("clusters/clark2019_fig6.py"),
    script:
        "../workflow_scripts/clusters/clark2019_fig6.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/clark2019-fig6.{{kind}}",
    model=MODELS,
    kind=["svg", "pdf", "png"],
)
TABLES += expand(f"{STUDY}/{{model}}/tables/clark2019-clusters.csv", model=MODELS)
