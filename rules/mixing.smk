"""mixing: what weights do not show: the norms of what heads read (Kobayashi et al. 2020)."""

mixing = Products("mixing", "kobayashi2020", "Weights and norms")

MIXING = config["mixing"]


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
                *(
                    f"<results>/{{model}}/mixing/{name}"
                    for name in (
                        "released.parquet",
                        "offsets.parquet",
                        "held_out.parquet",
                        "sentences.csv",
                    )
                ),
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


include: "mixing_blocks.smk"
