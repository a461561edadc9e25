"""ablation: heads and layers disabled, one at a time or all but one (Kovaleva 4.6, Michel 3, 5)."""

# Of classifiers: a study without tasks has none.
ABLATION_OF_CLASSIFIERS = {"kinds": ["encoder"], "wanted": bool(TASKS)}
ablation_disabling = Products(
    "ablation", "kovaleva2019", "4.6 Disabling heads", **ABLATION_OF_CLASSIFIERS
)
ablation = Products("ablation", "michel2019", "3 and 5 Masking heads", **ABLATION_OF_CLASSIFIERS)
ablation_estimates = Products(
    "ablation", "michel2019", "4.1 Attribution before ablation", **ABLATION_OF_CLASSIFIERS
)

ABLATION = config["ablation"]
# Modes that have an attribution: it needs what heads output instead, and uniform attention
# replaces weights. They are zero and FROM_TEXTS of core/model/interventions.py.
ABLATION_ATTRIBUTABLE = ("zero", "mean", "position", "resample")
# Effects are compared between tasks, and between the development sets of MNLI or of domains.
ABLATION_COMPARED = (
    len(TASKS) > 1 or "mnli" in TASKS or any(task.get("domains") for task in TASKS.values())
)
# What is disabled, and how: uniform is Kovaleva's mode, zero is Michel's.
ABLATION_UNITS = {"head": ABLATION["modes"], "layer": ["uniform", "zero"], "all-but-one": ["zero"]}
for unit in ABLATION["mean_units"]:
    if "mean" not in ABLATION_UNITS[unit]:
        ABLATION_UNITS[unit] = [*ABLATION_UNITS[unit], "mean"]
# What every script that measures a classifier is given.
ABLATION_RUN = {
    "task": "{task}",
    "seed": lambda w: int(w.seed),
    "sample_seed": config["seed"],
    "max_tokens": lookup("{task}/max_tokens", within=TASKS),
}


scattergather:
    ablation=ABLATION["shards"],


# Where several jobs share a sweep, its table is joined from their parts.
ABLATION_PARTS = (
    gather.ablation(
        "<results>/{{model}}/ablation/{{task}}.{{init}}.{{seed}}.parts/{scatteritem}.parquet"
    )
    if ABLATION["shards"] > 1
    else []
)


use rule model_step as ablation_sweep with:
    input:
        **CHECKPOINT,
        parts=ABLATION_PARTS,
    output:
        logits="<results>/{model}/ablation/{task}.{init}.{seed}.logits.parquet",
    priority: 8
    resources:
        **({"mem_mb": memory(2000, 5)} if ABLATION_PARTS else TRAINING_JOB),
    params:
        **step("ablation/ablation_sweep.py"),
        **ABLATION_RUN,
        units=ABLATION_UNITS,
        examples=ABLATION["examples"],
        reference=ABLATION["reference"],
        pass_tokens=ABLATION["pass_tokens"],
        precision=config["precision"],
        part=None,


if ABLATION_PARTS:

    use rule ablation_sweep as ablation_sweep_part with:
        input:
            **CHECKPOINT,
        output:
            logits=temp(
                "<results>/{model}/ablation/{task}.{init}.{seed}.parts/{scatteritem}.parquet"
            ),
        resources:
            **TRAINING_JOB,
        params:
            part="{scatteritem}",


use rule analysis_step as ablation_scores with:
    input:
        logits=rules.ablation_sweep.output.logits,
    output:
        scores=ablation.measured("<results>/{model}/ablation/{task}.{init}.{seed}.scores.parquet"),
        gain="<results>/{model}/ablation/{task}.{init}.{seed}.gain.parquet",
        found="<results>/{model}/ablation/{task}.{init}.{seed}.found.parquet",
        covariance="<results>/{model}/ablation/{task}.{init}.{seed}.covariance.parquet",
    group:
        "scores"
    resources:
        mem_mb=memory(1500, 25),  # of MNLI's whole development set 120 MB are read
        runtime=minutes(60),
        serial=1,
    params:
        **step("ablation/ablation_scores.py"),
        **TESTS,
        halves=5000,


ABLATION_SCORES = expand(rules.ablation_scores.output.scores, **FINETUNED_RUNS)


ablation_disabling.drawn(
    "kovaleva2019-fig8",
    "Figure 8, one head ablated",
    input={
        "scores": ABLATION_SCORES,
        "metrics": expand(rules.score_classifier.output.metrics, **FINETUNED_RUNS),
    },
)


