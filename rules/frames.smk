"""frames: heads that link a predicate to its frame elements (Kovaleva et al. 2019, section 4.2)."""

frames = Products("frames", "kovaleva2019", "4.2 Frames")

FRAME_CORPUS = config["frames"]["corpus"]
FRAME_CACHE = f"<results>/{{model}}/attention/{FRAME_CORPUS}.h5"
FRAME_SENTENCES = f"<results>/corpora/{FRAME_CORPUS}.jsonl"
FRAME_LINKS = f"<results>/corpora/{FRAME_CORPUS}.annotation.jsonl"
# Everything made from generated sentences states this.
FRAMES_GENERATED = "generate" in FRAMES[FRAME_CORPUS]


use rule analysis_step as frame_scores with:
    input:
        attention=FRAME_CACHE,
        corpus=FRAME_SENTENCES,
        model=rules.model_card.output.model,
        annotation=FRAME_LINKS,
    output:
        scores=frames.measured("<results>/{model}/frames/scores.parquet", "columns", "kinds"),
    params:
        **step("frames/frame_scores.py"),
        **TESTS,


use rule light_step as frame_drawings with:
    input:
        attention=FRAME_CACHE,
        model=rules.model_card.output.model,
        annotation=FRAME_LINKS,
        scores=rules.frame_scores.output.scores,
    output:
        drawings="<results>/{model}/frames/drawings.parquet",
    params:
        **step("frames/frame_drawings.py"),
        percentile=config["frames"]["percentile"],
        seed=config["seed"],


use rule light_step as kovaleva2019_frames with:
    input:
        scores=rules.frame_scores.output.scores,
    output:
        table=frames.table("kovaleva2019-frames", "heads above the percentile"),
        controls=frames.table(
            "kovaleva2019-frame-controls",
            "all heads, links and unlinked words at the same distance",
        ),
    params:
        **step("frames/figures.py"),
        figure="kovaleva2019_frames",
        percentile=config["frames"]["percentile"],
        generated=FRAMES_GENERATED,


frames.drawn(
    "kovaleva2019-fig3",
    "Figure 3, frame elements",
    input={
        "scores": rules.frame_scores.output.scores,
        "drawings": rules.frame_drawings.output.drawings,
    },
    params={"percentile": config["frames"]["percentile"], "generated": FRAMES_GENERATED},
)


in_one_pass(rules.frame_scores)
by_example(rules.frame_drawings)
