"""arguments: cues in the warrants, made once for all models (Niven and Kao 2019, section 4)."""

ARGUMENT_CUES = PAPER["niven2019"] | {"subcategory": "4 Statistical cues"}


use rule light_step as argument_cues with:
    input:
        table=rules.prepare_arct.output.table,
    output:
        cues="<results>/arguments/cues.parquet",
    params:
        **step("arguments/argument_cues.py"),
        cue=ARGUMENTS["cues"]["cue"],
        sizes=ARGUMENTS["cues"]["sizes"],
        same=ARGUMENTS["cues"]["same"],
        min_coverage=ARGUMENTS["cues"]["coverage"],


arguments.drawn(
    "niven2019-cues",
    "cues, productivity against coverage",
    ARGUMENT_CUES,
    input={"cues": rules.argument_cues.output.cues, "counts": rules.prepare_arct.output.counts},
    params={"cue": ARGUMENTS["cues"]["cue"]},
    tables=lambda: {
        "table2": arguments.table(
            "niven2019-table2", "Table 2, one cue", ARGUMENT_CUES, per_model=False
        ),
        "all_cues": arguments.table(
            "niven2019-cues",
            "all cues",
            ARGUMENT_CUES,
            caption="niven2019-cues-table",
            per_model=False,
        ),
    },
    per_model=False,
)
