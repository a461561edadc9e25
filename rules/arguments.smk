"""arguments: ARCT, cues, partial inputs and the adversarial set (Niven and Kao 2019)."""

ARGUMENTS = config["arguments"]
NIVEN_CUES = NIVEN | {"subcategory": "3 Statistical cues"}
NIVEN_PROBING = NIVEN | {"subcategory": "4 to 6 Probing and the adversarial set"}
NIVEN_BEYOND = NIVEN | {"subcategory": "Beyond the paper"}
# Weights are kept of models trained on the original points.
KEPT = {"trained_on": "original", "seed": ARGUMENTS["seeds"]}
FIRST = ARGUMENTS["seeds"][0]


# Families whose grid has several points, so that a search comes before the runs.
SEARCHED = [
    family
    for family in ("bert", "bov", "bilstm")
    if any(len(values) > 1 for values in ARGUMENTS[family]["grid"].values())
]


wildcard_constraints:
    family="bov|bilstm",
    trained_on="original|swapped|negated",


rule argument_cues:
    input:
        table=rules.prepare_arct.output.table,
    output:
        cues="<results>/arguments/cues.parquet",
    log:
        "<logs>/arguments/argument_cues.log",
    benchmark:
        "<benchmarks>/arguments/argument_cues.tsv"
    conda:
        "../envs/analysis.yaml"
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
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        files=model_files,
    output:
        grid="<results>/{model}/arguments/bert.{trained_on}.grid.csv",
    log:
        "<logs>/arguments/{model}.{trained_on}.argument_bert_grid.log",
    benchmark:
        "<benchmarks>/arguments/{model}.{trained_on}.argument_bert_grid.tsv"
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
        trained_on="{trained_on}",
        settings=ARGUMENTS["bert"],
        seed=FIRST,
        device=config["device"],
    script:
        "../workflow_scripts/arguments/bert_grid.py"


rule argument_bert:
    input:
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        grid=[rules.argument_bert_grid.output.grid] if "bert" in SEARCHED else [],
        files=model_files,
    output:
        weights=directory("<results>/{model}/arguments/bert.{trained_on}.{seed}"),
        predictions="<results>/{model}/arguments/bert.{trained_on}.{seed}.parquet",
        curves="<results>/{model}/arguments/bert.{trained_on}.{seed}.curves.csv",
    log:
        "<logs>/arguments/{model}.{trained_on}.{seed}.argument_bert.log",
    benchmark:
        "<benchmarks>/arguments/{model}.{trained_on}.{seed}.argument_bert.tsv"
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
        trained_on="{trained_on}",
        settings=ARGUMENTS["bert"],
        keep=lambda w: ARGUMENTS["keep"] if w.trained_on == "original" else [],
        seed=run_seed,
        device=config["device"],
    script:
        "../workflow_scripts/arguments/bert_run.py"


rule argument_words_grid:
    input:
        table=rules.prepare_arct.output.table,
        vectors=f"<results>/corpora/{ARGUMENTS['vectors']}.vectors.safetensors",
        words=f"<results>/corpora/{ARGUMENTS['vectors']}.words.txt",
    output:
        grid="<results>/arguments/{family}.{trained_on}.grid.csv",
    log:
        "<logs>/arguments/{family}.{trained_on}.argument_words_grid.log",
    benchmark:
        "<benchmarks>/arguments/{family}.{trained_on}.argument_words_grid.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=gpu,
    params:
        code=code("arguments/words_grid.py"),
        family="{family}",
        setups=ARGUMENTS["setups"],
        trained_on="{trained_on}",
        settings=lambda w: ARGUMENTS[w.family],
        seed=FIRST,
        device=config["device"],
    script:
        "../workflow_scripts/arguments/words_grid.py"


rule argument_words:
    input:
        table=rules.prepare_arct.output.table,
        vectors=rules.argument_words_grid.input.vectors,
        words=rules.argument_words_grid.input.words,
        grid=lambda w: [
            f"<results>/arguments/{w.family}.{w.trained_on}.grid.csv"
            for family in SEARCHED
            if family == w.family
        ],
    output:
        weights=directory("<results>/arguments/{family}.{trained_on}.{seed}"),
        predictions="<results>/arguments/{family}.{trained_on}.{seed}.parquet",
        curves="<results>/arguments/{family}.{trained_on}.{seed}.curves.csv",
    log:
        "<logs>/arguments/{family}.{trained_on}.{seed}.argument_words.log",
    benchmark:
        "<benchmarks>/arguments/{family}.{trained_on}.{seed}.argument_words.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("arguments/words_run.py"),
        family="{family}",
        setups=ARGUMENTS["setups"],
        trained_on="{trained_on}",
        settings=lambda w: ARGUMENTS[w.family],
        keep=lambda w: ARGUMENTS["keep"] if w.trained_on == "original" else [],
        seed=run_seed,
        device=config["device"],
    script:
        "../workflow_scripts/arguments/words_run.py"


