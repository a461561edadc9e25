"""ablation: heads and layers disabled, one at a time or all but one (Kovaleva 4.6, Michel 3, 5)."""


localrules:
    kovaleva2019_fig8,
    kovaleva2019_fig9,
    michel2019_fig1,
    michel2019_table1,
    michel2019_table3,
    ablation_pairs,
    michel2019_fig2,
    head_behaviour,
    kovaleva2019_heads,


ABLATION = config["ablation"]
DISABLING = KOVALEVA | {"subcategory": "4.6 Disabling heads"}
MASKING = MICHEL | {"subcategory": "3 and 5 Masking heads"}
# What is disabled, and how: uniform is Kovaleva's mode, zero is Michel's.
MODES = {"head": ["uniform", "zero"], "layer": ["uniform", "zero"], "all-but-one": ["zero"]}
# Effects are compared between tasks, and between the development sets of MNLI or of domains.
COMPARED = len(TASKS) > 1 or "mnli" in TASKS or any(task["domains"] for task in TASKS.values())
UNITS = {unit: MODES[unit] + ["mean"] * (unit in ABLATION["mean"]) for unit in MODES}


scattergather:
    ablation=ABLATION["shards"],


# Where several jobs share a sweep, its table is joined from their parts.
SWEEP_PARTS = (
    gather.ablation(
        "<results>/{{model}}/ablation/{{task}}.{{init}}.{{seed}}.parts/{scatteritem}.parquet"
    )
    if ABLATION["shards"] > 1
    else []
)


rule ablation_sweep:
    input:
        card=rules.finetune.output.card,
        checkpoint=rules.finetune.output.checkpoint,
        table=rules.prepare_task.output.table,
        parts=SWEEP_PARTS,
    output:
        logits="<results>/{model}/ablation/{task}.{init}.{seed}.logits.parquet",
    log:
        "<logs>/ablation/{model}.{task}.{init}.{seed}.ablation_sweep.log",
    benchmark:
        "<benchmarks>/ablation/{model}.{task}.{init}.{seed}.ablation_sweep.tsv"
    priority: 8
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **({"mem_mb": memory(2000, 5)} if SWEEP_PARTS else TRAINING_JOB),
    params:
        code=code("ablation/ablation_sweep.py"),
        task="{task}",
        init="{init}",
        seed=run_seed,
        sample_seed=config["seed"],
        units=UNITS,
        examples=ABLATION["examples"],
        reference=ABLATION["reference"],
        max_tokens=setting(TASKS, "task", "max_tokens"),
        pass_tokens=ABLATION["pass_tokens"],
        precision=config["precision"],
        device=config["device"],
        part=None,
    script:
        "../workflow_scripts/ablation/ablation_sweep.py"


if SWEEP_PARTS:

    use rule ablation_sweep as ablation_sweep_part with:
        input:
            card=rules.finetune.output.card,
            checkpoint=rules.finetune.output.checkpoint,
            table=rules.prepare_task.output.table,
        output:
            logits=temp(
                "<results>/{model}/ablation/{task}.{init}.{seed}.parts/{scatteritem}.parquet"
            ),
        log:
            "<logs>/ablation/{model}.{task}.{init}.{seed}.{scatteritem}.ablation_sweep_part.log",
        benchmark:
            "<benchmarks>/ablation/{model}.{task}.{init}.{seed}.{scatteritem}.ablation_sweep_part.tsv"
        resources:
            **TRAINING_JOB,
        params:
            part="{scatteritem}",


rule ablation_scores:
    input:
        logits=rules.ablation_sweep.output.logits,
    output:
        scores="<results>/{model}/ablation/{task}.{init}.{seed}.scores.parquet",
        gain="<results>/{model}/ablation/{task}.{init}.{seed}.gain.parquet",
        found="<results>/{model}/ablation/{task}.{init}.{seed}.found.parquet",
        covariance="<results>/{model}/ablation/{task}.{init}.{seed}.covariance.parquet",
    log:
        "<logs>/ablation/{model}.{task}.{init}.{seed}.ablation_scores.log",
    benchmark:
        "<benchmarks>/ablation/{model}.{task}.{init}.{seed}.ablation_scores.tsv"
    group:
        "scores"
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=memory(1500, 25),  # of MNLI's whole development set 120 MB are read
        runtime=minutes(60),
        serial=1,
    params:
        code=code("ablation/ablation_scores.py"),
        bootstrap=ABLATION["bootstrap"],
        permutations=ABLATION["permutations"],
        halves=ABLATION["halves"],
        seed=config["seed"],
    script:
        "../workflow_scripts/ablation/ablation_scores.py"


SCORES = expand(rules.ablation_scores.output.scores, **PRETRAINED_RUNS)
GAINS = expand(rules.ablation_scores.output.gain, **PRETRAINED_RUNS)
FOUND = expand(rules.ablation_scores.output.found, **PRETRAINED_RUNS)
COVARIANCES = expand(rules.ablation_scores.output.covariance, **PRETRAINED_RUNS)


rule kovaleva2019_fig8:
    input:
        scores=SCORES,
    output:
        **figure("kovaleva2019-fig8", "Figure 8, one head disabled", DISABLING),
    log:
        "<logs>/ablation/{model}.kovaleva2019_fig8.log",
    benchmark:
        "<benchmarks>/ablation/{model}.kovaleva2019_fig8.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/kovaleva2019_fig8.py"),
        mode="uniform",
    script:
        "../workflow_scripts/ablation/kovaleva2019_fig8.py"


