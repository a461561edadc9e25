"""finetuning: what fine-tuning changes in attention (Kovaleva et al. 2019, sections 4.3 to 4.5)."""


localrules:
    finetuning_maps,
    kovaleva2019_fig5,
    kovaleva2019_fig6,
    kovaleva2019_shares,
    kovaleva2019_features,
    kovaleva2019_fig7,
    kovaleva2019_maps,
    kovaleva2019_links,
    kovaleva2019_shared,


CHANGE = config["finetuning"]
FIRST_SEED = SEEDS[0]
# Tasks whose inputs are two sentences; Figure 5 is drawn for padded maps too, where asked for.
PAIRED = [task for task in TASKS if task not in ("sst2", "cola")]
PAIRED_RUNS = PRETRAINED_RUNS | {"task": PAIRED}
PADDED = bool(CHANGE["padded_to"])
FINE_TUNING = KOVALEVA | {"subcategory": "4.3 to 4.5 Fine-tuning"}


rule finetuning_tables:
    input:
        body="<results>/{model}/attention/{task}.h5",
        tuned="<results>/{model}/attention/{task}.pretrained.{seed}.h5",
        model=rules.model_card.output.model,
        card="<results>/{model}/checkpoints/{task}.pretrained.{seed}.json",
        examples=rules.task_annotation.output.examples,
        annotation=rules.task_annotation.output.annotation,
    output:
        similarity="<results>/{model}/finetuning/{task}.{seed}.similarity.parquet",
        features="<results>/{model}/finetuning/{task}.{seed}.features.parquet",
        links="<results>/{model}/finetuning/{task}.{seed}.links.parquet",
        shared="<results>/{model}/finetuning/{task}.{seed}.shared.parquet",
    log:
        "<logs>/finetuning/{model}.{task}.{seed}.finetuning_tables.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.{task}.{seed}.finetuning_tables.tsv"
    group:
        "tuned"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/finetuning_tables.py"),
        task="{task}",
        seed=run_seed,
        bootstrap=CHANGE["bootstrap"],
        labels=CHANGE["labels"],
    script:
        "../workflow_scripts/finetuning/finetuning_tables.py"


rule padded_similarity:
    input:
        model=rules.model_card.output.model,
        files=model_files,
        card="<results>/{model}/checkpoints/{task}.pretrained.{seed}.json",
        checkpoint="<results>/{model}/checkpoints/{task}.pretrained.{seed}",
        examples=rules.task_annotation.output.examples,
    output:
        similarity="<results>/{model}/finetuning/{task}.{seed}.padded.parquet",
    log:
        "<logs>/finetuning/{model}.{task}.{seed}.padded_similarity.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.{task}.{seed}.padded_similarity.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **MODEL_JOB,
    params:
        code=code("finetuning/padded_similarity.py"),
        task="{task}",
        seed=run_seed,
        length=CHANGE["padded_to"],
        max_tokens=setting(TASKS, "task", "max_tokens"),
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        precision=config["precision"],
        bootstrap=CHANGE["bootstrap"],
    script:
        "../workflow_scripts/finetuning/padded_similarity.py"


rule finetuning_maps:
    input:
        body="<results>/{model}/attention/{task}.h5",
        tuned=f"<results>/{{model}}/attention/{{task}}.pretrained.{FIRST_SEED}.h5",
        model=rules.model_card.output.model,
        card=f"<results>/{{model}}/checkpoints/{{task}}.pretrained.{FIRST_SEED}.json",
    output:
        maps="<results>/{model}/finetuning/{task}.maps.parquet",
    log:
        "<logs>/finetuning/{model}.{task}.finetuning_maps.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.{task}.finetuning_maps.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/finetuning_maps.py"),
        task="{task}",
        most_tokens=CHANGE["most_drawn_tokens"],
        seed=config["seed"],
    script:
        "../workflow_scripts/finetuning/finetuning_maps.py"


rule kovaleva2019_fig5:
    input:
        similarity=expand(rules.finetuning_tables.output.similarity, **PRETRAINED_RUNS),
        padded=(
            expand(rules.padded_similarity.output.similarity, **PRETRAINED_RUNS) if PADDED else []
        ),
    output:
        **figure("kovaleva2019-fig5", "Figure 5, likeness before and after", FINE_TUNING),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_fig5.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_fig5.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_fig5.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_fig5.py"


rule kovaleva2019_fig6:
    input:
        features=expand(rules.finetuning_tables.output.features, **PRETRAINED_RUNS),
    output:
        **figure("kovaleva2019-fig6", "Figure 6, [SEP] and [CLS]", FINE_TUNING),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_fig6.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_fig6.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_fig6.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_fig6.py"


rule kovaleva2019_shares:
    input:
        features=expand(rules.finetuning_tables.output.features, **PRETRAINED_RUNS),
    output:
        **figure("kovaleva2019-shares", "section 4.4, attention summed by kind", FINE_TUNING),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_shares.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_shares.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_shares.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_shares.py"


rule kovaleva2019_features:
    input:
        features=expand(rules.finetuning_tables.output.features, **PRETRAINED_RUNS),
    output:
        **figure("kovaleva2019-features", "section 4.4, linguistic features", FINE_TUNING),
        table=table(
            "kovaleva2019-features",
            "section 4.4, attention to kinds of tokens",
            FINE_TUNING,
            caption="kovaleva2019-features-table",
        ),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_features.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_features.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_features.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_features.py"


rule kovaleva2019_fig7:
    input:
        features=expand(rules.finetuning_tables.output.features, **PRETRAINED_RUNS),
    output:
        **figure("kovaleva2019-fig7", "Figure 7, what [CLS] attends to", FINE_TUNING),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_fig7.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_fig7.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_fig7.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_fig7.py"


rule kovaleva2019_maps:
    input:
        maps=rules.finetuning_maps.output.maps,
    output:
        **figure(
            "kovaleva2019-maps.{task}",
            "appendix A, maps of all heads",
            FINE_TUNING,
            caption="kovaleva2019-maps",
        ),
    log:
        "<logs>/finetuning/{model}.{task}.kovaleva2019_maps.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.{task}.kovaleva2019_maps.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_maps.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_maps.py"


rule kovaleva2019_links:
    input:
        links=expand(rules.finetuning_tables.output.links, **PRETRAINED_RUNS),
    output:
        table=table("kovaleva2019-links", "section 4.5, token-to-token attention", FINE_TUNING),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_links.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_links.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_links.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_links.py"


rule kovaleva2019_shared:
    input:
        shared=expand(rules.finetuning_tables.output.shared, **PAIRED_RUNS),
    output:
        **figure(
            "kovaleva2019-shared",
            "section 5, words that both sentences share",
            FINE_TUNING,
            wanted=bool(PAIRED),
        ),
        table=table(
            "kovaleva2019-shared",
            "section 5, heads that attend to shared words",
            FINE_TUNING,
            caption="kovaleva2019-shared-table",
            wanted=bool(PAIRED),
        ),
    log:
        "<logs>/finetuning/{model}.kovaleva2019_shared.log",
    benchmark:
        "<benchmarks>/finetuning/{model}.kovaleva2019_shared.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("finetuning/kovaleva2019_shared.py"),
    script:
        "../workflow_scripts/finetuning/kovaleva2019_shared.py"
