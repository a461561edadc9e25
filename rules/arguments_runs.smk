"""arguments: training runs and their accuracy (Niven and Kao 2019, sections 3, 5 and 6).

Rules that end in _words are those of the word-vector families, which every model shares.
"""

arguments_models = Products(
    "arguments", "niven2019", "3, 5 and 6 Models, probing and the adversarial set"
)
arguments_easy = Products("arguments", "niven2019", "8 Easy points")
ARGUMENT_DEGENERATE_BELOW = {
    family: ARGUMENTS[family]["degenerate_below"] for family in ARGUMENT_FAMILIES
}
# The folder of the authors' runs.
ARGUMENT_PUBLISHED = ARGUMENTS["published_runs"].get("path", "")
ARGUMENT_VECTORS = {
    "vectors": f"<results>/corpora/{ARGUMENTS['vectors']}.vectors.safetensors",
    "words": f"<results>/corpora/{ARGUMENTS['vectors']}.words.txt",
}
# Vectors are read whole; those of GloVe's largest file take 2.6 GB, and as much again for a moment.
ARGUMENT_WORDS_JOB = MODEL_JOB | {"mem_mb": memory(4000, 2)}
# Claims are about the models that were trained on the original points.
ARGUMENTS_JUDGED = {
    "trained_on": [name for name in ARGUMENTS["train_on"] if name == "original"],
    "seed": ARGUMENTS["seeds"],
}
# The set-ups that a family searches for.
ARGUMENT_SEARCH_SETUPS = {
    family: ["full"] if settings["search"] == "full" else ARGUMENTS["setups"]
    for family, settings in ARGUMENT_TRAINING.items()
}


use rule training_step as argument_grid with:
    input:
        **MODEL,
        table=rules.prepare_arct_training.output.table,
    output:
        grid="<results>/{model}/arguments/bert.{trained_on}.grid.csv",
    params:
        **step("arguments/argument_grid.py"),
        family="bert",
        setups=ARGUMENT_SEARCH_SETUPS["bert"],
        trained_on="{trained_on}",
        settings=lambda w: ARGUMENT_BERT[w.model],
        seed=ARGUMENTS["grid_seed"],


use rule argument_grid as argument_grid_words with:
    input:
        **ARGUMENT_VECTORS,
        table=rules.prepare_arct_training.output.table,
    output:
        grid="<results>/arguments/{family}.{trained_on}.grid.csv",
    resources:
        **ARGUMENT_WORDS_JOB,
    params:
        family="{family}",
        setups=lookup("{family}", within=ARGUMENT_SEARCH_SETUPS),
        settings=lookup("{family}", within=ARGUMENT_TRAINING),


use rule argument_grid as argument_run with:
    input:
        **MODEL,
        table=rules.prepare_arct_training.output.table,
        grid=lambda w: argument_search(rules.argument_grid.output.grid, ARGUMENT_BERT[w.model], w),
    output:
        **folder(
            "weights",
            "<results>/{model}/arguments/bert.{trained_on}.{seed}",
            kept=FINETUNE["keep_weights"],
        ),
        curves="<results>/{model}/arguments/bert.{trained_on}.{seed}.curves.csv",
    priority: 3
    params:
        **step("arguments/argument_run.py"),
        setups=ARGUMENTS["setups"],
        seed=lambda w: int(w.seed),


use rule argument_run as argument_run_words with:
    input:
        **ARGUMENT_VECTORS,
        table=rules.prepare_arct_training.output.table,
        grid=lambda w: argument_search(
            rules.argument_grid_words.output.grid, ARGUMENT_TRAINING[w.family], w
        ),
    output:
        **folder(
            "weights",
            "<results>/arguments/{family}.{trained_on}.{seed}",
            kept=FINETUNE["keep_weights"],
        ),
        curves="<results>/arguments/{family}.{trained_on}.{seed}.curves.csv",
    resources:
        **ARGUMENT_WORDS_JOB,
    params:
        family="{family}",
        settings=lookup("{family}", within=ARGUMENT_TRAINING),


use rule model_step as argument_predictions with:
    input:
        **contents(weights=str(rules.argument_run.output.weights)),
        **MODEL,
        table=rules.prepare_arct.output.table,
    output:
        predictions=arguments.judged(
            "<results>/{model}/arguments/bert.{trained_on}.{seed}.parquet", **ARGUMENTS_JUDGED
        ),
    params:
        **step("arguments/argument_predictions.py"),
        family="bert",
        setups=ARGUMENTS["setups"],
        trained_on="{trained_on}",
        seed=lambda w: int(w.seed),
        settings=lambda w: ARGUMENT_BERT[w.model],


use rule argument_predictions as argument_predictions_words with:
    input:
        **contents(weights=str(rules.argument_run_words.output.weights)),
        **ARGUMENT_VECTORS,
        table=rules.prepare_arct.output.table,
    output:
        predictions="<results>/arguments/{family}.{trained_on}.{seed}.parquet",
    resources:
        **ARGUMENT_WORDS_JOB,
    params:
        family="{family}",
        settings=lookup("{family}", within=ARGUMENT_TRAINING),


ARGUMENT_RUNS = {"trained_on": ARGUMENTS["train_on"], "seed": ARGUMENTS["seeds"]}


use rule light_step as argument_scores with:
    input:
        predictions=[
            *expand(
                rules.argument_predictions.output.predictions, **ARGUMENT_RUNS, allow_missing=True
            ),
            *expand(
                rules.argument_predictions_words.output.predictions,
                trained_on=ARGUMENTS["train_on"],
                family=ARGUMENT_WORD_FAMILIES,
                seed=ARGUMENTS["seeds"],
            ),
        ],
    output:
        scores=arguments.judged("<results>/{model}/arguments/scores.parquet"),
    params:
        **step("arguments/argument_scores.py"),
        degenerate_below=ARGUMENT_DEGENERATE_BELOW,


use rule light_step as niven2019_tables with:
    input:
        scores=rules.argument_scores.output.scores,
        model=rules.model_card.output.model,
    output:
        table1_csv=arguments_models.table("niven2019-table1", "Table 1, models"),
        table3_csv=arguments_models.table("niven2019-table3", "Table 3, partial inputs"),
        table4_csv=arguments_models.table("niven2019-table4", "Table 4, the adversarial set"),
    params:
        **step("arguments/niven2019_tables.py"),
        name="{model}",


use rule light_step as argument_easy with:
    input:
        table=rules.prepare_arct.output.table,
        predictions=rules.argument_scores.input.predictions,
        scores=rules.argument_scores.output.scores,
        files=local_files(ARGUMENT_PUBLISHED or None),
    output:
        easy="<results>/{model}/arguments/easy.parquet",
    params:
        **step("arguments/argument_easy.py"),
        cue=ARGUMENTS["cues"]["cue"],
        same=ARGUMENTS["cues"]["same"],
        degenerate_below=ARGUMENT_DEGENERATE_BELOW,
        published=ARGUMENT_PUBLISHED,


arguments_easy.drawn(
    "niven2019-easy",
    "points always right, and the cue",
    input={"easy": rules.argument_easy.output.easy},
    params=INTERVALS,
    table="points always right, and the cue",
)


arguments_models.drawn(
    "niven2019-runs",
    "accuracy of every run",
    input={"scores": rules.argument_scores.output.scores},
)
