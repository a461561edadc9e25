"""translation: the tables and figures of the paper, of all runs of the study."""


localrules:
    michel2019_translation_tables,
    michel2019_translation_grids,
    michel2019_translation_fig1,
    michel2019_translation_fig2,
    michel2019_translation_fig3,
    michel2019_translation_fig4,
    michel2019_translation_fig5,


TRANSLATION_SCORES = expand(rules.translation_scores.output.scores, run=TRANSLATION_RUNS)


use rule analysis_step as michel2019_translation_tables with:
    input:
        scores=TRANSLATION_SCORES,
        types=expand(rules.translation_scores.output.types, run=TRANSLATION_RUNS),
        gains=expand(rules.translation_scores.output.gain, run=TRANSLATION_RUNS),
    output:
        heads=table(
            "michel2019-translation-table1",
            "Table 1, translation: every head masked",
            TRANSLATION_SECTION,
            per_model=False,
        ),
        alone=table(
            "michel2019-translation-table2",
            "Table 2, translation: the best head left alone",
            TRANSLATION_SECTION,
            per_model=False,
        ),
        by_type=table(
            "michel2019-translation-types",
            "section 3, translation: types of attention compared",
            TRANSLATION_SECTION,
            per_model=False,
        ),
        pairs=table(
            "michel2019-translation-pairs",
            "section 3.4, translation: the same heads on other sentences",
            TRANSLATION_SECTION,
            per_model=False,
        ),
        points="<results>/translation/points.parquet",
    pathvars:
        job="translation/michel2019_translation_tables",
    params:
        **step("translation/michel2019_translation_tables.py"),
        bootstrap=TRANSLATION["bootstrap"],
        seed=config["seed"],


use rule analysis_step as michel2019_translation_grids with:
    input:
        scores=TRANSLATION_SCORES,
    output:
        **figure(
            "michel2019-translation-grids",
            "Table 1, translation: every head masked, drawn",
            TRANSLATION_SECTION,
            per_model=False,
        ),
    pathvars:
        job="translation/michel2019_translation_grids",
    params:
        **step("translation/michel2019_translation_grids.py"),


use rule analysis_step as michel2019_translation_fig1 with:
    input:
        scores=TRANSLATION_SCORES,
    output:
        **figure(
            "michel2019-translation-fig1",
            "Figure 1a, translation: BLEU without one head",
            TRANSLATION_SECTION,
            per_model=False,
        ),
    pathvars:
        job="translation/michel2019_translation_fig1",
    params:
        **step("translation/michel2019_translation_fig1.py"),


use rule analysis_step as michel2019_translation_fig2 with:
    input:
        points=rules.michel2019_translation_tables.output.points,
        pairs=rules.michel2019_translation_tables.output.pairs,
    output:
        **figure(
            "michel2019-translation-fig2",
            "Figure 2a, translation: effects on other sentences",
            TRANSLATION_SECTION,
            per_model=False,
        ),
    pathvars:
        job="translation/michel2019_translation_fig2",
    params:
        **step("translation/michel2019_translation_fig2.py"),


TRANSLATION_CURVES = expand(rules.translation_pruning.output.curves, run=TRANSLATION_RUNS)


use rule analysis_step as michel2019_translation_fig3 with:
    input:
        curves=TRANSLATION_CURVES,
    output:
        **figure(
            "michel2019-translation-fig3",
            "Figure 3a, translation: pruning all heads",
            TRANSLATION_SECTION,
            per_model=False,
        ),
    pathvars:
        job="translation/michel2019_translation_fig3",
    params:
        **step("translation/michel2019_translation_fig3.py"),


use rule analysis_step as michel2019_translation_fig4 with:
    input:
        curves=TRANSLATION_CURVES,
    output:
        **figure(
            "michel2019-translation-fig4",
            "Figure 4, translation: pruning one type of attention",
            TRANSLATION_SECTION,
            per_model=False,
        ),
    pathvars:
        job="translation/michel2019_translation_fig4",
    params:
        **step("translation/michel2019_translation_fig4.py"),


if TRANSLATION_EPOCHS:

    use rule analysis_step as michel2019_translation_fig5 with:
        input:
            training=expand(rules.translation_epochs.output.training, run=TRANSLATION_RUNS),
            importance=expand(rules.translation_epochs.output.importance, run=TRANSLATION_RUNS),
        output:
            **figure(
                "michel2019-translation-fig5",
                "Figure 5, translation: pruning during training",
                TRANSLATION_SECTION,
                per_model=False,
            ),
        pathvars:
            job="translation/michel2019_translation_fig5",
        params:
            **step("translation/michel2019_translation_fig5.py"),
