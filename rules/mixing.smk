"""mixing: what weights do not show: the norms of what heads read (Kobayashi et al. 2020), and blocks."""

mixing = Products("mixing", "kobayashi2020", "Weights and norms")

MIXING = config["mixing"]
mixing_ratios = Products(
    "mixing", "kobayashi2021", "Mixing and preserving", wanted="ratio" in MIXING["measures"]
)
mixing_zeroing = Products(
    "mixing", "mohebbi2023", "Value zeroing", wanted="zeroing" in MIXING["measures"]
)


use rule model_step as on_the_fly_norms with:
    input:
        lambda w: read_on_the_fly(w.model, [rules.special_tokens]),
    output:
        products=[mixing.measured("<results>/{model}/mixing/special_tokens.parquet")],
    params:
        **step("attention/on_the_fly.py"),
        **by_norm(rules.special_tokens),


mixing.drawn(
    "kobayashi2020-norms",
    "special tokens by weight and by norm",
    input={
        "weights": rules.special_tokens.output.special_tokens,
        "norms": rules.on_the_fly_norms.output.products[0],
    },
    table="special tokens by weight and by norm",
)


if MIXING["syntax"] and "syntax" in config:

    use rule on_the_fly_norms as on_the_fly_norms_syntax with:
        input:
            lambda w: read_on_the_fly(w.model, [rules.syntax_scores]),
        output:
            products=[
                mixing.measured("<results>/{model}/mixing/scores.parquet"),
                "<results>/{model}/mixing/released.parquet",
                "<results>/{model}/mixing/offsets.parquet",
                "<results>/{model}/mixing/held_out.parquet",
            ],
        params:
            **by_norm(rules.syntax_scores),

    use rule light_step as kobayashi2020_table1 with:
        input:
            weights=rules.syntax_scores.output.scores,
            norms=rules.on_the_fly_norms_syntax.output.products[0],
        output:
            table=mixing.table("kobayashi2020-table1", "heads as parsers by norm"),
        params:
            **step("mixing/kobayashi2020_table1.py"),
            fewest=SYNTAX["fewest"],
            annotation=SYNTAX_ANNOTATION,


use rule model_step as mixing_ratio with:
    input:
        **MODEL,
        corpus=SURFACE_CORPUS,
    output:
        table=mixing_ratios.table("kobayashi2021-mixing", "mixing ratios by layer"),
    params:
        **step("mixing/mixing_ratio.py"),
        **INTERVALS,
        n_segments=MIXING["n_segments"],
        max_tokens=TEXTS[SURFACE["corpus"]]["max_tokens"],


mixing_ratios.drawn(
    "kobayashi2021-mixing",
    "mixing ratios by layer",
    input={"ratios": rules.mixing_ratio.output.table},
)


use rule model_step as value_zeroing with:
    input:
        **MODEL,
        corpus=SURFACE_CORPUS,
    output:
        table=mixing_zeroing.table("mohebbi2023-zeroing", "value zeroing by layer"),
    params:
        **step("mixing/value_zeroing.py"),
        **MIXING["zeroing"],
        **INTERVALS,


mixing_zeroing.drawn(
    "mohebbi2023-zeroing",
    "value zeroing by layer",
    input={"scores": rules.value_zeroing.output.table},
)
