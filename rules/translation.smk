"""translation: an encoder-decoder's heads of three types masked and pruned (Michel 3 to 6)."""

TRANSLATION = config["translation"]
TRANSLATING = MICHEL | {"subcategory": "3 to 6 Translation"}
TRAINED_TRANSLATOR = TRANSLATION.get("train")
TRANSLATOR = TRANSLATION.get("model", {})
# The translators of the study: one for each seed, or the pretrained one.
RUNS = [str(seed) for seed in TRAINED_TRANSLATOR["seeds"]] if TRAINED_TRANSLATOR else ["pretrained"]
TRANSLATION_EPOCHS = bool(TRAINED_TRANSLATOR) and TRAINED_TRANSLATOR["every_epoch"]
PAIRS = TRANSLATION["data"]
ALIGNED = [PAIRS[split] for split in ("train", "validation", "test") if split in PAIRS]
ALIGNED += PAIRS["domains"].values()


wildcard_constraints:
    run="|".join(map(re.escape, RUNS)),


rule translation_pairs:
    input:
        files=[file for pair in ALIGNED for side in pair.values() for file in local_files(side)],
    output:
        pairs="<results>/translation/pairs.parquet",
        counts=listed(
            "<results>/translation/pairs.counts.csv",
            "sentence pairs, and those that splits share",
            COUNTS,
            caption="translation-counts",
        ),
    log:
        "<logs>/translation/translation_pairs.log",
    benchmark:
        "<benchmarks>/translation/translation_pairs.tsv"
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=memory(1500, 20),
        runtime=minutes(60),
    params:
        code=code("translation/translation_pairs.py"),
        source=PAIRS,
        seed=config["seed"],
    script:
        "../workflow_scripts/translation/translation_pairs.py"


if TRAINED_TRANSLATOR:

    rule translator_training:
        input:
            pairs=rules.translation_pairs.output.pairs,
        output:
            checkpoint=directory("<results>/translation/{run}.checkpoint"),
            # Weights after each epoch but the last; empty where the study does not want them.
            epochs=weights_directory("<results>/translation/{run}.epochs"),
            card="<results>/translation/{run}.card.json",
            curve="<results>/translation/{run}.curve.csv",
        log:
            "<logs>/translation/{run}.translator_training.log",
        benchmark:
            "<benchmarks>/translation/{run}.translator_training.tsv"
        priority: 9  # begins the longest chain of the chapter
        conda:
            "../envs/torch.yaml"
        threads: config["threads"]
        resources:
            **TRAINING_JOB,
        params:
            code=code("translation/translator_training.py"),
            work=f"{RESULTS}/translation/{{run}}.work",
            run="{run}",
            recipe=lambda w: without(TRAINED_TRANSLATOR, ("seeds", "every_epoch"))
            | {"seed": int(w.run)},
            every_epoch=TRANSLATION_EPOCHS,
            device=config["device"],
        script:
            "../workflow_scripts/translation/translator_training.py"

    TRANSLATOR_CARD = rules.translator_training.output.card
    TRANSLATOR_FILES = [rules.translator_training.output.checkpoint]

else:

    rule translator_card:
        input:
            files=local_files(TRANSLATOR.get("path")),
        output:
            card="<results>/translation/{run}.card.json",
        log:
            "<logs>/translation/{run}.translator_card.log",
        benchmark:
            "<benchmarks>/translation/{run}.translator_card.tsv"
        retries: 2  # the hub may fail to answer
        conda:
            "../envs/torch.yaml"
        resources:
            mem_mb=memory(3000, 3),
            runtime=minutes(120),
        params:
            code=code("translation/translator_card.py"),
            source=TRANSLATOR,
            name="{run}",
        script:
            "../workflow_scripts/translation/translator_card.py"

    TRANSLATOR_CARD = rules.translator_card.output.card
    TRANSLATOR_FILES = local_files(TRANSLATOR.get("path"))


