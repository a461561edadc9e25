"""ablation: whether heads matter alike however they are disabled (Kovaleva 4.6, Michel 3)."""


use rule analysis_step as ablation_modes with:
    input:
        logits=expand(rules.ablation_sweep.output.logits, **PRETRAINED_RUNS),
        scores=ABLATION_SCORES,
    output:
        table=table(
            "ablation-modes",
            "how well modes of disabling agree",
            ABLATION_MASKING,
            caption="ablation-modes-table",
        ),
        heads=measured(
            table("ablation-mode-heads", "each head's verdict, by mode", ABLATION_MASKING)
        ),
    pathvars:
        job="ablation/{model}.ablation_modes",
    resources:
        mem_mb=memory(1500, 25),
    params:
        **step("ablation/ablation_modes.py"),
        bootstrap=ABLATION["bootstrap"],
        permutations=ABLATION["permutations"],
        seed=config["seed"],
        points=ABLATION["equivalence"],
        nats=ABLATION["equivalence_nats"],


drawn(
    "ablation-modes",
    "how well modes of disabling agree",
    ABLATION_MASKING,
    input={"table": rules.ablation_modes.output.table},
    own="ablation_modes_figure",
)
