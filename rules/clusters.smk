"""clusters: distances between heads (Clark et al. 2019, section 6)."""

CLUSTERS = config["clusters"]
CLUSTERING = CLARK | {"subcategory": "6 Clusters"}


rule head_distances:
    input:
        attention=f"<results>/{{model}}/attention/{CLUSTERS['corpus']}.h5",
        model=rules.model_card.output.model,
    output:
        distances_table="<results>/{model}/clusters/distances.parquet",
    log:
        "<logs>/clusters/{model}.head_distances.log",
    benchmark:
        "<benchmarks>/clusters/{model}.head_distances.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: config["threads"]
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        code=code("clusters/head_distances.py"),
        n_segments=CLUSTERS["n_segments"],
        smoothing=CLUSTERS["smoothing"],
    script:
        "../workflow_scripts/clusters/head_distances.py"


rule head_embedding:
    input:
        distances_table=rules.head_distances.output.distances_table,
        position=rules.relative_position.output.position,
        special_tokens=rules.special_tokens.output.special_tokens,
        entropy=rules.entropy.output.entropy,
    output:
        embedding="<results>/{model}/clusters/embedding.parquet",
        table=table("clark2019-clusters", "distances within and between layers", CLUSTERING),
    log:
        "<logs>/clusters/{model}.head_embedding.log",
    benchmark:
        "<benchmarks>/clusters/{model}.head_embedding.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("clusters/head_embedding.py"),
        thresholds=CLUSTERS["thresholds"],
        permutations=CLUSTERS["permutations"],
        seed=config["seed"],
    script:
        "../workflow_scripts/clusters/head_embedding.py"


rule clark2019_fig6:
    input:
        embedding=rules.head_embedding.output.embedding,
    output:
        **figure("clark2019-fig6", "Figure 6, heads in the plane", CLUSTERING),
    log:
        "<logs>/clusters/{model}.clark2019_fig6.log",
    benchmark:
        "<benchmarks>/clusters/{model}.clark2019_fig6.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("clusters/clark2019_fig6.py"),
    script:
        "../workflow_scripts/clusters/clark2019_fig6.py"