ablation_disabling.drawn(
    "kovaleva2019-fig9",
    "Figure 9, one layer ablated",
    input={"scores": ABLATION_SCORES},
)


ablation.drawn(
    "michel2019-fig1",
    "Figure 1, scores without one head",
    input={"scores": ABLATION_SCORES},
)


use rule light_step as michel2019_tables with:
    input:
        scores=ABLATION_SCORES,
        gains=expand(rules.ablation_scores.output.gain, **FINETUNED_RUNS),
        found=expand(rules.ablation_scores.output.found, **FINETUNED_RUNS),
    output:
        table=ablation.table("michel2019-table1", "Table 1, every head masked"),
        best=ablation.table("michel2019-gains", "significant heads, and held-out gains"),
        power=ablation.table("ablation-power", "smallest detectable loss"),
        alone=ablation.table("michel2019-table3", "Table 3, the best head left in each layer"),
        pairs=ablation.table(
            "michel2019-pairs", "section 5, the same heads across data sets and seeds"
        ),
        points="<results>/{model}/ablation/pairs.parquet",
    params:
        **step("ablation/michel2019_tables.py"),
        **INTERVALS,


use rule analysis_step as ablation_modes with:
    input:
        logits=expand(rules.ablation_sweep.output.logits, **FINETUNED_RUNS),
        scores=ABLATION_SCORES,
    output:
        table=ablation.table("ablation-modes", "agreement between ablation methods"),
        heads=ablation.measured(
            ablation.table("ablation-mode-heads", "each head's verdict, by ablation method")
        ),
    resources:
        mem_mb=memory(1500, 25),
    params:
        **step("ablation/ablation_modes.py"),
        **TESTS,
        points=ABLATION["equivalence"],
        nats=ABLATION["equivalence_nats"],


ablation.when(ABLATION_COMPARED).drawn(
    "michel2019-fig2",
    "Figure 2, effects across data sets",
    input={
        "points": rules.michel2019_tables.output.points,
        "table": rules.michel2019_tables.output.pairs,
    },
)


use rule light_step as head_behaviour with:
    input:
        known=read_by("columns"),
        kinds=rules.head_kinds.output.kinds,
        scores=ABLATION_SCORES,
        covariances=expand(rules.ablation_scores.output.covariance, **FINETUNED_RUNS),
    output:
        heads=ablation.measured(
            ablation_disabling.table(
                "kovaleva2019-heads", "section 5, what each head does and what it matters"
            )
        ),
        strata=ablation_disabling.table("kovaleva2019-strata", "section 5, kinds of heads compared"),
    params:
        **step("ablation/head_behaviour.py"),
        **INTERVALS,
        equivalence=ABLATION["equivalence"],
        fewest=config.get("syntax", {}).get("fewest", 0),


ablation_disabling.drawn(
    "kovaleva2019-heads",
    "section 5, do the linguistic heads matter",
    input={
        "heads": rules.head_behaviour.output.heads,
        "strata": rules.head_behaviour.output.strata,
    },
)


use rule training_step as classifier_attribution with:
    input:
        **CHECKPOINT,
    output:
        attribution="<results>/{model}/ablation/{task}.{init}.{seed}.attribution.parquet",
    priority: 5
    group:
        "attributions"
    resources:
        **TRAINING_JOB,
        serial=1,
    params:
        **step("ablation/classifier_attribution.py"),
        **ABLATION_RUN,
        modes=[mode for mode in ABLATION_UNITS["head"] if mode in ABLATION_ATTRIBUTABLE],
        examples=ABLATION["examples"],
        reference=ABLATION["reference"],


use rule analysis_step as ablation_attribution with:
    input:
        logits=expand(rules.ablation_sweep.output.logits, **FINETUNED_RUNS),
        attributions=expand(rules.classifier_attribution.output.attribution, **FINETUNED_RUNS),
    output:
        table=ablation_estimates.table("ablation-attribution", "attribution against exact effects"),
        heads=ablation.measured(
            ablation_estimates.table("ablation-attribution-heads", "each head's attribution")
        ),
    resources:
        mem_mb=memory(1500, 25),
    params:
        **step("ablation/ablation_attribution.py"),
        **TESTS,


ablation_estimates.drawn(
    "ablation-attribution",
    "attribution against exact effects",
    input={"heads": rules.ablation_attribution.output.heads},
    own="ablation_attribution_figure",
)


include: "ablation_text.smk"
