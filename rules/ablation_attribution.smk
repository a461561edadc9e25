"""ablation: what one backward pass estimates, against the exact effects (Michel 4.1 and beyond)."""

ABLATION_ATTRIBUTION = PAPER["michel2019"] | {"subcategory": "4.1 Attribution before ablation"}
ABLATION_ATTRIBUTED = [mode for mode in ABLATION_UNITS["head"] if mode in ABLATION_ATTRIBUTABLE]


use rule training_step as classifier_attribution with:
    input:
        **CHECKPOINT,
    output:
        attribution="<results>/{model}/ablation/{task}.{init}.{seed}.attribution.parquet",
    priority: 5
    group:
        "attributions"
    resources:
        **TRAINING_JOB,
        serial=1,
    params:
        **step("ablation/classifier_attribution.py"),
        **ABLATION_RUN,
        modes=ABLATION_ATTRIBUTED,
        examples=ABLATION["examples"],
        reference=ABLATION["reference"],


use rule analysis_step as ablation_attribution with:
    input:
        logits=expand(rules.ablation_sweep.output.logits, **PRETRAINED_RUNS),
        attributions=expand(rules.classifier_attribution.output.attribution, **PRETRAINED_RUNS),
    output:
        table=ablation.table(
            "ablation-attribution", "attribution against exact effects", ABLATION_ATTRIBUTION
        ),
        heads=ablation.measured(
            ablation.table(
                "ablation-attribution-heads", "each head's attribution", ABLATION_ATTRIBUTION
            )
        ),
    resources:
        mem_mb=memory(1500, 25),
    params:
        **step("ablation/ablation_attribution.py"),
        bootstrap=ABLATION["bootstrap"],
        permutations=ABLATION["permutations"],
        seed=config["seed"],
        screen=ABLATION["screen"],


ablation.drawn(
    "ablation-attribution",
    "attribution against exact effects",
    ABLATION_ATTRIBUTION,
    caption="ablation-attribution-figure",
    input={"heads": rules.ablation_attribution.output.heads},
    own="ablation_attribution_figure",
)
