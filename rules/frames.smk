"""frames: heads that link a predicate to its frame elements (Kovaleva et al. 2019, section 4.2)."""

FRAME_CORPUS = config["frames"]["corpus"]
FRAME_CACHE = f"{STUDY}/{{model}}/attention/{FRAME_CORPUS}.h5"
FRAME_LINKS = f"{STUDY}/corpora/{FRAME_CORPUS}.annotation.jsonl"
KOVALEVA_FRAMES = KOVALEVA | {"subcategory": "4.2 Frames"}


rule frame_scores:
    input:
        attention=FRAME_CACHE,
        model=rules.model.output.model,
        annotation=FRAME_LINKS,
    output:
        scores=f"{STUDY}/{{model}}/frames/scores.parquet",
    log:
        f"{STUDY}/logs/frames/{{model}}.scores.log",
    benchmark:
        f"{STUDY}/benchmarks/frames/{{model}}.scores.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        code=code("frames/frame_scores.py"),
        bootstrap=config["frames"]["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/frames/frame_scores.py"


rule frame_drawings:
    input:
        attention=FRAME_CACHE,
        model=rules.model.output.model,
        annotation=FRAME_LINKS,
        scores=rules.frame_scores.output.scores,
    output:
        drawings=f"{STUDY}/{{model}}/frames/drawings.parquet",
        table=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-frames.csv",
            caption="../report/kovaleva2019-frames.rst",
            labels={"model": "{model}", "product": "heads above the percentile"},
            **KOVALEVA_FRAMES,
        ),
    log:
        f"{STUDY}/logs/frames/{{model}}.drawings.log",
    benchmark:
        f"{STUDY}/benchmarks/frames/{{model}}.drawings.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("frames/frame_drawings.py"),
        percentile=config["frames"]["percentile"],
        seed=config["seed"],
    script:
        "../workflow_scripts/frames/frame_drawings.py"


rule kovaleva2019_fig3:
    input:
        scores=rules.frame_scores.output.scores,
        drawings=rules.frame_drawings.output.drawings,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/kovaleva2019-fig3.svg",
            caption="../report/kovaleva2019-fig3.rst",
            labels={"model": "{model}", "product": "Figure 3, frame elements"},
            **KOVALEVA_FRAMES,
        ),
        pdf=f"{STUDY}/{{model}}/figures/kovaleva2019-fig3.pdf",
        png=f"{STUDY}/{{model}}/figures/kovaleva2019-fig3.png",
    log:
        f"{STUDY}/logs/frames/{{model}}.kovaleva2019_fig3.log",
    benchmark:
        f"{STUDY}/benchmarks/frames/{{model}}.kovaleva2019_fig3.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("frames/kovaleva2019_fig3.py"),
    script:
        "../workflow_scripts/frames/kovaleva2019_fig3.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/kovaleva2019-fig3.{{kind}}",
    model=MODELS,
    kind=["svg", "pdf", "png"],
)
TABLES += expand(f"{STUDY}/{{model}}/tables/kovaleva2019-frames.csv", model=MODELS)
