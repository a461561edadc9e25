"""arguments: training runs and their accuracy (Niven and Kao 2019, sections 3, 5 and 6).

Rules that end in _words are those of the word-vector families, which every model shares.
"""


localrules:
    argument_scores,
    niven2019_tables,
    argument_easy,
    niven2019_easy,
    niven2019_runs,


PROBING = NIVEN | {"subcategory": "3, 5 and 6 Models, probing and the adversarial set"}
EASY = NIVEN | {"subcategory": "8 Easy points"}
DEGENERATE_BELOW = {family: ARGUMENTS[family]["degenerate_below"] for family in FAMILIES}
# The folder of the authors' runs, and the files in it and in the folders beside them.
PUBLISHED = ARGUMENTS["published_runs"].get("path", "")
PUBLISHED_FILES = [
    file
    for folder in ([PUBLISHED, *sorted(map(str, Path(PUBLISHED).glob("*/")))] if PUBLISHED else [])
    for file in local_files(folder)
]
WORD_VECTORS = {
    "vectors": f"<results>/corpora/{ARGUMENTS['vectors']}.vectors.safetensors",
    "words": f"<results>/corpora/{ARGUMENTS['vectors']}.words.txt",
}
# Vectors are read whole; those of GloVe's largest file take 2.6 GB, and as much again for a moment.
WORDS_JOB = MODEL_JOB | {"mem_mb": memory(4000, 2)}
# Claims are about the models that were trained on the original points.
ARGUMENTS_JUDGED = {
    "trained_on": [name for name in ARGUMENTS["train_on"] if name == "original"],
    "seed": ARGUMENTS["seeds"],
}
# Set-ups whose weights are kept, by training set.
KEEP = {"original": ARGUMENTS["keep"], "swapped": [], "negated": []}
# Models, and families, whose grid has several points, so that a search comes before the runs.
SEARCHED_MODELS, SEARCHED = (
    [
        name
        for name, settings in table.items()
        if any(len(values) > 1 for values in settings["grid"].values())
    ]
    for table in (BERT_TRAINING, TRAINING)
)
# The set-ups that a family searches for, and the training set of the search, by the runs' own.
SEARCH_SETUPS = {
    family: ["full"] if settings["search"] == "full" else ARGUMENTS["setups"]
    for family, settings in TRAINING.items()
}
SEARCH_ON = {
    family: {
        trained_on: "original" if settings["search"] == "full" else trained_on
        for trained_on in KEEP
    }
    for family, settings in TRAINING.items()
}


use rule training_step as argument_grid with:
    input:
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        files=model_files,
    output:
        grid="<results>/{model}/arguments/bert.{trained_on}.grid.csv",
    pathvars:
        job="arguments/{model}.{trained_on}.argument_grid",
    params:
        **step("arguments/argument_grid.py"),
        family="bert",
        setups=SEARCH_SETUPS["bert"],
        trained_on="{trained_on}",
        settings=setting(BERT_TRAINING, "model"),
        seed=ARGUMENTS["grid_seed"],
        device=config["device"],


use rule argument_grid as argument_grid_words with:
    input:
        **WORD_VECTORS,
        table=rules.prepare_arct.output.table,
    output:
        grid="<results>/arguments/{family}.{trained_on}.grid.csv",
    pathvars:
        job="arguments/{family}.{trained_on}.argument_grid_words",
    resources:
        **WORDS_JOB,
    params:
        family="{family}",
        setups=setting(SEARCH_SETUPS, "family"),
        settings=setting(TRAINING, "family"),


use rule training_step as argument_run with:
    input:
        model=rules.model_card.output.model,
        table=rules.prepare_arct.output.table,
        grid=lambda w: (
            expand(
                rules.argument_grid.output.grid,
                model=w.model,
                trained_on=SEARCH_ON["bert"][w.trained_on],
            )
            if w.model in SEARCHED_MODELS
            else []
        ),
        files=model_files,
    output:
        weights=weights_directory("<results>/{model}/arguments/bert.{trained_on}.{seed}"),
        predictions=judged(
            "<results>/{model}/arguments/bert.{trained_on}.{seed}.parquet", **ARGUMENTS_JUDGED
        ),
        curves="<results>/{model}/arguments/bert.{trained_on}.{seed}.curves.csv",
    pathvars:
        job="arguments/{model}.{trained_on}.{seed}.argument_run",
    priority: 3
    resources:
        **TRAINING_JOB,
        disk_mb=lambda w: weights_mb(w.model) * len(KEEP[w.trained_on]),
    params:
        **step("arguments/argument_run.py"),
        family="bert",
        setups=ARGUMENTS["setups"],
        trained_on="{trained_on}",
        settings=setting(BERT_TRAINING, "model"),
        keep=setting(KEEP, "trained_on"),
        seeds=lambda w: [int(w.seed)],
        device=config["device"],


