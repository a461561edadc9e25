"""arguments: ARCT, cues, partial inputs and the adversarial set (Niven and Kao 2019)."""

ARGUMENTS = config["arguments"]
# Families on word vectors, which no model is needed for. The third family is bert.
WORD_FAMILIES = ["bov", "bilstm"]
# Weights are kept of models trained on the original points.
KEPT = {"trained_on": "original", "seed": ARGUMENTS["seeds"]}


wildcard_constraints:
    family="|".join(WORD_FAMILIES),
    trained_on="original|swapped|negated",


include: "arguments_cues.smk"
include: "arguments_runs.smk"
include: "arguments_beyond.smk"
