"""mixing: whole attention blocks, with the residual stream (Kobayashi et al. 2021 and others)."""

MIXING_BLOCKS = PAPER["kobayashi2021"] | {"subcategory": "Mixing and preserving"}
MIXING_ZEROED = PAPER["mohebbi2023"] | {"subcategory": "Value zeroing"}


use rule model_step as mixing_ratio with:
    input:
        **MODEL,
        corpus=SURFACE_CORPUS,
    output:
        table=mixing.table(
            "kobayashi2021-mixing",
            "mixing ratios by layer",
            MIXING_BLOCKS,
            wanted="ratio" in MIXING["tests"],
        ),
    params:
        **step("mixing/mixing_ratio.py"),
        n_segments=MIXING["n_segments"],
        max_tokens=TEXTS[SURFACE["corpus"]]["max_tokens"],
        bootstrap=MIXING["bootstrap"],
        seed=config["seed"],


mixing.drawn(
    "kobayashi2021-mixing",
    "mixing ratios by layer",
    MIXING_BLOCKS,
    input={"ratios": rules.mixing_ratio.output.table},
    wanted="ratio" in MIXING["tests"],
)


use rule model_step as value_zeroing with:
    input:
        **MODEL,
        corpus=SURFACE_CORPUS,
    output:
        table=mixing.table(
            "mohebbi2023-zeroing",
            "value zeroing by layer",
            MIXING_ZEROED,
            wanted="zeroing" in MIXING["tests"],
        ),
    params:
        **step("mixing/value_zeroing.py"),
        **MIXING["zeroing"],
        bootstrap=MIXING["bootstrap"],
        seed=config["seed"],
