"""arguments: ARCT, cues, partial inputs and the adversarial set (Niven and Kao 2019)."""

arguments = Products("arguments")

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
# Weights are kept of models trained on the original points.
ARGUMENT_KEPT = {"trained_on": "original", "seed": ARGUMENTS["seeds"]}


wildcard_constraints:
    family="|".join(ARGUMENT_WORD_FAMILIES),
    trained_on="original|swapped|negated",


include: "arguments_cues.smk"
include: "arguments_runs.smk"
include: "arguments_beyond.smk"
