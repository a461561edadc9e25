"""surface: position, special tokens, entropy, gradient importance (Clark et al. 2019, section 3)."""

surface = Products("surface", "clark2019", "3 Surface patterns")
surface_of_encoders = Products("surface", "clark2019", "3 Surface patterns", ["encoder"])

SURFACE = config["surface"]
# A decoder predicts no masked tokens.
surface_gradients = surface_of_encoders.when("gradients" in SURFACE)
SURFACE_CACHE = f"<results>/{{model}}/attention/{SURFACE['corpus']}.h5"
SURFACE_CORPUS = f"<results>/corpora/{SURFACE['corpus']}.jsonl"
# From where on a head is broad: in nats, of a decoder as a share of the largest entropy.
SURFACE_BROAD = {"encoder": SURFACE["broad"], "decoder": SURFACE["broad_share"]}


use rule analysis_step as relative_position with:
    input:
        attention=SURFACE_CACHE,
        corpus=SURFACE_CORPUS,
        model=rules.model_card.output.model,
    output:
        position=surface.measured(
            "<results>/{model}/surface/position.parquet", "columns", "kinds", "behaviours"
        ),
        above=surface.table("clark2019-position", "heads above the threshold"),
    params:
        **step("surface/relative_position.py"),
        **INTERVALS,
        threshold=SURFACE["threshold"],


use rule analysis_step as special_tokens with:
    input:
        attention=SURFACE_CACHE,
        corpus=SURFACE_CORPUS,
        model=rules.model_card.output.model,
    output:
        special_tokens=surface.measured(
            "<results>/{model}/surface/special_tokens.parquet", "columns", "kinds", "behaviours"
        ),
    params:
        **step("surface/special_tokens.py"),
        **INTERVALS,


use rule special_tokens as same_word with:
    output:
        same_word=surface.measured(
            "<results>/{model}/surface/same_word.parquet", "columns", "kinds"
        ),
    params:
        **step("surface/same_word.py"),


use rule special_tokens as entropy with:
    output:
        entropy=surface.measured(
            "<results>/{model}/surface/entropy.parquet", "columns", "kinds", "behaviours"
        ),
        table=surface.table("clark2019-broad", "section 3.3, broad heads"),
    params:
        **step("surface/entropy.py"),
        broad=lambda w: SURFACE_BROAD[config["models"][w.model]["kind"]],


use rule model_step as gradient_importance with:
    input:
        **MODEL,
        corpus=SURFACE_CORPUS,
        head=rules.mlm_head.output.head,
    output:
        gradients=surface_gradients.measured("<results>/{model}/surface/gradients.parquet"),
    params:
        **step("surface/gradient_importance.py"),
        **INTERVALS,
        n_segments=SURFACE.get("gradients", {}).get("n_segments"),
        max_tokens=TEXTS[SURFACE["corpus"]]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],


use rule torch_step as surface_drawings with:
    input:
        **MODEL,
        attention=SURFACE_CACHE,
        position=rules.relative_position.output.position,
        special_tokens=rules.special_tokens.output.special_tokens,
        entropy=rules.entropy.output.entropy,
    output:
        drawings="<results>/{model}/surface/drawings.parquet",
        table=surface.table("clark2019-strongest", "strongest heads of Figure 1"),
    localrule: True
    params:
        **step("surface/surface_drawings.py"),
        **SURFACE["drawings"],
        threshold=SURFACE["threshold"],
        broad=lambda w: SURFACE_BROAD[config["models"][w.model]["kind"]],


surface.drawn(
    "clark2019-fig1",
    "Figure 1, heads drawn as lines",
    input={
        "drawings": rules.surface_drawings.output.drawings,
        "table": rules.surface_drawings.output.table,
    },
    params={"by_hand": bool(SURFACE["drawings"]["heads"])},
)
surface.drawn(
    "clark2019-fig2",
    "Figure 2, special tokens",
    input={"special_tokens": rules.special_tokens.output.special_tokens},
)
surface_gradients.drawn(
    "clark2019-fig3",
    "Figure 3, gradient importance",
    input={"gradients": rules.gradient_importance.output.gradients},
)
surface.drawn(
    "clark2019-fig4",
    "Figure 4, entropy",
    input={"entropy": rules.entropy.output.entropy},
)
surface.drawn(
    "clark2019-position",
    "section 3.1, relative position",
    input={"position": rules.relative_position.output.position},
    params={"threshold": SURFACE["threshold"]},
)


in_one_pass(rules.relative_position, rules.special_tokens, rules.same_word, rules.entropy)
by_example(rules.surface_drawings)