RUNS = {"trained_on": ARGUMENTS["train_on"], "seed": ARGUMENTS["seeds"]}
PREDICTIONS = expand(rules.argument_bert.output.predictions, **RUNS, allow_missing=True)
PREDICTIONS += expand(rules.argument_words.output.predictions, **RUNS, family=["bov", "bilstm"])


rule niven2019_cues:
    input:
        cues=rules.argument_cues.output.cues,
        counts=rules.prepare_arct.output.counts,
    output:
        **figure("niven2019-cues", "cues, productivity against coverage", NIVEN_CUES),
        table2=table("niven2019-table2", "Table 2, one cue", NIVEN_CUES),
        all_cues=table("niven2019-cues", "all cues", NIVEN_CUES, caption="niven2019-cues-table"),
    log:
        "<logs>/arguments/{model}.niven2019_cues.log",
    benchmark:
        "<benchmarks>/arguments/{model}.niven2019_cues.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_cues.py"),
        cue=ARGUMENTS["cues"]["cue"],
    script:
        "../workflow_scripts/arguments/niven2019_cues.py"


rule argument_scores:
    input:
        predictions=PREDICTIONS,
    output:
        scores="<results>/{model}/arguments/scores.parquet",
    log:
        "<logs>/arguments/{model}.argument_scores.log",
    benchmark:
        "<benchmarks>/arguments/{model}.argument_scores.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/argument_scores.py"),
        degenerate_below=ARGUMENTS["degenerate_below"],
    script:
        "../workflow_scripts/arguments/argument_scores.py"


rule niven2019_tables:
    input:
        scores=rules.argument_scores.output.scores,
    output:
        table1_csv=table("niven2019-table1", "Table 1, models", NIVEN_PROBING),
        table3_csv=table("niven2019-table3", "Table 3, partial inputs", NIVEN_PROBING),
        table4_csv=table("niven2019-table4", "Table 4, the adversarial set", NIVEN_PROBING),
    log:
        "<logs>/arguments/{model}.niven2019_tables.log",
    benchmark:
        "<benchmarks>/arguments/{model}.niven2019_tables.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_tables.py"),
        name="{model}",
    script:
        "../workflow_scripts/arguments/niven2019_tables.py"


rule niven2019_runs:
    input:
        scores=rules.argument_scores.output.scores,
    output:
        **figure("niven2019-runs", "accuracy of every run", NIVEN_PROBING),
    log:
        "<logs>/arguments/{model}.niven2019_runs.log",
    benchmark:
        "<benchmarks>/arguments/{model}.niven2019_runs.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_runs.py"),
    script:
        "../workflow_scripts/arguments/niven2019_runs.py"


rule argument_bert_reliance:
    input:
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        cues=rules.argument_cues.output.cues,
        weights=expand(rules.argument_bert.output.weights, **KEPT, allow_missing=True),
        files=model_files,
    output:
        reliance="<results>/{model}/arguments/bert.reliance.parquet",
    log:
        "<logs>/arguments/{model}.argument_bert_reliance.log",
    benchmark:
        "<benchmarks>/arguments/{model}.argument_bert_reliance.tsv"
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
        table=rules.prepare_arct.output.table,
        cues=rules.argument_cues.output.cues,
        vectors=rules.argument_words_grid.input.vectors,
        words=rules.argument_words_grid.input.words,
        weights=expand(rules.argument_words.output.weights, **KEPT, allow_missing=True),
    output:
        reliance="<results>/arguments/{family}.reliance.parquet",
    log:
        "<logs>/arguments/{family}.argument_words_reliance.log",
    benchmark:
        "<benchmarks>/arguments/{family}.argument_words_reliance.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        gpu=gpu,
    params:
        code=code("arguments/words_reliance.py"),
        family="{family}",
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
        **figure("niven2019-reliance", "predictions that flip with a cue changed", NIVEN_BEYOND),
        table=table(
            "niven2019-reliance",
            "predictions with a cue changed",
            NIVEN_BEYOND,
            caption="niven2019-reliance-table",
        ),
    log:
        "<logs>/arguments/{model}.niven2019_reliance.log",
    benchmark:
        "<benchmarks>/arguments/{model}.niven2019_reliance.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_reliance.py"),
        bootstrap=ARGUMENTS["reliance"]["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/arguments/niven2019_reliance.py"


rule argument_heads:
    input:
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        weights=expand(rules.argument_bert.output.weights, **KEPT, allow_missing=True),
        files=model_files,
    output:
        heads="<results>/{model}/arguments/heads.parquet",
    log:
        "<logs>/arguments/{model}.argument_heads.log",
    benchmark:
        "<benchmarks>/arguments/{model}.argument_heads.tsv"
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
        **figure("niven2019-heads", "heads that carry the cue", NIVEN_BEYOND),
        table=table(
            "niven2019-heads",
            "heads that carry the cue",
            NIVEN_BEYOND,
            caption="niven2019-heads-table",
        ),
    log:
        "<logs>/arguments/{model}.niven2019_heads.log",
    benchmark:
        "<benchmarks>/arguments/{model}.niven2019_heads.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_heads.py"),
        bootstrap=ARGUMENTS["heads"]["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/arguments/niven2019_heads.py"
