"""translation: the tables and figures of the paper, of all runs of the study."""

TRANSLATION_SCORES = expand(rules.translation_scores.output.scores, run=TRANSLATION_RUNS)


use rule light_step as michel2019_translation_tables with:
    input:
        scores=TRANSLATION_SCORES,
        types=expand(rules.translation_scores.output.types, run=TRANSLATION_RUNS),
        gains=expand(rules.translation_scores.output.gain, run=TRANSLATION_RUNS),
    output:
        heads=translated(translation.table, "table1", "Table 1, translation: every head masked"),
        alone=translated(
            translation.table, "table2", "Table 2, translation: the best head left alone"
        ),
        by_type=translated(
            translation.table, "types", "section 3, translation: types of attention compared"
        ),
        pairs=translated(
            translation.table,
            "pairs",
            "section 3.4, translation: the same heads on other sentences",
        ),
        points="<results>/translation/points.parquet",
    params:
        **step("translation/michel2019_translation_tables.py"),
        bootstrap=TRANSLATION["bootstrap"],
        seed=config["seed"],


translated(
    translation.drawn,
    "grids",
    "Table 1, translation: every head masked, as a figure",
    input={"scores": TRANSLATION_SCORES},
)


translated(
    translation.drawn,
    "fig1",
    "Figure 1a, translation: BLEU without one head",
    input={"scores": TRANSLATION_SCORES},
)


translated(
    translation.drawn,
    "fig2",
    "Figure 2a, translation: effects on other sentences",
    input={
        "points": rules.michel2019_translation_tables.output.points,
        "pairs": rules.michel2019_translation_tables.output.pairs,
    },
)


TRANSLATION_CURVES = expand(rules.translation_pruning.output.curves, run=TRANSLATION_RUNS)


translated(
    translation.drawn,
    "fig3",
    "Figure 3a, translation: pruning all heads",
    input={"curves": TRANSLATION_CURVES},
)


translated(
    translation.drawn,
    "fig4",
    "Figure 4, translation: pruning one type of attention",
    input={"curves": TRANSLATION_CURVES},
)


if TRANSLATION_EPOCHS:

    translated(
        translation.drawn,
        "fig5",
        "Figure 5, translation: pruning during training",
        input={
            "training": expand(rules.translation_epochs.output.training, run=TRANSLATION_RUNS),
            "importance": expand(rules.translation_epochs.output.importance, run=TRANSLATION_RUNS),
        },
    )
