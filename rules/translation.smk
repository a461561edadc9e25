"""translation: an encoder-decoder's heads of three types masked and pruned (Michel 3 to 6)."""

translation = Products("translation", "michel2019", "3 to 6 Translation", per_model=False)

TRANSLATION = config["translation"]
TRANSLATION_TRAINING = TRANSLATION.get("train")
TRANSLATION_MODEL = TRANSLATION.get("model", {})
# The translators of the study: one for each seed, or the pretrained one.
TRANSLATION_RUNS = (
    [str(seed) for seed in TRANSLATION_TRAINING["seeds"]]
    if TRANSLATION_TRAINING
    else ["pretrained"]
)
TRANSLATION_EPOCHS = bool(TRANSLATION_TRAINING) and TRANSLATION_TRAINING["every_epoch"]
TRANSLATION_PAIRS = TRANSLATION["data"]
TRANSLATION_ONE_FILE = local_files(TRANSLATION_PAIRS.get("path"))
# The data without what is tested on.
TRANSLATION_TRAINED_ON = without(TRANSLATION_PAIRS, ("test", "domains"))
if "generate" in TRANSLATION_TRAINED_ON:
    TRANSLATION_TRAINED_ON["generate"] = without(TRANSLATION_PAIRS["generate"], ("test",))


wildcard_constraints:
    run="|".join(map(re.escape, TRANSLATION_RUNS)),


use rule analysis_step as translation_pairs with:
    input:
        files=translation_files(TRANSLATION_PAIRS | TRANSLATION_PAIRS["domains"])
        + TRANSLATION_ONE_FILE,
    output:
        pairs="<results>/translation/pairs.parquet",
        counts=Products("translation", COUNTS).listed(
            "<results>/translation/pairs.counts.csv",
            "sentence pairs, and those that splits share",
            "translation-counts",
        ),
    resources:
        mem_mb=memory(1500, 20),
        runtime=minutes(60),
    params:
        **step("translation/translation_pairs.py"),
        source=TRANSLATION_PAIRS,
        seed=config["seed"],


if TRANSLATION_TRAINING:

    # What is trained on, apart: what is tested on trains nothing again.
    use rule translation_pairs as translation_training_pairs with:
        input:
            files=translation_files(TRANSLATION_TRAINED_ON) + TRANSLATION_ONE_FILE,
        output:
            pairs="<results>/translation/training_pairs.parquet",
        params:
            source=TRANSLATION_TRAINED_ON,
            training=True,

    use rule training_step as translator_training with:
        input:
            pairs=rules.translation_training_pairs.output.pairs,
        output:
            **folder("checkpoint", "<results>/translation/{run}.checkpoint"),
            # Weights after each epoch but the last.
            **(folder("epochs", "<results>/translation/{run}.epochs") if TRANSLATION_EPOCHS else {}),
            card="<results>/translation/{run}.card.json",
            curve="<results>/translation/{run}.curve.csv",
        priority: 9  # begins the longest chain of the chapter
        params:
            **step("translation/translator_training.py"),
            run="{run}",
            recipe=lambda w: without(TRANSLATION_TRAINING, ("seeds", "every_epoch"))
            | {"seed": int(w.run)},

    TRANSLATION_CARD = rules.translator_training.output.card
    TRANSLATION_FILES = contents(checkpoint=rules.translator_training.output.checkpoint)

else:

    use rule torch_step as translator_card with:
        input:
            files=local_files(TRANSLATION_MODEL.get("path"), deep=False),
        output:
            card="<results>/translation/{run}.card.json",
        resources:
            mem_mb=memory(3000, 3),
            runtime=minutes(120),
        params:
            **step("translation/translator_card.py"),
            source=TRANSLATION_MODEL,
            name="{run}",

    TRANSLATION_CARD = rules.translator_card.output.card
    TRANSLATION_FILES = {"checkpoint": local_files(TRANSLATION_MODEL.get("path"), deep=False)}


TRANSLATION_INPUT = {
    "card": TRANSLATION_CARD,
    **TRANSLATION_FILES,
    "pairs": rules.translation_pairs.output.pairs,
}


use rule training_step as translation_sweep with:
    input:
        **TRANSLATION_INPUT,
    output:
        sweep="<results>/translation/{run}.sweep.parquet",
    priority: 8
    params:
        **step("translation/translation_sweep.py"),
        run="{run}",
        generation=TRANSLATION["generation"],
        modes=TRANSLATION["modes"],
        sentences=TRANSLATION["sentences"],
        pass_rows=TRANSLATION["pass_rows"],
        sample_seed=config["seed"],


