"""translation: the tables and figures of the paper, of all runs of the study."""


localrules:
    michel2019_translation_tables,
    michel2019_translation_grids,
    michel2019_translation_fig1,
    michel2019_translation_fig2,
    michel2019_translation_fig3,
    michel2019_translation_fig4,
    michel2019_translation_fig5,


TRANSLATION_SCORES = expand(rules.translation_scores.output.scores, run=RUNS)


rule michel2019_translation_tables:
    input:
        scores=TRANSLATION_SCORES,
        types=expand(rules.translation_scores.output.types, run=RUNS),
        gains=expand(rules.translation_scores.output.gain, run=RUNS),
    output:
        heads=table(
            "michel2019-translation-table1",
            "Table 1, translation: every head masked",
            TRANSLATING,
            per_model=False,
        ),
        alone=table(
            "michel2019-translation-table2",
            "Table 2, translation: the best head left alone",
            TRANSLATING,
            per_model=False,
        ),
        by_type=table(
            "michel2019-translation-types",
            "section 3, translation: types of attention compared",
            TRANSLATING,
            per_model=False,
        ),
        pairs=table(
            "michel2019-translation-pairs",
            "section 3.4, translation: the same heads on other sentences",
            TRANSLATING,
            per_model=False,
        ),
        points="<results>/translation/points.parquet",
    log:
        "<logs>/translation/michel2019_translation_tables.log",
    benchmark:
        "<benchmarks>/translation/michel2019_translation_tables.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("translation/michel2019_translation_tables.py"),
        bootstrap=TRANSLATION["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/translation/michel2019_translation_tables.py"


rule michel2019_translation_grids:
    input:
        scores=TRANSLATION_SCORES,
    output:
        **figure(
            "michel2019-translation-grids",
            "Table 1, translation: every head masked, drawn",
            TRANSLATING,
            per_model=False,
        ),
    log:
        "<logs>/translation/michel2019_translation_grids.log",
    benchmark:
        "<benchmarks>/translation/michel2019_translation_grids.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("translation/michel2019_translation_grids.py"),
    script:
        "../workflow_scripts/translation/michel2019_translation_grids.py"


rule michel2019_translation_fig1:
    input:
        scores=TRANSLATION_SCORES,
    output:
        **figure(
            "michel2019-translation-fig1",
            "Figure 1a, translation: BLEU without one head",
            TRANSLATING,
            per_model=False,
        ),
    log:
        "<logs>/translation/michel2019_translation_fig1.log",
    benchmark:
        "<benchmarks>/translation/michel2019_translation_fig1.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("translation/michel2019_translation_fig1.py"),
    script:
        "../workflow_scripts/translation/michel2019_translation_fig1.py"


rule michel2019_translation_fig2:
    input:
        points=rules.michel2019_translation_tables.output.points,
        pairs=rules.michel2019_translation_tables.output.pairs,
    output:
        **figure(
            "michel2019-translation-fig2",
            "Figure 2a, translation: effects on other sentences",
            TRANSLATING,
            per_model=False,
        ),
    log:
        "<logs>/translation/michel2019_translation_fig2.log",
    benchmark:
        "<benchmarks>/translation/michel2019_translation_fig2.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("translation/michel2019_translation_fig2.py"),
    script:
        "../workflow_scripts/translation/michel2019_translation_fig2.py"


TRANSLATION_CURVES = expand(rules.translation_pruning.output.curves, run=RUNS)


rule michel2019_translation_fig3:
    input:
        curves=TRANSLATION_CURVES,
    output:
        **figure(
            "michel2019-translation-fig3",
            "Figure 3a, translation: pruning all heads",
            TRANSLATING,
            per_model=False,
        ),
    log:
        "<logs>/translation/michel2019_translation_fig3.log",
    benchmark:
        "<benchmarks>/translation/michel2019_translation_fig3.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("translation/michel2019_translation_fig3.py"),
    script:
        "../workflow_scripts/translation/michel2019_translation_fig3.py"


rule michel2019_translation_fig4:
    input:
        curves=TRANSLATION_CURVES,
    output:
        **figure(
            "michel2019-translation-fig4",
            "Figure 4, translation: pruning one type of attention",
            TRANSLATING,
            per_model=False,
        ),
    log:
        "<logs>/translation/michel2019_translation_fig4.log",
    benchmark:
        "<benchmarks>/translation/michel2019_translation_fig4.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("translation/michel2019_translation_fig4.py"),
    script:
        "../workflow_scripts/translation/michel2019_translation_fig4.py"


if TRANSLATION_EPOCHS:

    rule michel2019_translation_fig5:
        input:
            training=expand(rules.translation_epochs.output.training, run=RUNS),
            importance=expand(rules.translation_epochs.output.importance, run=RUNS),
        output:
            **figure(
                "michel2019-translation-fig5",
                "Figure 5, translation: pruning during training",
                TRANSLATING,
                per_model=False,
            ),
        log:
            "<logs>/translation/michel2019_translation_fig5.log",
        benchmark:
            "<benchmarks>/translation/michel2019_translation_fig5.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            code=code("translation/michel2019_translation_fig5.py"),
        script:
            "../workflow_scripts/translation/michel2019_translation_fig5.py"
