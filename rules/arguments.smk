"""arguments: ARCT, cues, partial inputs and the adversarial set (Niven and Kao 2019)."""

ARGUMENTS = config["arguments"]
NIVEN = {"category": "Niven and Kao 2019"}
NIVEN_CUES = NIVEN | {"subcategory": "3 Statistical cues"}
NIVEN_PROBING = NIVEN | {"subcategory": "4 to 6 Probing and the adversarial set"}
NIVEN_BEYOND = NIVEN | {"subcategory": "Beyond the paper"}
# Weights are kept of models trained on the original points.
KEPT = {"trained_on": "original", "seed": ARGUMENTS["seeds"]}
FIRST = ARGUMENTS["seeds"][0]


rule argument_cues:
    input:
        table=rules.arct.output.table,
    output:
        cues=f"{STUDY}/arguments/cues.parquet",
    log:
        f"{STUDY}/logs/arguments/cues.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/cues.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/argument_cues.py"),
        cue=ARGUMENTS["cues"]["cue"],
        sizes=ARGUMENTS["cues"]["sizes"],
        same=ARGUMENTS["cues"]["same"],
        least=ARGUMENTS["cues"]["coverage"],
    script:
        "../workflow_scripts/arguments/argument_cues.py"


rule argument_bert_grid:
    input:
        model=rules.model.output.model,
        table=rules.arct.output.table,
        files=model_files,
    output:
        grid=f"{STUDY}/{{model}}/arguments/bert.{{trained_on}}.grid.csv",
    log:
        f"{STUDY}/logs/arguments/{{model}}.bert.{{trained_on}}.grid.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.bert.{{trained_on}}.grid.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=6000,
        runtime=1440,
        gpu=gpu,
    params:
        code=code("arguments/bert_grid.py"),
        setups=ARGUMENTS["setups"],
        trained_on=lambda w: w.trained_on,
        settings=ARGUMENTS["bert"],
        seed=FIRST,
        device=config["device"],
    script:
        "../workflow_scripts/arguments/bert_grid.py"


rule argument_bert:
    input:
        model=rules.model.output.model,
        table=rules.arct.output.table,
        grid=searched,
        files=model_files,
    output:
        weights=directory(f"{STUDY}/{{model}}/arguments/bert.{{trained_on}}.{{seed}}"),
        predictions=f"{STUDY}/{{model}}/arguments/bert.{{trained_on}}.{{seed}}.parquet",
        curves=f"{STUDY}/{{model}}/arguments/bert.{{trained_on}}.{{seed}}.curves.csv",
    log:
        f"{STUDY}/logs/arguments/{{model}}.bert.{{trained_on}}.{{seed}}.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.bert.{{trained_on}}.{{seed}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=6000,
        runtime=720,
        gpu=gpu,
    params:
        code=code("arguments/bert_run.py"),
        setups=ARGUMENTS["setups"],
        trained_on=lambda w: w.trained_on,
        settings=ARGUMENTS["bert"],
        keep=kept,
        seed=lambda w: int(w.seed),
        device=config["device"],
    script:
        "../workflow_scripts/arguments/bert_run.py"


rule argument_words_grid:
    input:
        table=rules.arct.output.table,
        vectors=f"{STUDY}/corpora/{ARGUMENTS['vectors']}.vectors.safetensors",
        words=f"{STUDY}/corpora/{ARGUMENTS['vectors']}.words.txt",
    output:
        grid=f"{STUDY}/arguments/{{family}}.{{trained_on}}.grid.csv",
    log:
        f"{STUDY}/logs/arguments/{{family}}.{{trained_on}}.grid.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{family}}.{{trained_on}}.grid.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=gpu,
    params:
        code=code("arguments/words_grid.py"),
        family=lambda w: w.family,
        setups=ARGUMENTS["setups"],
        trained_on=lambda w: w.trained_on,
        settings=lambda w: ARGUMENTS[w.family],
        seed=FIRST,
        device=config["device"],
    script:
        "../workflow_scripts/arguments/words_grid.py"


rule argument_words:
    input:
        table=rules.arct.output.table,
        vectors=rules.argument_words_grid.input.vectors,
        words=rules.argument_words_grid.input.words,
        grid=searched,
    output:
        weights=directory(f"{STUDY}/arguments/{{family}}.{{trained_on}}.{{seed}}"),
        predictions=f"{STUDY}/arguments/{{family}}.{{trained_on}}.{{seed}}.parquet",
        curves=f"{STUDY}/arguments/{{family}}.{{trained_on}}.{{seed}}.curves.csv",
    log:
        f"{STUDY}/logs/arguments/{{family}}.{{trained_on}}.{{seed}}.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{family}}.{{trained_on}}.{{seed}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("arguments/words_run.py"),
        family=lambda w: w.family,
        setups=ARGUMENTS["setups"],
        trained_on=lambda w: w.trained_on,
        settings=lambda w: ARGUMENTS[w.family],
        keep=kept,
        seed=lambda w: int(w.seed),
        device=config["device"],
    script:
        "../workflow_scripts/arguments/words_run.py"