# These are trained in seconds, less than a job needs to start: one job has all seeds.
use rule argument_run as argument_run_words with:
    input:
        **WORD_VECTORS,
        table=rules.prepare_arct.output.table,
        grid=lambda w: (
            expand(
                rules.argument_grid_words.output.grid,
                family=w.family,
                trained_on=SEARCH_ON[w.family][w.trained_on],
            )
            if w.family in SEARCHED
            else []
        ),
    output:
        weights=weights_directory("<results>/arguments/{family}.{trained_on}"),
        predictions=judged(
            "<results>/arguments/{family}.{trained_on}.parquet",
            family=WORD_FAMILIES,
            **ARGUMENTS_JUDGED,
        ),
        curves="<results>/arguments/{family}.{trained_on}.curves.csv",
    pathvars:
        job="arguments/{family}.{trained_on}.argument_run_words",
    resources:
        **WORDS_JOB,
    params:
        family="{family}",
        seeds=ARGUMENTS["seeds"],
        settings=setting(TRAINING, "family"),


RUNS = {"trained_on": ARGUMENTS["train_on"], "seed": ARGUMENTS["seeds"]}


use rule analysis_step as argument_scores with:
    input:
        predictions=[
            *expand(rules.argument_run.output.predictions, **RUNS, allow_missing=True),
            *expand(
                rules.argument_run_words.output.predictions,
                trained_on=ARGUMENTS["train_on"],
                family=WORD_FAMILIES,
            ),
        ],
    output:
        scores="<results>/{model}/arguments/scores.parquet",
    pathvars:
        job="arguments/{model}.argument_scores",
    params:
        **step("arguments/argument_scores.py"),
        degenerate_below=DEGENERATE_BELOW,


use rule analysis_step as niven2019_tables with:
    input:
        scores=rules.argument_scores.output.scores,
        model=rules.model_card.output.model,
    output:
        table1_csv=table("niven2019-table1", "Table 1, models", PROBING),
        table3_csv=table("niven2019-table3", "Table 3, partial inputs", PROBING),
        table4_csv=table("niven2019-table4", "Table 4, the adversarial set", PROBING),
    pathvars:
        job="arguments/{model}.niven2019_tables",
    params:
        **step("arguments/niven2019_tables.py"),
        name="{model}",


use rule analysis_step as argument_easy with:
    input:
        table=rules.prepare_arct.output.table,
        predictions=rules.argument_scores.input.predictions,
        scores=rules.argument_scores.output.scores,
        files=PUBLISHED_FILES,
    output:
        easy="<results>/{model}/arguments/easy.parquet",
    pathvars:
        job="arguments/{model}.argument_easy",
    params:
        **step("arguments/argument_easy.py"),
        cue=ARGUMENTS["cues"]["cue"],
        same=ARGUMENTS["cues"]["same"],
        degenerate_below=DEGENERATE_BELOW,
        published=PUBLISHED,


use rule analysis_step as niven2019_easy with:
    input:
        easy=rules.argument_easy.output.easy,
    output:
        **figure("niven2019-easy", "points that are always right, and the cue", EASY),
        table=table("niven2019-easy", "points that are always right, and the cue", EASY),
    pathvars:
        job="arguments/{model}.niven2019_easy",
    params:
        **step("arguments/niven2019_easy.py"),
        bootstrap=ARGUMENTS["easy"]["bootstrap"],
        seed=config["seed"],


use rule analysis_step as niven2019_runs with:
    input:
        scores=rules.argument_scores.output.scores,
    output:
        **figure("niven2019-runs", "accuracy of every run", PROBING),
    pathvars:
        job="arguments/{model}.niven2019_runs",
    params:
        **step("arguments/niven2019_runs.py"),
