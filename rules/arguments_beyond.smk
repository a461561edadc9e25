"""arguments: beyond the paper, what models do with a changed cue, and the heads that carry it."""


localrules:
    niven2019_reliance,
    niven2019_heads,


BEYOND = NIVEN | {"subcategory": "Beyond the paper"}


rule argument_reliance:
    input:
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        cues=rules.argument_cues.output.cues,
        weights=expand(rules.argument_run.output.weights, **KEPT, allow_missing=True),
        files=model_files,
    output:
        reliance="<results>/{model}/arguments/bert.reliance.parquet",
    log:
        "<logs>/arguments/{model}.argument_reliance.log",
    benchmark:
        "<benchmarks>/arguments/{model}.argument_reliance.tsv"
    priority: 5
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **SAMPLING_JOB,
    params:
        code=code("arguments/argument_reliance.py"),
        family="bert",
        setups=ARGUMENTS["keep"],
        settings=setting(BERT_TRAINING, "model"),
        cue=ARGUMENTS["cues"]["cue"],
        max_cues=ARGUMENTS["reliance"]["cues"],
        same=ARGUMENTS["cues"]["same"],
        seed=config["seed"],
        device=config["device"],
    script:
        "../workflow_scripts/arguments/argument_reliance.py"


use rule argument_reliance as argument_reliance_words with:
    input:
        **WORD_VECTORS,
        table=rules.prepare_arct.output.table,
        cues=rules.argument_cues.output.cues,
        weights=expand(
            rules.argument_run_words.output.weights, trained_on="original", allow_missing=True
        ),
    output:
        reliance="<results>/arguments/{family}.reliance.parquet",
    log:
        "<logs>/arguments/{family}.argument_reliance_words.log",
    benchmark:
        "<benchmarks>/arguments/{family}.argument_reliance_words.tsv"
    resources:
        **WORDS_JOB,
    params:
        family="{family}",
        settings=setting(TRAINING, "family"),


rule niven2019_reliance:
    input:
        reliance=[
            rules.argument_reliance.output.reliance,
            *expand(rules.argument_reliance_words.output.reliance, family=WORD_FAMILIES),
        ],
    output:
        **figure("niven2019-reliance", "predictions with a cue changed", BEYOND),
        table=table("niven2019-reliance", "predictions with a cue changed", BEYOND),
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
        weights=expand(rules.argument_run.output.weights, **KEPT, allow_missing=True),
        files=model_files,
    output:
        heads="<results>/{model}/arguments/heads.parquet",
    log:
        "<logs>/arguments/{model}.argument_heads.log",
    benchmark:
        "<benchmarks>/arguments/{model}.argument_heads.tsv"
    priority: 5
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **SAMPLING_JOB,
    params:
        code=code("arguments/argument_heads.py"),
        setups=ARGUMENTS["keep"],
        cue=ARGUMENTS["cues"]["cue"],
        same=ARGUMENTS["cues"]["same"],
        mode=ARGUMENTS["heads"]["mode"],
        points=ARGUMENTS["heads"]["points"],
        settings=setting(BERT_TRAINING, "model"),
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
        **figure("niven2019-heads", "heads that carry the cue", BEYOND),
        table=table("niven2019-heads", "heads that carry the cue", BEYOND),
    log:
        "<logs>/arguments/{model}.niven2019_heads.log",
    benchmark:
        "<benchmarks>/arguments/{model}.niven2019_heads.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_heads.py"),
        bootstrap=ARGUMENTS["heads"]["bootstrap"],
        permutations=ARGUMENTS["heads"]["permutations"],
        seed=config["seed"],
    script:
        "../workflow_scripts/arguments/niven2019_heads.py"
