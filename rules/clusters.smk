"""clusters: distances between heads (Clark et al. 2019, section 6)."""

clusters = Products("clusters", "clark2019", "6 Clusters")

CLUSTERS = config["clusters"]


# Figure 6 marks the best heads of these chapters, where they are part of the study.
CLUSTER_ANNOTATIONS = {
    "syntax": SYNTAX_ANNOTATION if "syntax" in config else "",
    "coreference": COREFERENCE_ANNOTATION if "coreference" in config else "",
}
# Figure 6 colours a head by the behaviour whose attention exceeds these; `broad` is the entropy, for
# decoders as a share of its largest possible value.
CLUSTER_THRESHOLDS = {
    "encoder": dict(previous=0.5, next=0.5, cls=0.6, sep=0.6, punctuation=0.6, broad=3.8),
    "decoder": dict(previous=0.5, first=0.6, punctuation=0.6, broad=0.8),
}


use rule analysis_step as head_distances with:
    input:
        attention=f"<results>/{{model}}/attention/{CLUSTERS['corpus']}.h5",
        model=rules.model_card.output.model,
    output:
        distances_table=clusters.measured("<results>/{model}/clusters/distances.parquet"),
    threads: config["threads"]
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        **step("clusters/head_distances.py"),
        n_segments=CLUSTERS["n_segments"],
        smoothing=CLUSTERS["smoothing"],


use rule light_step as head_embedding with:
    input:
        distances_table=rules.head_distances.output.distances_table,
        known=read_by("behaviours"),
    output:
        embedding=clusters.measured("<results>/{model}/clusters/embedding.parquet"),
        table=clusters.table("clark2019-clusters", "distances within and between layers"),
    params:
        **step("clusters/head_embedding.py"),
        thresholds=lambda w: CLUSTER_THRESHOLDS[config["models"][w.model]["kind"]],
        permutations=1000,
        seed=config["seed"],


use rule light_step as linguistic_heads with:
    input:
        known=read_by("best_heads"),
    output:
        heads="<results>/{model}/clusters/linguistic.parquet",
        table=clusters.when(any(CLUSTER_ANNOTATIONS.values())).table(
            "clark2019-linguistic", "linguistic heads of Figure 6"
        ),
    params:
        **step("clusters/linguistic_heads.py"),
        relations=config.get("syntax", {}).get("relations", []),
        fewest=config.get("syntax", {}).get("fewest", 0),
        annotations=CLUSTER_ANNOTATIONS,


clusters.drawn(
    "clark2019-fig6",
    "Figure 6, heads by similarity",
    input={
        "embedding": rules.head_embedding.output.embedding,
        "linguistic": rules.linguistic_heads.output.heads,
    },
    params={"annotations": CLUSTER_ANNOTATIONS},
)


in_one_pass(rules.head_distances)
