"""frames: heads that link a predicate to its frame elements (Kovaleva et al. 2019, section 4.2)."""


localrules:
    frame_drawings,
    kovaleva2019_frames,
    kovaleva2019_fig3,


FRAME_CORPUS = config["frames"]["corpus"]
FRAME_CACHE = f"<results>/{{model}}/attention/{FRAME_CORPUS}.h5"
FRAME_SENTENCES = f"<results>/corpora/{FRAME_CORPUS}.jsonl"
FRAME_LINKS = f"<results>/corpora/{FRAME_CORPUS}.annotation.jsonl"
FRAME_LINKING = KOVALEVA | {"subcategory": "4.2 Frames"}
# Everything made from generated sentences says so.
FRAMES_GENERATED = "generate" in FRAMES[FRAME_CORPUS]


rule frame_scores:
    input:
        attention=FRAME_CACHE,
        corpus=FRAME_SENTENCES,
        model=rules.model_card.output.model,
        annotation=FRAME_LINKS,
    output:
        scores="<results>/{model}/frames/scores.parquet",
    log:
        "<logs>/frames/{model}.frame_scores.log",
    benchmark:
        "<benchmarks>/frames/{model}.frame_scores.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("frames/frame_scores.py"),
        bootstrap=config["frames"]["bootstrap"],
        draws=config["frames"]["permutations"],
        seed=config["seed"],
    script:
        "../workflow_scripts/frames/frame_scores.py"


rule frame_drawings:
    input:
        attention=FRAME_CACHE,
        model=rules.model_card.output.model,
        annotation=FRAME_LINKS,
        scores=rules.frame_scores.output.scores,
    output:
        drawings="<results>/{model}/frames/drawings.parquet",
    log:
        "<logs>/frames/{model}.frame_drawings.log",
    benchmark:
        "<benchmarks>/frames/{model}.frame_drawings.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("frames/frame_drawings.py"),
        percentile=config["frames"]["percentile"],
        seed=config["seed"],
    script:
        "../workflow_scripts/frames/frame_drawings.py"


rule kovaleva2019_frames:
    input:
        scores=rules.frame_scores.output.scores,
    output:
        table=table("kovaleva2019-frames", "heads above the percentile", FRAME_LINKING),
        controls=table(
            "kovaleva2019-frame-controls",
            "all heads, links and unlinked words at the same distance",
            FRAME_LINKING,
        ),
    log:
        "<logs>/frames/{model}.kovaleva2019_frames.log",
    benchmark:
        "<benchmarks>/frames/{model}.kovaleva2019_frames.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("frames/kovaleva2019_frames.py"),
        percentile=config["frames"]["percentile"],
        generated=FRAMES_GENERATED,
    script:
        "../workflow_scripts/frames/kovaleva2019_frames.py"


rule kovaleva2019_fig3:
    input:
        scores=rules.frame_scores.output.scores,
        drawings=rules.frame_drawings.output.drawings,
    output:
        **figure("kovaleva2019-fig3", "Figure 3, frame elements", FRAME_LINKING),
    log:
        "<logs>/frames/{model}.kovaleva2019_fig3.log",
    benchmark:
        "<benchmarks>/frames/{model}.kovaleva2019_fig3.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("frames/kovaleva2019_fig3.py"),
        percentile=config["frames"]["percentile"],
        generated=FRAMES_GENERATED,
    script:
        "../workflow_scripts/frames/kovaleva2019_fig3.py"
