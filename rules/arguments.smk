"""arguments: ARCT, cues, partial inputs and the adversarial set (Niven and Kao 2019)."""

ARGUMENTS = config["arguments"]
# Families on word vectors, which no model is needed for. The third family is bert.
WORD_FAMILIES = ["bov", "bilstm"]
# What training reads of a family's settings; of BERT, with the model's own grid if it has one.
FAMILIES = ["bert", *WORD_FAMILIES]
TRAINING = {
    family: without(ARGUMENTS[family], ("grids", "degenerate_below")) for family in FAMILIES
}
OWN_GRIDS = {entry["model"]: without(entry, ("model",)) for entry in ARGUMENTS["bert"]["grids"]}
BERT_TRAINING = {
    model: TRAINING["bert"] | {"grid": OWN_GRIDS.get(model, TRAINING["bert"]["grid"])}
    for model in MODELS
}
# Weights are kept of models trained on the original points.
KEPT = {"trained_on": "original", "seed": ARGUMENTS["seeds"]}


wildcard_constraints:
    family="|".join(WORD_FAMILIES),
    trained_on="original|swapped|negated",


include: "arguments_cues.smk"
include: "arguments_runs.smk"
include: "arguments_beyond.smk"
