"""surface: position, special tokens, entropy, gradient importance (Clark et al. 2019, section 3)."""


localrules:
    surface_drawings,
    clark2019_fig1,
    clark2019_fig2,
    clark2019_fig3,
    clark2019_fig4,
    clark2019_position,


SURFACE = config["surface"]
SURFACE_CACHE = f"<results>/{{model}}/attention/{SURFACE['corpus']}.h5"
SURFACE_CORPUS = f"<results>/corpora/{SURFACE['corpus']}.jsonl"
SURFACE_PATTERNS = CLARK | {"subcategory": "3 Surface patterns"}


rule relative_position:
    input:
        attention=SURFACE_CACHE,
        corpus=SURFACE_CORPUS,
    output:
        position="<results>/{model}/surface/position.parquet",
        above=table(
            "clark2019-position",
            "heads above the threshold",
            SURFACE_PATTERNS,
            caption="clark2019-position-table",
        ),
    log:
        "<logs>/surface/{model}.relative_position.log",
    benchmark:
        "<benchmarks>/surface/{model}.relative_position.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/relative_position.py"),
        threshold=SURFACE["threshold"],
        bootstrap=SURFACE["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/surface/relative_position.py"


rule special_tokens:
    input:
        attention=SURFACE_CACHE,
        corpus=SURFACE_CORPUS,
        model=rules.model_card.output.model,
    output:
        special_tokens="<results>/{model}/surface/special_tokens.parquet",
    log:
        "<logs>/surface/{model}.special_tokens.log",
    benchmark:
        "<benchmarks>/surface/{model}.special_tokens.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/special_tokens.py"),
        bootstrap=SURFACE["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/surface/special_tokens.py"


rule entropy:
    input:
        attention=SURFACE_CACHE,
        corpus=SURFACE_CORPUS,
        model=rules.model_card.output.model,
    output:
        entropy="<results>/{model}/surface/entropy.parquet",
        table=table("clark2019-broad", "section 3.3, broad heads", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.entropy.log",
    benchmark:
        "<benchmarks>/surface/{model}.entropy.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/entropy.py"),
        broad=SURFACE["broad"],
        bootstrap=SURFACE["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/surface/entropy.py"


rule gradient_importance:
    input:
        model=rules.model_card.output.model,
        corpus=SURFACE_CORPUS,
        head=rules.mlm_head.output.head,
        files=model_files,
    output:
        gradients="<results>/{model}/surface/gradients.parquet",
    log:
        "<logs>/surface/{model}.gradient_importance.log",
    benchmark:
        "<benchmarks>/surface/{model}.gradient_importance.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        **MODEL_JOB,
    params:
        code=code("surface/gradient_importance.py"),
        n_segments=SURFACE["gradients"]["n_segments"],
        max_tokens=TEXTS[SURFACE["corpus"]]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],
        bootstrap=SURFACE["bootstrap"],
        device=config["device"],
        seed=config["seed"],
    script:
        "../workflow_scripts/surface/gradient_importance.py"


rule surface_drawings:
    input:
        attention=SURFACE_CACHE,
        model=rules.model_card.output.model,
        position=rules.relative_position.output.position,
        special_tokens=rules.special_tokens.output.special_tokens,
        entropy=rules.entropy.output.entropy,
        files=model_files,
    output:
        drawings="<results>/{model}/surface/drawings.parquet",
        table=table("clark2019-strongest", "strongest heads of Figure 1", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.surface_drawings.log",
    benchmark:
        "<benchmarks>/surface/{model}.surface_drawings.tsv"
    conda:
        "../envs/torch.yaml"
    params:
        code=code("surface/surface_drawings.py"),
        threshold=SURFACE["threshold"],
        broad=SURFACE["broad"],
        heads=SURFACE["drawings"]["heads"],
        example=SURFACE["drawings"]["example"],
        max_drawn_tokens=SURFACE["drawings"]["max_drawn_tokens"],
    script:
        "../workflow_scripts/surface/surface_drawings.py"


rule clark2019_fig1:
    input:
        drawings=rules.surface_drawings.output.drawings,
        table=rules.surface_drawings.output.table,
    output:
        **figure("clark2019-fig1", "Figure 1, heads drawn as lines", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.clark2019_fig1.log",
    benchmark:
        "<benchmarks>/surface/{model}.clark2019_fig1.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/clark2019_fig1.py"),
        by_hand=bool(SURFACE["drawings"]["heads"]),
    script:
        "../workflow_scripts/surface/clark2019_fig1.py"


rule clark2019_fig2:
    input:
        special_tokens=rules.special_tokens.output.special_tokens,
    output:
        **figure("clark2019-fig2", "Figure 2, special tokens", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.clark2019_fig2.log",
    benchmark:
        "<benchmarks>/surface/{model}.clark2019_fig2.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/clark2019_fig2.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig2.py"


rule clark2019_fig3:
    input:
        gradients=rules.gradient_importance.output.gradients,
    output:
        **figure("clark2019-fig3", "Figure 3, gradient importance", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.clark2019_fig3.log",
    benchmark:
        "<benchmarks>/surface/{model}.clark2019_fig3.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/clark2019_fig3.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig3.py"


rule clark2019_fig4:
    input:
        entropy=rules.entropy.output.entropy,
    output:
        **figure("clark2019-fig4", "Figure 4, entropy", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.clark2019_fig4.log",
    benchmark:
        "<benchmarks>/surface/{model}.clark2019_fig4.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/clark2019_fig4.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig4.py"


rule clark2019_position:
    input:
        position=rules.relative_position.output.position,
    output:
        **figure("clark2019-position", "section 3.1, relative position", SURFACE_PATTERNS),
    log:
        "<logs>/surface/{model}.clark2019_position.log",
    benchmark:
        "<benchmarks>/surface/{model}.clark2019_position.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("surface/clark2019_position.py"),
        threshold=SURFACE["threshold"],
    script:
        "../workflow_scripts/surface/clark2019_position.py"
