"""finetuning: what fine-tuning changes in attention (Kovaleva et al. 2019, sections 4.3 to 4.5)."""

finetuning = Products("finetuning", "kovaleva2019", "4.3 to 4.5 Fine-tuning")

FINETUNING = config["finetuning"]
FINETUNING_FIRST_SEED = SEEDS[0]
# Tasks whose inputs are two sentences; an own task's, where its two columns are named.
FINETUNING_PAIRED = [
    task
    for task, entry in TASKS.items()
    if (len(entry.get("text", [])) == 2 if task in OWN_TASKS else task not in ("sst2", "cola"))
]


use rule analysis_step as finetuning_tables with:
    input:
        body="<results>/{model}/attention/{task}.h5",
        tuned="<results>/{model}/attention/{task}.finetuned.{seed}.h5",
        model=rules.model_card.output.model,
        card="<results>/{model}/checkpoints/{task}.finetuned.{seed}.json",
        examples=rules.task_annotation.output.examples,
        annotation=rules.task_annotation.output.annotation,
    output:
        similarity=finetuning.measured(
            "<results>/{model}/finetuning/{task}.{seed}.similarity.parquet"
        ),
        features=finetuning.measured("<results>/{model}/finetuning/{task}.{seed}.features.parquet"),
        links=finetuning.measured("<results>/{model}/finetuning/{task}.{seed}.links.parquet"),
        shared=finetuning.measured("<results>/{model}/finetuning/{task}.{seed}.shared.parquet"),
    group:
        "tuned"
    params:
        **step("finetuning/finetuning_tables.py"),
        task="{task}",
        seed=lambda w: int(w.seed),
        bootstrap=config["bootstrap"],
        labels=FINETUNING["labels"],


use rule light_step as finetuning_maps with:
    input:
        body="<results>/{model}/attention/{task}.h5",
        tuned=f"<results>/{{model}}/attention/{{task}}.finetuned.{FINETUNING_FIRST_SEED}.h5",
        model=rules.model_card.output.model,
        card=f"<results>/{{model}}/checkpoints/{{task}}.finetuned.{FINETUNING_FIRST_SEED}.json",
    output:
        maps="<results>/{model}/finetuning/{task}.maps.parquet",
    params:
        **step("finetuning/finetuning_maps.py"),
        task="{task}",
        most_tokens=MOST_DRAWN_TOKENS,
        seed=config["seed"],


FINETUNING_FEATURES = expand(rules.finetuning_tables.output.features, **FINETUNED_RUNS)


finetuning.drawn(
    "kovaleva2019-fig5",
    "Figure 5, similarity before and after fine-tuning",
    input={"similarity": expand(rules.finetuning_tables.output.similarity, **FINETUNED_RUNS)},
)
finetuning.drawn(
    "kovaleva2019-fig6",
    "Figure 6, [SEP] and [CLS]",
    input={"features": FINETUNING_FEATURES},
)
finetuning.drawn(
    "kovaleva2019-features",
    "section 4.4, linguistic features",
    input={"features": FINETUNING_FEATURES},
    table="section 4.4, attention to kinds of tokens",
)
finetuning.drawn(
    "kovaleva2019-fig7",
    "Figure 7, what [CLS] attends to",
    input={"features": FINETUNING_FEATURES},
)
finetuning.drawn(
    "kovaleva2019-maps.{task}",
    "appendix A, maps of all heads",
    input={
        "maps": rules.finetuning_maps.output.maps,
        "examples": rules.task_annotation.output.examples,
    },
)


use rule light_step as kovaleva2019_links with:
    input:
        links=expand(rules.finetuning_tables.output.links, **FINETUNED_RUNS),
    output:
        table=finetuning.table("kovaleva2019-links", "section 4.5, token-to-token attention"),
    params:
        **step("finetuning/figures.py"),
        figure="kovaleva2019_links",


finetuning.when(bool(FINETUNING_PAIRED)).drawn(
    "kovaleva2019-shared",
    "section 5, words that both sentences share",
    input={
        "shared": expand(
            rules.finetuning_tables.output.shared,
            **FINETUNED_RUNS | {"task": FINETUNING_PAIRED},
        )
    },
    table="section 5, heads that attend to shared words",
)
