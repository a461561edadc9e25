"""patterns: classes of attention maps (Kovaleva et al. 2019, section 4.1)."""

PATTERNS = config["patterns"]
OWN_ANNOTATIONS = [one["file"] for one in PATTERNS["annotations"]]
OWN_CACHES = [name for one in PATTERNS["annotations"] for name in one["caches"]]
BUILTIN_ANNOTATIONS = [ANNOTATED_MAPS] if PATTERNS["builtin"] else []
# Task, stage and seed of every cache whose maps are classified.
CLASSIFIED = [[task, "pretrained", 0] for task in TASKS] + [
    [task, "fine-tuned", seed] for task in TASKS for seed in FINETUNE["seeds"]
]
KOVALEVA_PATTERNS = KOVALEVA | {"subcategory": "4.1 Patterns"}


rule pattern_classifier:
    input:
        annotations=BUILTIN_ANNOTATIONS + OWN_ANNOTATIONS,
        caches=annotated_caches,
    output:
        classifier=f"{STUDY}/patterns/classifier.safetensors",
        folds=f"{STUDY}/patterns/folds.parquet",
        confusion=report(
            f"{STUDY}/patterns/confusion.csv",
            caption="../report/kovaleva2019-confusion.rst",
            labels={"product": "confusion of the classes"},
            **KOVALEVA_PATTERNS,
        ),
        maps=f"{STUDY}/patterns/typical.parquet",
    log:
        f"{STUDY}/logs/patterns/classifier.log",
    benchmark:
        f"{STUDY}/benchmarks/patterns/classifier.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("patterns/pattern_classifier.py"),
        builtin=PATTERNS["builtin"],
        cache_names=OWN_CACHES,
        n_folds=PATTERNS["folds"],
        epochs=PATTERNS["epochs"],
        learning_rate=PATTERNS["learning_rate"],
        seed=config["seed"],
    script:
        "../workflow_scripts/patterns/pattern_classifier.py"


rule pattern_shares:
    input:
        classifier=rules.pattern_classifier.output.classifier,
        caches=expand(f"{STUDY}/{{{{model}}}}/attention/{{task}}.h5", task=TASKS)
        + expand(
            f"{STUDY}/{{{{model}}}}/attention/{{task}}.pretrained.{{seed}}.h5",
            task=TASKS,
            seed=FINETUNE["seeds"],
        ),
    output:
        shares=f"{STUDY}/{{model}}/patterns/shares.parquet",
    log:
        f"{STUDY}/logs/patterns/{{model}}.shares.log",
    benchmark:
        f"{STUDY}/benchmarks/patterns/{{model}}.shares.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        code=code("patterns/pattern_shares.py"),
        names=CLASSIFIED,
    script:
        "../workflow_scripts/patterns/pattern_shares.py"


# Asked for by name: maps of any cache to look at, and the file to write their classes into.
rule contact_sheets:
    input:
        attention=f"{STUDY}/{{model}}/attention/{{cache}}.h5",
    output:
        sheets=directory(f"{STUDY}/{{model}}/patterns/sheets/{{cache}}"),
    log:
        f"{STUDY}/logs/patterns/{{model}}.{{cache}}.sheets.log",
    benchmark:
        f"{STUDY}/benchmarks/patterns/{{model}}.{{cache}}.sheets.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        code=code("patterns/contact_sheets.py"),
        model=lambda w: w.model,
        corpus=lambda w: w.cache,
        n_maps=PATTERNS["sheet_maps"],
        seed=config["seed"],
    script:
        "../workflow_scripts/patterns/contact_sheets.py"


rule kovaleva2019_patterns:
    input:
        folds=rules.pattern_classifier.output.folds,
        shares=rules.pattern_shares.output.shares,
    output:
        classifier=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-classifier.csv",
            caption="../report/kovaleva2019-classifier.rst",
            labels={"model": "{model}", "product": "how well maps are classified"},
            **KOVALEVA_PATTERNS,
        ),
        table=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-patterns.csv",
            caption="../report/kovaleva2019-patterns.rst",
            labels={"model": "{model}", "product": "shares of the classes"},
            **KOVALEVA_PATTERNS,
        ),
    log:
        f"{STUDY}/logs/patterns/{{model}}.kovaleva2019_patterns.log",
    benchmark:
        f"{STUDY}/benchmarks/patterns/{{model}}.kovaleva2019_patterns.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code("patterns/kovaleva2019_patterns.py"),
    script:
        "../workflow_scripts/patterns/kovaleva2019_patterns.py"


rule kovaleva2019_fig1:
    input:
        maps=rules.pattern_classifier.output.maps,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig1.svg",
            caption="../report/kovaleva2019-fig1.rst",
            labels={"model": "{model}", "product": "Figure 1, classes of maps"},
            **KOVALEVA_PATTERNS,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig1.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig1.png",
    log:
        f"{STUDY}/logs/patterns/{{model}}.kovaleva2019_fig1.log",
    benchmark:
        f"{STUDY}/benchmarks/patterns/{{model}}.kovaleva2019_fig1.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("patterns/kovaleva2019_fig1.py"),
    script:
        "../workflow_scripts/patterns/kovaleva2019_fig1.py"


rule kovaleva2019_fig2:
    input:
        shares=rules.pattern_shares.output.shares,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig2.svg",
            caption="../report/kovaleva2019-fig2.rst",
            labels={"model": "{model}", "product": "Figure 2, shares of the classes"},
            **KOVALEVA_PATTERNS,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig2.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig2.png",
    log:
        f"{STUDY}/logs/patterns/{{model}}.kovaleva2019_fig2.log",
    benchmark:
        f"{STUDY}/benchmarks/patterns/{{model}}.kovaleva2019_fig2.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("patterns/kovaleva2019_fig2.py"),
    script:
        "../workflow_scripts/patterns/kovaleva2019_fig2.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/kovaleva2019-{{figure}}.{{kind}}",
    model=MODELS,
    figure=["fig1", "fig2"],
    kind=["svg", "pdf", "png"],
)
TABLES += expand(
    f"{STUDY}/{{model}}/tables/kovaleva2019-{{table}}.csv",
    model=MODELS,
    table=["classifier", "patterns"],
)
