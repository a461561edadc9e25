"""checkpoints: weights that the study itself trains."""

checkpoints = Products("checkpoints", "kovaleva2019", "3 Fine-tuned classifiers")
checkpoint_head = Products("checkpoints", "clark2019", "3 Surface patterns")

# What runs from the study's initial weights are called.
CHECKPOINT_INITS = [init.replace("pretrained", "finetuned") for init in FINETUNE["inits"]]

CHECKPOINT_HEAD_CORPUS = config.get("surface", {}).get("corpus", "none")
CHECKPOINT_RECIPE = {
    key: FINETUNE[key]
    for key in ("epochs", "batch_size", "learning_rate", "warmup", "weight_decay", "precision")
}

# What every training writes but the weights.
CHECKPOINT_TRAINED = {
    "card": "<results>/{model}/checkpoints/{task}.{init}.{seed}.json",
    "curve": "<results>/{model}/checkpoints/{task}.{init}.{seed}.curve.csv",
}


use rule model_step as mlm_head with:
    input:
        **MODEL,
        training=f"<results>/corpora/{CHECKPOINT_HEAD_CORPUS}.training.jsonl",
    output:
        head="<results>/{model}/checkpoints/mlm_head.safetensors",
        losses=checkpoint_head.when("gradients" in config.get("surface", {})).listed(
            "<results>/{model}/checkpoints/mlm_head.csv", "masked-LM head of Figure 3", "mlm-head"
        ),
    priority: 10  # long: best not left for the end
    params:
        **step("checkpoints/mlm_head.py"),
        **config["checkpoints"]["mlm_head"],
        max_tokens=TEXTS.get(CHECKPOINT_HEAD_CORPUS, {}).get("max_tokens"),
        seed=config["seed"],


use rule training_step as finetune with:
    input:
        **MODEL,
        training=rules.prepare_training.output.training,
    output:
        **CHECKPOINT_TRAINED,
        **folder("checkpoint", "<results>/{model}/checkpoints/{task}.{init}.{seed}"),
    wildcard_constraints:
        init="finetuned",
        model="|".join(map(re.escape, TRAINED)) or "none",
        task="|".join(task for task in TASKS if task not in FINETUNE["every_epoch"]) or "none",
    priority: 8  # begins the longest chain: sweep and pruning follow
    params:
        **step("checkpoints/finetune.py"),
        task="{task}",
        own=checkpoint_labels,
        init="pretrained",
        recipe=lambda w: CHECKPOINT_RECIPE | {"seed": int(w.seed)},
        max_tokens=lookup("{task}/max_tokens", within=TASKS),


# With the weights after each epoch but the last.
use rule finetune as finetune_every_epoch with:
    output:
        **CHECKPOINT_TRAINED,
        **folder("checkpoint", "<results>/{model}/checkpoints/{task}.{init}.{seed}"),
        **folder(
            "epochs",
            "<results>/{model}/checkpoints/{task}.{init}.{seed}.epochs",
            kept=FINETUNE["keep_weights"],
        ),
    wildcard_constraints:
        init="finetuned",
        model="|".join(map(re.escape, TRAINED)) or "none",
        task="|".join(FINETUNE["every_epoch"]) or "none",


use rule finetune as finetune_random with:
    output:
        **CHECKPOINT_TRAINED,
        **folder(
            "checkpoint",
            "<results>/{model}/checkpoints/{task}.{init}.{seed}",
            kept=FINETUNE["keep_weights"],
        ),
    wildcard_constraints:
        init="random",
        model="|".join(map(re.escape, TRAINED)) or "none",
    priority: 3
    params:
        init="random",


use rule model_step as score_classifier with:
    input:
        **MODEL,
        **contents(checkpoint=rules.finetune.output.checkpoint),
        card=rules.finetune.output.card,
        table=rules.prepare_task.output.table,
    output:
        metrics="<results>/{model}/checkpoints/{task}.{init}.{seed}.metrics.parquet",
    params:
        **step("checkpoints/score_classifier.py"),
        task="{task}",
        own=checkpoint_labels,
        init=lambda w: w.init.replace("finetuned", "pretrained"),
        before=lambda w: w.init == "finetuned" and w.model not in ADOPTED,
        seed=lambda w: int(w.seed),
        max_tokens=lookup("{task}/max_tokens", within=TASKS),
        bootstrap=config["bootstrap"],
        sample_seed=config["seed"],


# A classifier that is fine-tuned already, in the place of one of a study's own.
use rule model_step as adopt_classifier with:
    input:
        **MODEL,
        table=rules.prepare_task.output.table,
    output:
        **folder("checkpoint", "<results>/{model}/checkpoints/{task}.{init}.{seed}"),
        card="<results>/{model}/checkpoints/{task}.{init}.{seed}.json",
    wildcard_constraints:
        init="finetuned",
        model="|".join(map(re.escape, ADOPTED)) or "none",
    priority: 8
    params:
        **step("checkpoints/adopt_classifier.py"),
        task="{task}",
        own=checkpoint_labels,
        max_tokens=lookup("{task}/max_tokens", within=TASKS),


# What rules that run a classifier read.
CHECKPOINT = {
    "card": rules.finetune.output.card,
    **contents(checkpoint=rules.finetune.output.checkpoint),
    "table": rules.prepare_task.output.table,
}


use rule light_step as kovaleva2019_table1 with:
    input:
        metrics=lambda w: expand(
            rules.score_classifier.output.metrics,
            model=w.model,
            task=TASKS,
            init=["finetuned"] if w.model in ADOPTED else CHECKPOINT_INITS,
            seed=SEEDS,
        ),
        counts=expand(rules.prepare_task.output.counts, task=TASKS),
    output:
        table=checkpoints.when(bool(TASKS)).table(
            "kovaleva2019-table1", "Table 1, scores by initialisation"
        ),
        gains=checkpoints.when(bool(TASKS)).table(
            "kovaleva2019-gains", "Table 1, differences of scores"
        ),
    params:
        **step("checkpoints/kovaleva2019_table1.py"),
