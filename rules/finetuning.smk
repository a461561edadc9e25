"""finetuning: what fine-tuning changes in attention (Kovaleva et al. 2019, sections 4.3 to 4.5)."""

CHANGE = config["finetuning"]
FIRST_SEED = SEEDS[0]
KOVALEVA_CHANGE = KOVALEVA | {"subcategory": "4.3 to 4.5 Fine-tuning"}
# Fine-tuned from the pretrained weights, beside the pretrained body itself.
BEFORE_AND_AFTER = {
    "body": f"{STUDY}/{{model}}/attention/{{task}}.h5",
    "tuned": f"{STUDY}/{{model}}/attention/{{task}}.pretrained.{{seed}}.h5",
    "model": rules.model.output.model,
    "card": f"{STUDY}/{{model}}/checkpoints/{{task}}.pretrained.{{seed}}.json",
}


rule similarity:
    input:
        **BEFORE_AND_AFTER,
    output:
        similarity=f"{STUDY}/{{model}}/finetuning/{{task}}.{{seed}}.similarity.parquet",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.{{task}}.{{seed}}.similarity.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.{{task}}.{{seed}}.similarity.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        code=code("finetuning/finetuning_similarity.py"),
        task=lambda w: w.task,
        seed=lambda w: int(w.seed),
        bootstrap=CHANGE["bootstrap"],
    script:
        "../workflow_scripts/finetuning/finetuning_similarity.py"


rule features:
    input:
        **BEFORE_AND_AFTER,
        examples=rules.task_annotation.output.examples,
        annotation=rules.task_annotation.output.annotation,
    output:
        features=f"{STUDY}/{{model}}/finetuning/{{task}}.{{seed}}.features.parquet",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.{{task}}.{{seed}}.features.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.{{task}}.{{seed}}.features.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        code=code("finetuning/finetuning_features.py"),
        task=lambda w: w.task,
        seed=lambda w: int(w.seed),
        bootstrap=CHANGE["bootstrap"],
    script:
        "../workflow_scripts/finetuning/finetuning_features.py"


rule links:
    input:
        **BEFORE_AND_AFTER,
        examples=rules.task_annotation.output.examples,
        annotation=rules.task_annotation.output.annotation,
    output:
        links=f"{STUDY}/{{model}}/finetuning/{{task}}.{{seed}}.links.parquet",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.{{task}}.{{seed}}.links.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.{{task}}.{{seed}}.links.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        code=code("finetuning/finetuning_links.py"),
        task=lambda w: w.task,
        seed=lambda w: int(w.seed),
        bootstrap=CHANGE["bootstrap"],
    script:
        "../workflow_scripts/finetuning/finetuning_links.py"


rule maps:
    input:
        body=f"{STUDY}/{{model}}/attention/{{task}}.h5",
        tuned=f"{STUDY}/{{model}}/attention/{{task}}.pretrained.{FIRST_SEED}.h5",
        model=rules.model.output.model,
        card=f"{STUDY}/{{model}}/checkpoints/{{task}}.pretrained.{FIRST_SEED}.json",
    output:
        maps=f"{STUDY}/{{model}}/finetuning/{{task}}.maps.parquet",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.{{task}}.maps.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.{{task}}.maps.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("finetuning/finetuning_maps.py"),
        task=lambda w: w.task,
        most_tokens=CHANGE["most_drawn_tokens"],
        seed=config["seed"],
    script:
        "../workflow_scripts/finetuning/finetuning_maps.py"


rule kovaleva2019_fig5:
    input:
        similarity=expand(
            rules.similarity.output.similarity, task=TASKS, seed=SEEDS, allow_missing=True
        ),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig5.svg",
            caption="../report/kovaleva2019-fig5.rst",
            labels={"model": "{model}", "product": "Figure 5, likeness before and after"},
            **KOVALEVA_CHANGE,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig5.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig5.png",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.kovaleva2019_fig5.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.kovaleva2019_fig5.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("finetuning/kovaleva2019_fig5.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_fig5.py"


rule kovaleva2019_fig6:
    input:
        features=expand(rules.features.output.features, task=TASKS, seed=SEEDS, allow_missing=True),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig6.svg",
            caption="../report/kovaleva2019-fig6.rst",
            labels={"model": "{model}", "product": "Figure 6, [SEP] and [CLS]"},
            **KOVALEVA_CHANGE,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig6.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig6.png",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.kovaleva2019_fig6.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.kovaleva2019_fig6.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("finetuning/kovaleva2019_fig6.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_fig6.py"


rule kovaleva2019_features:
    input:
        features=expand(rules.features.output.features, task=TASKS, seed=SEEDS, allow_missing=True),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-features.svg",
            caption="../report/kovaleva2019-features.rst",
            labels={"model": "{model}", "product": "section 4.4, linguistic features"},
            **KOVALEVA_CHANGE,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-features.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-features.png",
        table=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-features.csv",
            caption="../report/kovaleva2019-features-table.rst",
            labels={"model": "{model}", "product": "section 4.4, attention to kinds of tokens"},
            **KOVALEVA_CHANGE,
        ),
    log:
        f"{STUDY}/logs/finetuning/{{model}}.kovaleva2019_features.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.kovaleva2019_features.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("finetuning/kovaleva2019_features.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_features.py"


rule kovaleva2019_fig7:
    input:
        features=expand(rules.features.output.features, task=TASKS, seed=SEEDS, allow_missing=True),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig7.svg",
            caption="../report/kovaleva2019-fig7.rst",
            labels={"model": "{model}", "product": "Figure 7, what [CLS] attends to"},
            **KOVALEVA_CHANGE,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig7.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig7.png",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.kovaleva2019_fig7.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.kovaleva2019_fig7.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("finetuning/kovaleva2019_fig7.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_fig7.py"


rule kovaleva2019_maps:
    input:
        maps=rules.maps.output.maps,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-maps.{{task}}.svg",
            caption="../report/kovaleva2019-maps.rst",
            labels={
                "model": "{model}",
                "task": "{task}",
                "product": "appendix A, maps of all heads",
            },
            **KOVALEVA_CHANGE,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-maps.{{task}}.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-maps.{{task}}.png",
    log:
        f"{STUDY}/logs/finetuning/{{model}}.kovaleva2019_maps.{{task}}.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.kovaleva2019_maps.{{task}}.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("finetuning/kovaleva2019_maps.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_maps.py"


rule kovaleva2019_links:
    input:
        links=expand(rules.links.output.links, task=TASKS, seed=SEEDS, allow_missing=True),
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-links.csv",
            caption="../report/kovaleva2019-links.rst",
            labels={"model": "{model}", "product": "section 4.5, token-to-token attention"},
            **KOVALEVA_CHANGE,
        ),
    log:
        f"{STUDY}/logs/finetuning/{{model}}.kovaleva2019_links.log",
    benchmark:
        f"{STUDY}/benchmarks/finetuning/{{model}}.kovaleva2019_links.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code("finetuning/kovaleva2019_links.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_links.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/kovaleva2019-{{figure}}.{{kind}}",
    model=MODELS,
    figure=["fig5", "fig6", "features", "fig7", *(f"maps.{task}" for task in TASKS)],
    kind=["svg", "pdf", "png"],
)
TABLES += expand(
    f"{STUDY}/{{model}}/tables/kovaleva2019-{{table}}.csv",
    model=MODELS,
    table=["features", "links"],
)
