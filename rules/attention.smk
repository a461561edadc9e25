"""attention: the model's card and the HDF5 caches of its attention."""


localrules:
    model_card,


from workflow_scripts.core.data.abilities import check_abilities, is_current
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run.needs import abilities

# What every model must have, each with the chapters that need it.
ABILITIES = abilities(config, SCHEMAS)

# A model is checked when its card is made, and where a study adds a chapter later.
for name, entry in config["models"].items():
    card = Path(f"{RESULTS}/{name}/attention/model.json")
    try:
        if is_current(card, entry):
            check_abilities(read_card(card), ABILITIES)
    except InputError as error:
        raise refused(InputError(f"config: models.{name}: {error}")) from None


rule model_card:
    input:
        files=model_files,
    output:
        model="<results>/{model}/attention/model.json",
    log:
        "<logs>/attention/{model}.model_card.log",
    benchmark:
        "<benchmarks>/attention/{model}.model_card.tsv"
    priority: 20  # short, and the longest chains begin here
    retries: 2
    conda:
        "../envs/torch.yaml"
    params:
        code=code("attention/model_card.py"),
        source=setting(config["models"], "model"),
        name="{model}",
        # Not tracked, as it takes input: a new chapter leaves the cards as they are.
        needed=lambda w, input: ABILITIES,
    script:
        "../workflow_scripts/attention/model_card.py"


rule extract:
    input:
        model=rules.model_card.output.model,
        corpus="<results>/corpora/{corpus}.jsonl",
        files=model_files,
    output:
        shard=cache_file("<results>/{model}/attention/{corpus}.h5"),
    log:
        "<logs>/attention/{model}.{corpus}.extract.log",
    benchmark:
        "<benchmarks>/attention/{model}.{corpus}.extract.tsv"
    priority: 8  # many jobs wait for it
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **MODEL_JOB,
    params:
        code=code("attention/extract.py"),
        part=None,
        max_tokens=setting(CORPORA, "corpus", "max_tokens"),
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        precision=config["precision"],
    script:
        "../workflow_scripts/attention/extract.py"


use rule extract as extract_task with:
    input:
        model=rules.model_card.output.model,
        corpus=rules.task_annotation.output.examples,
        files=model_files,
    output:
        shard=cache_file("<results>/{model}/attention/{task}.h5"),
    log:
        "<logs>/attention/{model}.{task}.extract_task.log",
    benchmark:
        "<benchmarks>/attention/{model}.{task}.extract_task.tsv"
    params:
        max_tokens=setting(TASKS, "task", "max_tokens"),


use rule extract_task as extract_checkpoint with:
    input:
        model="<results>/{model}/checkpoints/{task}.{init}.{seed}.json",
        corpus="<results>/tasks/{task}.jsonl",
        files="<results>/{model}/checkpoints/{task}.{init}.{seed}",
    output:
        shard=cache_file("<results>/{model}/attention/{task}.{init}.{seed}.h5"),
    log:
        "<logs>/attention/{model}.{task}.{init}.{seed}.extract_checkpoint.log",
    benchmark:
        "<benchmarks>/attention/{model}.{task}.{init}.{seed}.extract_checkpoint.tsv"
    group:
        "tuned"  # with finetuning_tables: two short jobs


# Where several jobs share a corpus, its cache is joined from their shards.
if config["attention"]["shards"] > 1:

    ruleorder: join_shards > extract

    use rule extract as extract_shard with:
        output:
            shard=temp("<results>/{model}/attention/{corpus}.shards/{scatteritem}.h5"),
        log:
            "<logs>/attention/{model}.{corpus}.{scatteritem}.extract_shard.log",
        benchmark:
            "<benchmarks>/attention/{model}.{corpus}.{scatteritem}.extract_shard.tsv"
        params:
            part="{scatteritem}",

    rule join_shards:
        input:
            shards=gather.attention(
                "<results>/{{model}}/attention/{{corpus}}.shards/{scatteritem}.h5"
            ),
        output:
            attention=cache_file("<results>/{model}/attention/{corpus}.h5"),
        log:
            "<logs>/attention/{model}.{corpus}.join_shards.log",
        benchmark:
            "<benchmarks>/attention/{model}.{corpus}.join_shards.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            code=code("attention/join_shards.py"),
        script:
            "../workflow_scripts/attention/join_shards.py"
