"""ablation: heads and layers disabled, one at a time or all but one (Kovaleva 4.6, Michel 3, 5)."""

ABLATION = config["ablation"]
KOVALEVA_ABLATION = KOVALEVA | {"subcategory": "4.6 Disabling heads"}
MICHEL = {"category": "Michel et al. 2019"}
MICHEL_MASKING = MICHEL | {"subcategory": "3 and 5 Masking heads"}
# What is disabled, and how: uniform is Kovaleva's mode, zero is Michel's.
MODES = {"head": ["uniform", "zero"], "layer": ["uniform", "zero"], "all-but-one": ["zero"]}
UNITS = {unit: MODES[unit] + ["mean"] * (unit in ABLATION["mean"]) for unit in MODES}


rule sweep:
    input:
        card=rules.finetune.output.card,
        checkpoint=rules.finetune.output.checkpoint,
        table=rules.task.output.table,
    output:
        logits=f"{STUDY}/{{model}}/ablation/{{task}}.{{init}}.{{seed}}.logits.parquet",
    log:
        f"{STUDY}/logs/ablation/{{model}}.{{task}}.{{init}}.{{seed}}.sweep.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.{{task}}.{{init}}.{{seed}}.sweep.tsv"
    priority: 5
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=4000,
        runtime=720,
        gpu=gpu,
    params:
        code=code("ablation/ablation_sweep.py"),
        task=lambda w: w.task,
        init=lambda w: w.init,
        seed=lambda w: int(w.seed),
        units=UNITS,
        examples=ABLATION["examples"],
        reference=ABLATION["reference"],
        max_tokens=lambda w: TASKS[w.task]["max_tokens"],
        pass_tokens=ABLATION["pass_tokens"],
        precision=config["precision"],
        device=config["device"],
    script:
        "../workflow_scripts/ablation/ablation_sweep.py"


rule ablation_scores:
    input:
        logits=rules.sweep.output.logits,
    output:
        scores=f"{STUDY}/{{model}}/ablation/{{task}}.{{init}}.{{seed}}.scores.parquet",
        gain=f"{STUDY}/{{model}}/ablation/{{task}}.{{init}}.{{seed}}.gain.parquet",
    log:
        f"{STUDY}/logs/ablation/{{model}}.{{task}}.{{init}}.{{seed}}.ablation_scores.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.{{task}}.{{init}}.{{seed}}.ablation_scores.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/ablation_scores.py"),
        bootstrap=ABLATION["bootstrap"],
        halves=ABLATION["halves"],
        seed=config["seed"],
    script:
        "../workflow_scripts/ablation/ablation_scores.py"


# The papers' figures and tables are of checkpoints fine-tuned from the pretrained weights.
SWEPT = {"task": TASKS, "init": "pretrained", "seed": SEEDS, "allow_missing": True}
SCORES = expand(rules.ablation_scores.output.scores, **SWEPT)
GAINS = expand(rules.ablation_scores.output.gain, **SWEPT)


rule kovaleva2019_fig8:
    input:
        scores=SCORES,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig8.svg",
            caption="../report/kovaleva2019-fig8.rst",
            labels={"model": "{model}", "product": "Figure 8, one head disabled"},
            **KOVALEVA_ABLATION,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig8.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig8.png",
    log:
        f"{STUDY}/logs/ablation/{{model}}.kovaleva2019_fig8.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.kovaleva2019_fig8.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/kovaleva2019_fig8.py"),
        mode="uniform",
    script:
        "../workflow_scripts/ablation/kovaleva2019_fig8.py"


rule kovaleva2019_fig9:
    input:
        scores=SCORES,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig9.svg",
            caption="../report/kovaleva2019-fig9.rst",
            labels={"model": "{model}", "product": "Figure 9, one layer disabled"},
            **KOVALEVA_ABLATION,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig9.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig9.png",
    log:
        f"{STUDY}/logs/ablation/{{model}}.kovaleva2019_fig9.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.kovaleva2019_fig9.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/kovaleva2019_fig9.py"),
        mode="uniform",
    script:
        "../workflow_scripts/ablation/kovaleva2019_fig9.py"


rule michel2019_fig1:
    input:
        scores=SCORES,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/michel2019-fig1.svg",
            caption="../report/michel2019-fig1.rst",
            labels={"model": "{model}", "product": "Figure 1, scores without one head"},
            **MICHEL_MASKING,
        ),
        pdf=f"{STUDY}/{{model}}/figures/michel2019-fig1.pdf",
        png=f"{STUDY}/{{model}}/figures/michel2019-fig1.png",
    log:
        f"{STUDY}/logs/ablation/{{model}}.michel2019_fig1.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.michel2019_fig1.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/michel2019_fig1.py"),
    script:
        "../workflow_scripts/ablation/michel2019_fig1.py"


