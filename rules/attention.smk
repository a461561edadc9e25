"""attention: the model's card and the HDF5 caches of its attention."""


localrules:
    model_card,


from workflow_scripts.core.data.abilities import check_abilities, is_current
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run.errors import InputError
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
        raise InputError(f"config: models.{name}: {error}") from None


use rule torch_step as model_card with:
    input:
        files=model_files,
    output:
        model="<results>/{model}/attention/model.json",
    pathvars:
        job="attention/{model}.model_card",
    priority: 20  # short, and the longest chains begin here
    retries: 2
    params:
        **step("attention/model_card.py"),
        source=setting(config["models"], "model"),
        name="{model}",
        # Not tracked, as it takes input: a new chapter leaves the cards as they are.
        needed=lambda w, input: ABILITIES,


use rule model_step as extract with:
    input:
        model=rules.model_card.output.model,
        corpus="<results>/corpora/{corpus}.jsonl",
        files=model_files,
    output:
        shard=cache_file("<results>/{model}/attention/{corpus}.h5"),
    pathvars:
        job="attention/{model}.{corpus}.extract",
    priority: 8  # many jobs wait for it
    params:
        **step("attention/extract.py"),
        part=None,
        max_tokens=setting(CORPORA, "corpus", "max_tokens"),
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        precision=config["precision"],


use rule extract as extract_task with:
    input:
        model=rules.model_card.output.model,
        corpus=rules.task_annotation.output.examples,
        files=model_files,
    output:
        shard=cache_file("<results>/{model}/attention/{task}.h5"),
    pathvars:
        job="attention/{model}.{task}.extract_task",
    params:
        max_tokens=setting(TASKS, "task", "max_tokens"),


use rule extract_task as extract_checkpoint with:
    input:
        model="<results>/{model}/checkpoints/{task}.{init}.{seed}.json",
        corpus="<results>/tasks/{task}.jsonl",
        files="<results>/{model}/checkpoints/{task}.{init}.{seed}",
    output:
        shard=cache_file("<results>/{model}/attention/{task}.{init}.{seed}.h5"),
    pathvars:
        job="attention/{model}.{task}.{init}.{seed}.extract_checkpoint",
    group:
        "tuned"  # with finetuning_tables: two short jobs


# Where several jobs share a corpus, its cache is joined from their shards.
if config["attention"]["shards"] > 1:

    ruleorder: join_shards > extract

    use rule extract as extract_shard with:
        output:
            shard=temp("<results>/{model}/attention/{corpus}.shards/{scatteritem}.h5"),
        pathvars:
            job="attention/{model}.{corpus}.{scatteritem}.extract_shard",
        params:
            part="{scatteritem}",

    use rule analysis_step as join_shards with:
        input:
            shards=gather.attention(
                "<results>/{{model}}/attention/{{corpus}}.shards/{scatteritem}.h5"
            ),
        output:
            attention=cache_file("<results>/{model}/attention/{corpus}.h5"),
        pathvars:
            job="attention/{model}.{corpus}.join_shards",
        params:
            **step("attention/join_shards.py"),
