"""ablation: what one backward pass estimates, against the exact effects (Michel 4.1 and beyond)."""

ablation_estimates = Products(
    "ablation", "michel2019", "4.1 Attribution before ablation", ["encoder"]
)
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
        table=ablation_estimates.table("ablation-attribution", "attribution against exact effects"),
        heads=ablation.measured(
            ablation_estimates.table("ablation-attribution-heads", "each head's attribution")
        ),
    resources:
        mem_mb=memory(1500, 25),
    params:
        **step("ablation/ablation_attribution.py"),
        bootstrap=ABLATION["bootstrap"],
        permutations=ABLATION["permutations"],
        seed=config["seed"],
        screen=ABLATION["screen"],


ablation_estimates.drawn(
    "ablation-attribution",
    "attribution against exact effects",
    input={"heads": rules.ablation_attribution.output.heads},
    own="ablation_attribution_figure",
)
