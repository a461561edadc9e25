"""arguments: ARCT, cues, partial inputs and the adversarial set (Niven and Kao 2019)."""

arguments = Products("arguments")
arguments_cues = Products("arguments", "niven2019", "4 Statistical cues", per_model=False)

ARGUMENTS = config["arguments"]
# Families on word vectors, which no model is needed for. The third family is bert.
ARGUMENT_WORD_FAMILIES = ["bov", "bilstm"]
# What training reads of a family's settings; of BERT, with the model's own grid if it has one.
ARGUMENT_FAMILIES = ["bert", *ARGUMENT_WORD_FAMILIES]
ARGUMENT_TRAINING = {
    family: without(ARGUMENTS[family], ("grids", "degenerate_below"))
    for family in ARGUMENT_FAMILIES
}
ARGUMENT_GRIDS = {
    entry["model"]: without(entry, ("model",)) for entry in ARGUMENTS["bert"]["grids"]
}
ARGUMENT_BERT = {
    model: ARGUMENT_TRAINING["bert"]
    | {"grid": ARGUMENT_GRIDS.get(model, ARGUMENT_TRAINING["bert"]["grid"])}
    for model in SERVED["arguments"]
}


wildcard_constraints:
    family="|".join(ARGUMENT_WORD_FAMILIES),
    trained_on="original|swapped|negated",


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


include: "arguments_runs.smk"
include: "arguments_beyond.smk"