RUNS = {"trained_on": ARGUMENTS["train_on"], "seed": ARGUMENTS["seeds"]}
PREDICTIONS = expand(rules.argument_bert.output.predictions, **RUNS, allow_missing=True)
PREDICTIONS += expand(rules.argument_words.output.predictions, **RUNS, family=["bov", "bilstm"])


rule niven2019_cues:
    input:
        cues=rules.argument_cues.output.cues,
        counts=rules.arct.output.counts,
    output:
        table2=report(
            f"{STUDY}/{{model}}/tables/niven2019-table2.csv",
            caption="../report/niven2019-table2.rst",
            labels={"model": "{model}", "product": "Table 2, one cue"},
            **NIVEN_CUES,
        ),
        all_cues=report(
            f"{STUDY}/{{model}}/tables/niven2019-cues.csv",
            caption="../report/niven2019-cues-table.rst",
            labels={"model": "{model}", "product": "all cues"},
            **NIVEN_CUES,
        ),
        svg=report(
            f"{STUDY}/{{model}}/figures/niven2019-cues.svg",
            caption="../report/niven2019-cues.rst",
            labels={"model": "{model}", "product": "cues, productivity against coverage"},
            **NIVEN_CUES,
        ),
        pdf=f"{STUDY}/{{model}}/figures/niven2019-cues.pdf",
        png=f"{STUDY}/{{model}}/figures/niven2019-cues.png",
    log:
        f"{STUDY}/logs/arguments/{{model}}.niven2019_cues.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.niven2019_cues.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/niven2019_cues.py"),
        cue=ARGUMENTS["cues"]["cue"],
    script:
        "../workflow_scripts/arguments/niven2019_cues.py"


rule argument_scores:
    input:
        predictions=PREDICTIONS,
    output:
        scores=f"{STUDY}/{{model}}/arguments/scores.parquet",
    log:
        f"{STUDY}/logs/arguments/{{model}}.argument_scores.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.argument_scores.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/argument_scores.py"),
        degenerate_below=ARGUMENTS["degenerate_below"],
    script:
        "../workflow_scripts/arguments/argument_scores.py"


rule niven2019_tables:
    input:
        scores=rules.argument_scores.output.scores,
    output:
        table1_csv=report(
            f"{STUDY}/{{model}}/tables/niven2019-table1.csv",
            caption="../report/niven2019-table1.rst",
            labels={"model": "{model}", "product": "Table 1, models"},
            **NIVEN_PROBING,
        ),
        table3_csv=report(
            f"{STUDY}/{{model}}/tables/niven2019-table3.csv",
            caption="../report/niven2019-table3.rst",
            labels={"model": "{model}", "product": "Table 3, partial inputs"},
            **NIVEN_PROBING,
        ),
        table4_csv=report(
            f"{STUDY}/{{model}}/tables/niven2019-table4.csv",
            caption="../report/niven2019-table4.rst",
            labels={"model": "{model}", "product": "Table 4, the adversarial set"},
            **NIVEN_PROBING,
        ),
    log:
        f"{STUDY}/logs/arguments/{{model}}.niven2019_tables.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.niven2019_tables.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/niven2019_tables.py"),
        name=lambda w: w.model,
    script:
        "../workflow_scripts/arguments/niven2019_tables.py"


rule niven2019_runs:
    input:
        scores=rules.argument_scores.output.scores,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/niven2019-runs.svg",
            caption="../report/niven2019-runs.rst",
            labels={"model": "{model}", "product": "accuracy of every run"},
            **NIVEN_PROBING,
        ),
        pdf=f"{STUDY}/{{model}}/figures/niven2019-runs.pdf",
        png=f"{STUDY}/{{model}}/figures/niven2019-runs.png",
    log:
        f"{STUDY}/logs/arguments/{{model}}.niven2019_runs.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.niven2019_runs.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/niven2019_runs.py"),
    script:
        "../workflow_scripts/arguments/niven2019_runs.py"


rule argument_bert_reliance:
    input:
        model=rules.model.output.model,
        table=rules.arct.output.table,
        cues=rules.argument_cues.output.cues,
        weights=expand(rules.argument_bert.output.weights, **KEPT, allow_missing=True),
        files=model_files,
    output:
        reliance=f"{STUDY}/{{model}}/arguments/bert.reliance.parquet",
    log:
        f"{STUDY}/logs/arguments/{{model}}.argument_bert_reliance.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.argument_bert_reliance.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("arguments/bert_reliance.py"),
        setups=ARGUMENTS["keep"],
        settings=ARGUMENTS["bert"],
        cue=ARGUMENTS["cues"]["cue"],
        most=ARGUMENTS["reliance"]["cues"],
        same=ARGUMENTS["cues"]["same"],
        seed=config["seed"],
        device=config["device"],
    script:
        "../workflow_scripts/arguments/bert_reliance.py"