rule kovaleva2019_fig9:
    input:
        scores=SCORES,
    output:
        **figure("kovaleva2019-fig9", "Figure 9, one layer disabled", DISABLING),
    log:
        "<logs>/ablation/{model}.kovaleva2019_fig9.log",
    benchmark:
        "<benchmarks>/ablation/{model}.kovaleva2019_fig9.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/kovaleva2019_fig9.py"),
        mode="uniform",
    script:
        "../workflow_scripts/ablation/kovaleva2019_fig9.py"


rule michel2019_fig1:
    input:
        scores=SCORES,
    output:
        **figure("michel2019-fig1", "Figure 1, scores without one head", MASKING),
    log:
        "<logs>/ablation/{model}.michel2019_fig1.log",
    benchmark:
        "<benchmarks>/ablation/{model}.michel2019_fig1.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/michel2019_fig1.py"),
    script:
        "../workflow_scripts/ablation/michel2019_fig1.py"


rule michel2019_table1:
    input:
        scores=SCORES,
        gains=GAINS,
        found=FOUND,
    output:
        table=table("michel2019-table1", "Table 1, every head masked", MASKING),
        best=table("michel2019-gains", "heads that matter, and honest gains", MASKING),
        power=table("michel2019-power", "the smallest loss that would be found", MASKING),
    log:
        "<logs>/ablation/{model}.michel2019_table1.log",
    benchmark:
        "<benchmarks>/ablation/{model}.michel2019_table1.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/michel2019_table1.py"),
    script:
        "../workflow_scripts/ablation/michel2019_table1.py"


rule michel2019_table3:
    input:
        scores=SCORES,
        gains=GAINS,
    output:
        table=table("michel2019-table3", "Table 3, the best head left in each layer", MASKING),
    log:
        "<logs>/ablation/{model}.michel2019_table3.log",
    benchmark:
        "<benchmarks>/ablation/{model}.michel2019_table3.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/michel2019_table3.py"),
    script:
        "../workflow_scripts/ablation/michel2019_table3.py"


rule ablation_pairs:
    input:
        scores=SCORES,
        gains=GAINS,
    output:
        points="<results>/{model}/ablation/pairs.parquet",
        table=table(
            "michel2019-pairs", "section 5, the same heads across data sets and seeds", MASKING
        ),
    log:
        "<logs>/ablation/{model}.ablation_pairs.log",
    benchmark:
        "<benchmarks>/ablation/{model}.ablation_pairs.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/ablation_pairs.py"),
        bootstrap=ABLATION["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/ablation/ablation_pairs.py"


rule michel2019_fig2:
    input:
        points=rules.ablation_pairs.output.points,
        table=rules.ablation_pairs.output.table,
    output:
        **figure("michel2019-fig2", "Figure 2, effects across data sets", MASKING, wanted=COMPARED),
    log:
        "<logs>/ablation/{model}.michel2019_fig2.log",
    benchmark:
        "<benchmarks>/ablation/{model}.michel2019_fig2.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/michel2019_fig2.py"),
        mode="zero",
    script:
        "../workflow_scripts/ablation/michel2019_fig2.py"


# What other chapters of the study know of the heads: chapter and table.
KNOWN = {
    "position": ("surface", "position"),
    "special": ("surface", "special_tokens"),
    "entropy": ("surface", "entropy"),
    "syntax_scores": ("syntax", "scores"),
    "offsets": ("syntax", "offsets"),
    "shares": ("patterns", "shares"),
    "frames": ("frames", "scores"),
}
KNOWN_OF_HEADS = {
    name: [f"<results>/{{model}}/{chapter}/{table}.parquet"] if chapter in config else []
    for name, (chapter, table) in KNOWN.items()
}


rule head_behaviour:
    input:
        **KNOWN_OF_HEADS,
        scores=SCORES,
        covariances=COVARIANCES,
    output:
        heads=table(
            "kovaleva2019-heads",
            "section 5, what each head does and what it matters",
            DISABLING,
            caption="kovaleva2019-heads-table",
        ),
        strata=table("kovaleva2019-strata", "section 5, kinds of heads compared", DISABLING),
    log:
        "<logs>/ablation/{model}.head_behaviour.log",
    benchmark:
        "<benchmarks>/ablation/{model}.head_behaviour.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/head_behaviour.py"),
        mode="uniform",
        equivalence=ABLATION["equivalence"],
        threshold=config.get("surface", {}).get("threshold", 0.5),
        fewest=config.get("syntax", {}).get("fewest", 0),
        bootstrap=ABLATION["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/ablation/head_behaviour.py"


rule kovaleva2019_heads:
    input:
        heads=rules.head_behaviour.output.heads,
        strata=rules.head_behaviour.output.strata,
    output:
        **figure("kovaleva2019-heads", "section 5, do the linguistic heads matter", DISABLING),
    log:
        "<logs>/ablation/{model}.kovaleva2019_heads.log",
    benchmark:
        "<benchmarks>/ablation/{model}.kovaleva2019_heads.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("ablation/kovaleva2019_heads.py"),
    script:
        "../workflow_scripts/ablation/kovaleva2019_heads.py"