rule translation_sweep:
    input:
        card=TRANSLATOR_CARD,
        checkpoint=TRANSLATOR_FILES,
        pairs=rules.translation_pairs.output.pairs,
    output:
        sweep="<results>/translation/{run}.sweep.parquet",
    log:
        "<logs>/translation/{run}.translation_sweep.log",
    benchmark:
        "<benchmarks>/translation/{run}.translation_sweep.tsv"
    priority: 8
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **TRAINING_JOB,
    params:
        code=code("translation/translation_sweep.py"),
        run="{run}",
        generation=TRANSLATION["generation"],
        modes=TRANSLATION["modes"],
        sentences=TRANSLATION["sentences"],
        pass_rows=TRANSLATION["pass_rows"],
        sample_seed=config["seed"],
        device=config["device"],
    script:
        "../workflow_scripts/translation/translation_sweep.py"


rule translation_scores:
    input:
        sweep=rules.translation_sweep.output.sweep,
    output:
        scores="<results>/translation/{run}.scores.parquet",
        gain="<results>/translation/{run}.gain.parquet",
        types="<results>/translation/{run}.types.parquet",
    log:
        "<logs>/translation/{run}.translation_scores.log",
    benchmark:
        "<benchmarks>/translation/{run}.translation_scores.tsv"
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=memory(1500, 25),
        runtime=minutes(60),
    params:
        code=code("translation/translation_scores.py"),
        bootstrap=TRANSLATION["bootstrap"],
        permutations=TRANSLATION["permutations"],
        halves=TRANSLATION["halves"],
        seed=config["seed"],
    script:
        "../workflow_scripts/translation/translation_scores.py"


rule translation_pruning:
    input:
        card=TRANSLATOR_CARD,
        checkpoint=TRANSLATOR_FILES,
        pairs=rules.translation_pairs.output.pairs,
        sweep=rules.translation_sweep.output.sweep,
    output:
        importance="<results>/translation/{run}.importance.parquet",
        curves="<results>/translation/{run}.curves.parquet",
        order="<results>/translation/{run}.order.parquet",
    log:
        "<logs>/translation/{run}.translation_pruning.log",
    benchmark:
        "<benchmarks>/translation/{run}.translation_pruning.tsv"
    priority: 5
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **TRAINING_JOB,
    params:
        code=code("translation/translation_pruning.py"),
        run="{run}",
        generation=TRANSLATION["generation"],
        settings=TRANSLATION["pruning"],
        sentences=TRANSLATION["sentences"],
        pass_rows=TRANSLATION["pass_rows"],
        bootstrap=TRANSLATION["bootstrap"],
        sample_seed=config["seed"],
        device=config["device"],
    script:
        "../workflow_scripts/translation/translation_pruning.py"


if TRANSLATION_EPOCHS:

    rule translation_epochs:
        input:
            card=TRANSLATOR_CARD,
            checkpoint=TRANSLATOR_FILES,
            epochs=rules.translator_training.output.epochs,
            pairs=rules.translation_pairs.output.pairs,
        output:
            training="<results>/translation/{run}.training.parquet",
            importance="<results>/translation/{run}.epochs.parquet",
        log:
            "<logs>/translation/{run}.translation_epochs.log",
        benchmark:
            "<benchmarks>/translation/{run}.translation_epochs.tsv"
        priority: 5
        conda:
            "../envs/torch.yaml"
        threads: config["threads"]
        resources:
            **(TRAINING_JOB | {"mem_mb": memory(6000, 2)}),  # reads each epoch's weights in turn
        params:
            code=code("translation/translation_epochs.py"),
            run="{run}",
            generation=TRANSLATION["generation"],
            settings=TRANSLATION["pruning"],
            sentences=TRANSLATION["sentences"],
            pass_rows=TRANSLATION["pass_rows"],
            bootstrap=TRANSLATION["bootstrap"],
            sample_seed=config["seed"],
            device=config["device"],
        script:
            "../workflow_scripts/translation/translation_epochs.py"


include: "translation_figures.smk"
