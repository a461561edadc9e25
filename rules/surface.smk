"""surface: position, special tokens, entropy, gradient importance (Clark et al. 2019, section 3)."""

SURFACE = config["surface"]
SURFACE_CACHE = f"{STUDY}/{{model}}/attention/{SURFACE['corpus']}.h5"
CLARK = {"category": "Clark et al. 2019", "subcategory": "3 Surface patterns"}


rule position:
    input:
        attention=SURFACE_CACHE,
    output:
        position=f"{STUDY}/{{model}}/surface/position.parquet",
        above=report(
            f"{STUDY}/{{model}}/tables/clark2019-position.csv",
            caption="../report/clark2019-position-table.rst",
            labels={"model": "{model}", "product": "heads above the threshold"},
            **CLARK,
        ),
    log:
        f"{STUDY}/logs/surface/{{model}}.position.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.position.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
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
        model=rules.model.output.model,
    output:
        special_tokens=f"{STUDY}/{{model}}/surface/special_tokens.parquet",
    log:
        f"{STUDY}/logs/surface/{{model}}.special_tokens.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.special_tokens.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        code=code("surface/special_tokens.py"),
        bootstrap=SURFACE["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/surface/special_tokens.py"


rule entropy:
    input:
        attention=SURFACE_CACHE,
        model=rules.model.output.model,
    output:
        entropy=f"{STUDY}/{{model}}/surface/entropy.parquet",
    log:
        f"{STUDY}/logs/surface/{{model}}.entropy.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.entropy.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        code=code("surface/entropy.py"),
        bootstrap=SURFACE["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/surface/entropy.py"


rule gradients:
    input:
        model=rules.model.output.model,
        corpus=f"{STUDY}/corpora/{SURFACE['corpus']}.jsonl",
        head=rules.mlm_head.output.head,
        files=model_files,
    output:
        gradients=f"{STUDY}/{{model}}/surface/gradients.parquet",
    log:
        f"{STUDY}/logs/surface/{{model}}.gradients.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.gradients.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=gpu,
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


rule drawings:
    input:
        attention=SURFACE_CACHE,
        model=rules.model.output.model,
        position=rules.position.output.position,
        special_tokens=rules.special_tokens.output.special_tokens,
        entropy=rules.entropy.output.entropy,
        files=model_files,
    output:
        drawings=f"{STUDY}/{{model}}/surface/drawings.parquet",
    log:
        f"{STUDY}/logs/surface/{{model}}.drawings.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.drawings.tsv"
    conda:
        "../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=code("surface/surface_drawings.py"),
        heads=SURFACE["drawings"]["heads"],
        example=SURFACE["drawings"]["example"],
        max_drawn_tokens=SURFACE["drawings"]["max_drawn_tokens"],
    script:
        "../workflow_scripts/surface/surface_drawings.py"


rule clark2019_fig1:
    input:
        drawings=rules.drawings.output.drawings,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-fig1.svg",
            caption="../report/clark2019-fig1.rst",
            labels={"model": "{model}", "product": "Figure 1, heads drawn as lines"},
            **CLARK,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-fig1.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-fig1.png",
    log:
        f"{STUDY}/logs/surface/{{model}}.clark2019_fig1.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.clark2019_fig1.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("surface/clark2019_fig1.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig1.py"


rule clark2019_fig2:
    input:
        special_tokens=rules.special_tokens.output.special_tokens,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-fig2.svg",
            caption="../report/clark2019-fig2.rst",
            labels={"model": "{model}", "product": "Figure 2, special tokens"},
            **CLARK,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-fig2.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-fig2.png",
    log:
        f"{STUDY}/logs/surface/{{model}}.clark2019_fig2.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.clark2019_fig2.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("surface/clark2019_fig2.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig2.py"


rule clark2019_fig3:
    input:
        gradients=rules.gradients.output.gradients,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-fig3.svg",
            caption="../report/clark2019-fig3.rst",
            labels={"model": "{model}", "product": "Figure 3, gradient importance"},
            **CLARK,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-fig3.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-fig3.png",
    log:
        f"{STUDY}/logs/surface/{{model}}.clark2019_fig3.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.clark2019_fig3.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("surface/clark2019_fig3.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig3.py"


rule clark2019_fig4:
    input:
        entropy=rules.entropy.output.entropy,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-fig4.svg",
            caption="../report/clark2019-fig4.rst",
            labels={"model": "{model}", "product": "Figure 4, entropy"},
            **CLARK,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-fig4.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-fig4.png",
    log:
        f"{STUDY}/logs/surface/{{model}}.clark2019_fig4.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.clark2019_fig4.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("surface/clark2019_fig4.py"),
    script:
        "../workflow_scripts/surface/clark2019_fig4.py"


rule clark2019_position:
    input:
        position=rules.position.output.position,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-position.svg",
            caption="../report/clark2019-position.rst",
            labels={"model": "{model}", "product": "section 3.1, relative position"},
            **CLARK,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-position.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-position.png",
    log:
        f"{STUDY}/logs/surface/{{model}}.clark2019_position.log",
    benchmark:
        f"{STUDY}/benchmarks/surface/{{model}}.clark2019_position.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("surface/clark2019_position.py"),
        threshold=SURFACE["threshold"],
    script:
        "../workflow_scripts/surface/clark2019_position.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/clark2019-{{figure}}.{{kind}}",
    model=MODELS,
    figure=["fig1", "fig2", "fig3", "fig4", "position"],
    kind=["svg", "pdf", "png"],
)
TABLES += expand(f"{STUDY}/{{model}}/tables/clark2019-position.csv", model=MODELS)
