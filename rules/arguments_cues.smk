"""arguments: cues in the warrants, made once for all models (Niven and Kao 2019, section 4)."""

arguments_cues = Products("arguments", "niven2019", "4 Statistical cues", per_model=False)


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


arguments_cues.drawn(
    "niven2019-cues",
    "cues, productivity against coverage",
    input={"cues": rules.argument_cues.output.cues, "counts": rules.prepare_arct.output.counts},
    params={"cue": ARGUMENTS["cues"]["cue"]},
    tables=lambda: {
        "table2": arguments_cues.table("niven2019-table2", "Table 2, one cue"),
        "all_cues": arguments_cues.table("niven2019-cues", "all cues"),
    },
)