rule michel2019_table1:
    input:
        scores=SCORES,
        gains=GAINS,
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/michel2019-table1.csv",
            caption="../report/michel2019-table1.rst",
            labels={"model": "{model}", "product": "Table 1, every head masked"},
            **MICHEL_MASKING,
        ),
        best=report(
            f"{STUDY}/{{model}}/tables/michel2019-gains.csv",
            caption="../report/michel2019-gains.rst",
            labels={"model": "{model}", "product": "heads that matter, and honest gains"},
            **MICHEL_MASKING,
        ),
    log:
        f"{STUDY}/logs/ablation/{{model}}.michel2019_table1.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.michel2019_table1.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/michel2019_table1.py"),
    script:
        "../workflow_scripts/ablation/michel2019_table1.py"


rule michel2019_table3:
    input:
        scores=SCORES,
        gains=GAINS,
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/michel2019-table3.csv",
            caption="../report/michel2019-table3.rst",
            labels={"model": "{model}", "product": "Table 3, the best head left in each layer"},
            **MICHEL_MASKING,
        ),
    log:
        f"{STUDY}/logs/ablation/{{model}}.michel2019_table3.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.michel2019_table3.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/michel2019_table3.py"),
    script:
        "../workflow_scripts/ablation/michel2019_table3.py"


rule pairs:
    input:
        scores=SCORES,
    output:
        points=f"{STUDY}/{{model}}/ablation/pairs.parquet",
        table=report(
            f"{STUDY}/{{model}}/tables/michel2019-pairs.csv",
            caption="../report/michel2019-pairs.rst",
            labels={
                "model": "{model}",
                "product": "section 5, the same heads across data sets and seeds",
            },
            **MICHEL_MASKING,
        ),
    log:
        f"{STUDY}/logs/ablation/{{model}}.pairs.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.pairs.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/ablation_pairs.py"),
        bootstrap=ABLATION["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/ablation/ablation_pairs.py"


rule michel2019_fig2:
    input:
        points=rules.pairs.output.points,
        table=rules.pairs.output.table,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/michel2019-fig2.svg",
            caption="../report/michel2019-fig2.rst",
            labels={"model": "{model}", "product": "Figure 2, effects across data sets"},
            **MICHEL_MASKING,
        ),
        pdf=f"{STUDY}/{{model}}/figures/michel2019-fig2.pdf",
        png=f"{STUDY}/{{model}}/figures/michel2019-fig2.png",
    log:
        f"{STUDY}/logs/ablation/{{model}}.michel2019_fig2.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.michel2019_fig2.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/michel2019_fig2.py"),
        mode="zero",
    script:
        "../workflow_scripts/ablation/michel2019_fig2.py"


rule behaviour:
    input:
        scores=SCORES,
        position=table_if_any("surface", "position"),
        special=table_if_any("surface", "special_tokens"),
        entropy=table_if_any("surface", "entropy"),
        syntax_scores=table_if_any("syntax", "scores"),
        offsets=table_if_any("syntax", "offsets"),
        shares=table_if_any("patterns", "shares"),
        frames=table_if_any("frames", "scores"),
    output:
        heads=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-heads.csv",
            caption="../report/kovaleva2019-heads-table.rst",
            labels={
                "model": "{model}",
                "product": "section 5, what each head does and what it matters",
            },
            **KOVALEVA_ABLATION,
        ),
        strata=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-strata.csv",
            caption="../report/kovaleva2019-strata.rst",
            labels={"model": "{model}", "product": "section 5, kinds of heads compared"},
            **KOVALEVA_ABLATION,
        ),
    log:
        f"{STUDY}/logs/ablation/{{model}}.behaviour.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.behaviour.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/head_behaviour.py"),
        mode="uniform",
        threshold=config.get("surface", {}).get("threshold", 0.5),
        fewest=config.get("syntax", {}).get("fewest", 0),
        percentile=config.get("frames", {}).get("percentile", 99),
        bootstrap=ABLATION["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/ablation/head_behaviour.py"


rule kovaleva2019_heads:
    input:
        heads=rules.behaviour.output.heads,
        strata=rules.behaviour.output.strata,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-heads.svg",
            caption="../report/kovaleva2019-heads.rst",
            labels={"model": "{model}", "product": "section 5, do the linguistic heads matter"},
            **KOVALEVA_ABLATION,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-heads.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-heads.png",
    log:
        f"{STUDY}/logs/ablation/{{model}}.kovaleva2019_heads.log",
    benchmark:
        f"{STUDY}/benchmarks/ablation/{{model}}.kovaleva2019_heads.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("ablation/kovaleva2019_heads.py"),
    script:
        "../workflow_scripts/ablation/kovaleva2019_heads.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/{{figure}}.{{kind}}",
    model=MODELS,
    figure=[
        "kovaleva2019-fig8",
        "kovaleva2019-fig9",
        "kovaleva2019-heads",
        "michel2019-fig1",
        *(["michel2019-fig2"] if len(TASKS) > 1 or "mnli" in TASKS else []),
    ],
    kind=["svg", "pdf", "png"],
)
TABLES += expand(
    f"{STUDY}/{{model}}/tables/{{table}}.csv",
    model=MODELS,
    table=[
        "kovaleva2019-heads",
        "kovaleva2019-strata",
        "michel2019-table1",
        "michel2019-gains",
        "michel2019-table3",
        "michel2019-pairs",
    ],
)