use rule analysis_step as translation_scores with:
    input:
        sweep=rules.translation_sweep.output.sweep,
    output:
        scores=translation.measured(
            "<results>/translation/{run}.scores.parquet", run=TRANSLATION_RUNS
        ),
        gain="<results>/translation/{run}.gain.parquet",
        types=translation.judged("<results>/translation/{run}.types.parquet", run=TRANSLATION_RUNS),
    resources:
        mem_mb=memory(1500, 25),
        runtime=minutes(60),
    params:
        **step("translation/translation_scores.py"),
        **TESTS,
        halves=5000,


TRANSLATION_PRUNING = {
    "run": "{run}",
    "generation": TRANSLATION["generation"],
    "settings": TRANSLATION["pruning"],
    "measurement": {key: TRANSLATION[key] for key in ("sentences", "pass_rows")} | INTERVALS,
}


use rule training_step as translation_pruning with:
    input:
        **TRANSLATION_INPUT,
        sweep=rules.translation_sweep.output.sweep,
    output:
        importance=translation.measured(
            "<results>/translation/{run}.importance.parquet", run=TRANSLATION_RUNS
        ),
        curves=translation.judged(
            "<results>/translation/{run}.curves.parquet", run=TRANSLATION_RUNS
        ),
        order="<results>/translation/{run}.order.parquet",
    priority: 5
    params:
        **step("translation/translation_pruning.py"),
        **TRANSLATION_PRUNING,


if TRANSLATION_EPOCHS:

    use rule model_step as translation_epochs with:
        input:
            **TRANSLATION_INPUT,
            **contents(epochs=rules.translator_training.output.epochs),
        output:
            training=translation.judged(
                "<results>/translation/{run}.training.parquet", run=TRANSLATION_RUNS
            ),
            importance="<results>/translation/{run}.epochs.parquet",
        priority: 5
        resources:
            **(TRAINING_JOB | {"mem_mb": memory(6000, 2)}),  # reads each epoch's weights in turn
        params:
            **step("translation/translation_epochs.py"),
            **TRANSLATION_PRUNING,


TRANSLATION_SCORES = expand(rules.translation_scores.output.scores, run=TRANSLATION_RUNS)


use rule light_step as michel2019_translation_tables with:
    input:
        scores=TRANSLATION_SCORES,
        types=expand(rules.translation_scores.output.types, run=TRANSLATION_RUNS),
        gains=expand(rules.translation_scores.output.gain, run=TRANSLATION_RUNS),
    output:
        heads=translation.table(
            "michel2019-translation-table1", "Table 1, translation: every head masked"
        ),
        alone=translation.table(
            "michel2019-translation-table2", "Table 2, translation: the best head left alone"
        ),
        by_type=translation.table(
            "michel2019-translation-types", "section 3, translation: types of attention compared"
        ),
        pairs=translation.table(
            "michel2019-translation-pairs",
            "section 3.4, translation: the same heads on other sentences",
        ),
        points="<results>/translation/points.parquet",
    params:
        **step("translation/michel2019_translation_tables.py"),
        **INTERVALS,


translation.drawn(
    "michel2019-translation-grids",
    "Table 1, translation: every head masked, as a figure",
    input={"scores": TRANSLATION_SCORES},
)


translation.drawn(
    "michel2019-translation-fig1",
    "Figure 1a, translation: BLEU without one head",
    input={"scores": TRANSLATION_SCORES},
)


translation.drawn(
    "michel2019-translation-fig2",
    "Figure 2a, translation: effects on other sentences",
    input={
        "points": rules.michel2019_translation_tables.output.points,
        "pairs": rules.michel2019_translation_tables.output.pairs,
    },
)


TRANSLATION_CURVES = expand(rules.translation_pruning.output.curves, run=TRANSLATION_RUNS)


translation.drawn(
    "michel2019-translation-fig3",
    "Figure 3a, translation: pruning all heads",
    input={"curves": TRANSLATION_CURVES},
)


translation.drawn(
    "michel2019-translation-fig4",
    "Figure 4, translation: pruning one type of attention",
    input={"curves": TRANSLATION_CURVES},
)


if TRANSLATION_EPOCHS:

    translation.drawn(
        "michel2019-translation-fig5",
        "Figure 5, translation: pruning during training",
        input={
            "training": expand(rules.translation_epochs.output.training, run=TRANSLATION_RUNS),
            "importance": expand(rules.translation_epochs.output.importance, run=TRANSLATION_RUNS),
        },
    )
