"""translation: the tables and figures of the paper, of all runs of the study."""

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
        bootstrap=TRANSLATION["bootstrap"],
        seed=config["seed"],


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
