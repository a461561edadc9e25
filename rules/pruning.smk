"""pruning: head importance, iterative pruning, heads removed for good (Michel et al., 4 to 6)."""

pruning = Products("pruning", "michel2019", "4 and 6 Pruning heads", ["encoder"])

PRUNING = config["pruning"] | {"bootstrap": config["bootstrap"]}
PRUNING_EPOCH_TASKS = [task for task in TASKS if task in FINETUNE["every_epoch"]]
# Table 4 is of MNLI in the paper.
PRUNING_TIMED = "mnli" if "mnli" in TASKS else next(iter(TASKS), "none")
PRUNING_LIMITS = {"pass_tokens": ABLATION["pass_tokens"], "precision": config["precision"]}


use rule training_step as pruning_curves with:
    input:
        **CHECKPOINT,
        logits=rules.ablation_sweep.output.logits if "ablation" in PRUNING["strategies"] else [],
    output:
        importance=pruning.measured(
            "<results>/{model}/pruning/{task}.{init}.{seed}.importance.parquet"
        ),
        curves="<results>/{model}/pruning/{task}.{init}.{seed}.curves.parquet",
        order="<results>/{model}/pruning/{task}.{init}.{seed}.order.parquet",
    priority: 5
    params:
        **step("pruning/pruning_curves.py"),
        **ABLATION_RUN,
        settings=without(PRUNING, ("speed",)),
        dev_examples=ABLATION["examples"],
        limits=PRUNING_LIMITS,


use rule model_step as pruning_during_training with:
    input:
        **CHECKPOINT,
        **contents(epochs=rules.finetune_every_epoch.output.epochs),
    output:
        curves="<results>/{model}/pruning/{task}.{init}.{seed}.training.parquet",
        importance="<results>/{model}/pruning/{task}.{init}.{seed}.epochs.parquet",
    priority: 5
    resources:
        **(TRAINING_JOB | {"mem_mb": memory(6000, 2)}),  # reads the weights of each epoch in turn
    params:
        **step("pruning/pruning_during_training.py"),
        **ABLATION_RUN,
        settings={key: PRUNING[key] for key in ("step", "importance", "examples", "bootstrap")},
        dev_examples=ABLATION["examples"],
        limits=PRUNING_LIMITS,


PRUNING_EPOCH_RUNS = FINETUNED_RUNS | {"task": PRUNING_EPOCH_TASKS}


pruning.drawn(
    "michel2019-importance",
    "section 4.1, importance",
    input={"importance": expand(rules.pruning_curves.output.importance, **FINETUNED_RUNS)},
    params={"variant": PRUNING["importance"]["variant"]},
    table="section 4.1, importance",
)


pruning.drawn(
    "michel2019-fig3",
    "Figure 3, pruning by strategy",
    input={"curves": expand(rules.pruning_curves.output.curves, **FINETUNED_RUNS)},
    params=INTERVALS,
    table="Figure 3, pruning by strategy",
)


use rule light_step as michel2019_one_head with:
    input:
        curves=expand(rules.pruning_curves.output.curves, **FINETUNED_RUNS),
    output:
        table=pruning.when("one-head" in PRUNING["strategies"]).table(
            "michel2019-one-head", "section 4, one head left in every layer"
        ),
    params:
        **step("pruning/figures.py"),
        **INTERVALS,
        figure="michel2019_one_head",


pruning.when(bool(PRUNING_EPOCH_TASKS)).drawn(
    "michel2019-fig5",
    "Figure 5, pruning after each epoch",
    input={
        "curves": expand(rules.pruning_during_training.output.curves, **PRUNING_EPOCH_RUNS),
        "importance": expand(rules.pruning_during_training.output.importance, **PRUNING_EPOCH_RUNS),
    },
)


use rule model_step as michel2019_table4 with:
    input:
        **contents(
            checkpoint=f"<results>/{{model}}/checkpoints/{PRUNING_TIMED}.finetuned.{SEEDS[0]}"
        ),
        card=f"<results>/{{model}}/checkpoints/{PRUNING_TIMED}.finetuned.{SEEDS[0]}.json",
        table=f"<results>/tasks/{PRUNING_TIMED}.parquet",
        order=f"<results>/{{model}}/pruning/{PRUNING_TIMED}.finetuned.{SEEDS[0]}.order.parquet",
    output:
        speed=pruning.when("importance" in PRUNING["strategies"]).table(
            "michel2019-table4", "Table 4, speed without the pruned heads"
        ),
    params:
        **step("pruning/michel2019_table4.py"),
        **PRUNING["speed"],
        task=PRUNING_TIMED,
        sample_seed=config["seed"],
        max_tokens=TASKS.get(PRUNING_TIMED, {}).get("max_tokens"),


pruning_decoders = Products("pruning", "michel2019", "4 and 6 Pruning heads", ["decoder"])


use rule training_step as next_token_pruning with:
    input:
        **MODEL,
        corpus=ABLATION_CORPUS,
    output:
        importance=pruning_decoders.measured(
            "<results>/{model}/pruning/next_token.importance.parquet"
        ),
        pruned="<results>/{model}/pruning/next_token.curves.parquet",
    priority: 5
    params:
        **step("pruning/next_token_pruning.py"),
        **ABLATION_TEXT_RUN,
        settings={
            key: PRUNING[key] for key in ("step", "strategies", "importance", "draws", "bootstrap")
        },


pruning_decoders.drawn(
    "pruning-next-token",
    "decoders, pruning by strategy",
    input={"curves": rules.next_token_pruning.output.pruned},
    table="decoders, pruning by strategy",
)