rule argument_words_reliance:
    input:
        table=rules.arct.output.table,
        cues=rules.argument_cues.output.cues,
        vectors=rules.argument_words_grid.input.vectors,
        words=rules.argument_words_grid.input.words,
        weights=expand(rules.argument_words.output.weights, **KEPT, allow_missing=True),
    output:
        reliance=f"{STUDY}/arguments/{{family}}.reliance.parquet",
    log:
        f"{STUDY}/logs/arguments/{{family}}.reliance.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{family}}.reliance.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=60,
        gpu=gpu,
    params:
        code=code("arguments/words_reliance.py"),
        family=lambda w: w.family,
        setups=ARGUMENTS["keep"],
        settings=lambda w: ARGUMENTS[w.family],
        cue=ARGUMENTS["cues"]["cue"],
        most=ARGUMENTS["reliance"]["cues"],
        same=ARGUMENTS["cues"]["same"],
        seed=config["seed"],
        device=config["device"],
    script:
        "../workflow_scripts/arguments/words_reliance.py"


rule niven2019_reliance:
    input:
        reliance=[
            rules.argument_bert_reliance.output.reliance,
            *expand(rules.argument_words_reliance.output.reliance, family=["bov", "bilstm"]),
        ],
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/niven2019-reliance.csv",
            caption="../report/niven2019-reliance-table.rst",
            labels={"model": "{model}", "product": "predictions with a cue changed"},
            **NIVEN_BEYOND,
        ),
        svg=report(
            f"{STUDY}/{{model}}/figures/niven2019-reliance.svg",
            caption="../report/niven2019-reliance.rst",
            labels={"model": "{model}", "product": "predictions that flip with a cue changed"},
            **NIVEN_BEYOND,
        ),
        pdf=f"{STUDY}/{{model}}/figures/niven2019-reliance.pdf",
        png=f"{STUDY}/{{model}}/figures/niven2019-reliance.png",
    log:
        f"{STUDY}/logs/arguments/{{model}}.niven2019_reliance.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.niven2019_reliance.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/niven2019_reliance.py"),
        bootstrap=ARGUMENTS["reliance"]["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/arguments/niven2019_reliance.py"


rule argument_heads:
    input:
        model=rules.model.output.model,
        table=rules.arct.output.table,
        weights=expand(rules.argument_bert.output.weights, **KEPT, allow_missing=True),
        files=model_files,
    output:
        heads=f"{STUDY}/{{model}}/arguments/heads.parquet",
    log:
        f"{STUDY}/logs/arguments/{{model}}.argument_heads.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.argument_heads.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=gpu,
    params:
        code=code("arguments/argument_heads.py"),
        setups=ARGUMENTS["keep"],
        cue=ARGUMENTS["cues"]["cue"],
        same=ARGUMENTS["cues"]["same"],
        mode=ARGUMENTS["heads"]["mode"],
        points=ARGUMENTS["heads"]["points"],
        settings=ARGUMENTS["bert"],
        pass_tokens=ARGUMENTS["heads"]["pass_tokens"],
        precision=config["precision"],
        seed=config["seed"],
        device=config["device"],
    script:
        "../workflow_scripts/arguments/argument_heads.py"


rule niven2019_heads:
    input:
        heads=rules.argument_heads.output.heads,
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/niven2019-heads.csv",
            caption="../report/niven2019-heads-table.rst",
            labels={"model": "{model}", "product": "heads that carry the cue"},
            **NIVEN_BEYOND,
        ),
        svg=report(
            f"{STUDY}/{{model}}/figures/niven2019-heads.svg",
            caption="../report/niven2019-heads.rst",
            labels={"model": "{model}", "product": "heads that carry the cue"},
            **NIVEN_BEYOND,
        ),
        pdf=f"{STUDY}/{{model}}/figures/niven2019-heads.pdf",
        png=f"{STUDY}/{{model}}/figures/niven2019-heads.png",
    log:
        f"{STUDY}/logs/arguments/{{model}}.niven2019_heads.log",
    benchmark:
        f"{STUDY}/benchmarks/arguments/{{model}}.niven2019_heads.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("arguments/niven2019_heads.py"),
        bootstrap=ARGUMENTS["heads"]["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/arguments/niven2019_heads.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/niven2019-{{figure}}.svg",
    model=MODELS,
    figure=["cues", "runs", "reliance", "heads"],
)
TABLES += expand(
    f"{STUDY}/{{model}}/tables/niven2019-{{table}}.csv",
    model=MODELS,
    table=["table1", "table2", "table3", "table4", "cues", "reliance", "heads"],
)
