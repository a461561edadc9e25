"""attention: the model's card and the HDF5 caches of its attention."""

from workflow_scripts.core.data.cards import check_abilities, check_kind
from workflow_scripts.core.data.cards import is_current, read_card
from workflow_scripts.core.errors import InputError

# A model is checked when its card is made, and where a study adds a chapter later.
for name, entry in SOURCES.items():
    card = Path(f"{RESULTS}/{name}/attention/model.json")
    try:
        if is_current(card, entry):
            about = read_card(card)
            check_kind(about, config["models"][name]["kind"])
            check_abilities(about, ABILITIES[name])
    except InputError as error:
        raise InputError(f"config: models.{name}: {error}") from None


use rule torch_step as convert with:
    input:
        files=source_files,
    output:
        **folder("converted", f"<results>/{{model}}/{cards.CONVERTED}"),
    priority: 20  # as of model_card
    resources:
        # In a GGUF file, which comes alone, 4 bits become 32, twice.
        mem_mb=lambda wildcards, input, attempt: memory(1700, 12 if len(input) == 1 else 4)(
            wildcards, input, attempt
        ),
    params:
        **step("attention/convert.py"),
        source=lambda w: SOURCES[w.model],


use rule torch_step as model_card with:
    input:
        files=model_files,
    output:
        model="<results>/{model}/attention/model.json",
    priority: 20  # short, and the longest chains begin here
    localrule: True
    params:
        **step("attention/model_card.py"),
        source=lambda w: SOURCES[w.model],
        name="{model}",
        # Not tracked, as they take input: a new chapter leaves the cards as they are.
        kind=lambda w, input: config["models"][w.model]["kind"],
        needed=lambda w, input: ABILITIES[w.model],


# What rules that run a pretrained model read.
MODEL = {"model": rules.model_card.output.model, "files": model_files}


# Of an encoder, where the study has a chapter that tells some.
KINDS_TOLD = not {"surface", "syntax", "coreference", "frames"}.isdisjoint(config)
kinds_of_heads = Products("attention", "kovaleva2019", kinds=["encoder"], wanted=KINDS_TOLD)


use rule light_step as head_kinds with:
    input:
        model=rules.model_card.output.model,
        known=read_by("kinds"),
    output:
        kinds=kinds_of_heads.measured("<results>/{model}/attention/kinds.parquet"),
    params:
        **step("attention/head_kinds.py"),
        threshold=config.get("surface", {}).get("threshold", 0.5),
        fewest=config.get("syntax", {}).get("fewest", 0),


# Where several jobs share a corpus, its cache is joined from their parts.
ATTENTION_PARTS = (
    gather.attention("<results>/{{model}}/attention/{{corpus}}.parts/{scatteritem}.h5")
    if config["attention"]["shards"] > 1
    else []
)


use rule model_step as extract with:
    input:
        **MODEL,
        corpus="<results>/corpora/{corpus}.jsonl",
        parts=ATTENTION_PARTS,
    output:
        attention=cache_file("<results>/{model}/attention/{corpus}.h5"),
    priority: 8  # many jobs wait for it
    resources:
        **({"mem_mb": memory(1500)} if ATTENTION_PARTS else MODEL_JOB),
    params:
        **step("attention/extract.py"),
        part=None,
        max_tokens=lookup("{corpus}/max_tokens", within=CORPORA),
        batch_tokens=config["attention"]["batch_tokens"],
        precision=config["precision"],


use rule extract as extract_task with:
    input:
        **MODEL,
        corpus=rules.task_annotation.output.examples,
    output:
        attention=cache_file("<results>/{model}/attention/{task}.h5"),
    resources:
        **MODEL_JOB,
    params:
        max_tokens=lookup("{task}/max_tokens", within=TASKS),


use rule extract_task as extract_checkpoint with:
    input:
        **contents(files="<results>/{model}/checkpoints/{task}.{init}.{seed}"),
        model="<results>/{model}/checkpoints/{task}.{init}.{seed}.json",
        corpus="<results>/tasks/{task}.jsonl",
    output:
        attention=cache_file("<results>/{model}/attention/{task}.{init}.{seed}.h5"),
    group:
        "tuned"  # with finetuning_tables: two short jobs


if ATTENTION_PARTS:

    use rule extract as extract_part with:
        input:
            **MODEL,
            corpus="<results>/corpora/{corpus}.jsonl",
        output:
            attention=temp("<results>/{model}/attention/{corpus}.parts/{scatteritem}.h5"),
        resources:
            **MODEL_JOB,
        params:
            part="{scatteritem}",
