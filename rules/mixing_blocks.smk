"""mixing: whole attention blocks, with the residual stream (Kobayashi et al. 2021 and others)."""

mixing_ratios = Products(
    "mixing", "kobayashi2021", "Mixing and preserving", wanted="ratio" in MIXING["tests"]
)
mixing_zeroing = Products(
    "mixing", "mohebbi2023", "Value zeroing", wanted="zeroing" in MIXING["tests"]
)


use rule model_step as mixing_ratio with:
    input:
        **MODEL,
        corpus=SURFACE_CORPUS,
    output:
        table=mixing_ratios.table("kobayashi2021-mixing", "mixing ratios by layer"),
    params:
        **step("mixing/mixing_ratio.py"),
        n_segments=MIXING["n_segments"],
        max_tokens=TEXTS[SURFACE["corpus"]]["max_tokens"],
        bootstrap=MIXING["bootstrap"],
        seed=config["seed"],


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
        bootstrap=MIXING["bootstrap"],
        seed=config["seed"],
