"""coreference: single heads as antecedent selectors (Clark et al. 2019, section 4.3)."""

coreference = Products("coreference", "clark2019", "4.3 Coreference")
coreference_of_encoders = replace(coreference, kinds=["encoder"])
coreference_of_decoders = replace(coreference, kinds=["decoder"])

from workflow_scripts.core.data.annotations import coreference_annotation

COREFERENCE_CONFIG = config["coreference"]
COREFERENCE_CORPUS = COREFERENCE_CONFIG["corpus"]
COREFERENCE_TEXTS = f"<results>/corpora/{COREFERENCE_CORPUS}"
# Everything made from generated documents, or from head words that spaCy found, states this.
COREFERENCE_ANNOTATION = coreference_annotation(COREFERENCE[COREFERENCE_CORPUS])


use rule analysis_step as coreference_scores with:
    input:
        attention=f"<results>/{{model}}/attention/{COREFERENCE_CORPUS}.h5",
        model=rules.model_card.output.model,
        annotation=f"{COREFERENCE_TEXTS}.annotation.jsonl",
        corpus=f"{COREFERENCE_TEXTS}.jsonl",
    output:
        scores=coreference.measured(
            "<results>/{model}/coreference/scores.parquet", "columns", "kinds", "best_heads"
        ),
        rules=coreference.measured(
            "<results>/{model}/coreference/rules.parquet", "columns", "kinds", "best_heads"
        ),
        best="<results>/{model}/coreference/held_out.parquet",
        mentions="<results>/{model}/coreference/mentions.csv",
    params:
        **step("coreference/coreference_scores.py"),
        **INTERVALS,


use rule light_step as clark2019_table2 with:
    input:
        scores=rules.coreference_scores.output.scores,
        rules=rules.coreference_scores.output.rules,
        best=rules.coreference_scores.output.best,
    output:
        table=coreference_of_encoders.table(
            "clark2019-table2", "Table 2, heads as antecedent selectors"
        ),
    params:
        **step("coreference/clark2019_table2.py"),
        annotation=COREFERENCE_ANNOTATION,
        singletons=COREFERENCE[COREFERENCE_CORPUS]["singletons"],


# The paper has no decoders.
use rule clark2019_table2 as antecedent_heads with:
    output:
        table=coreference_of_decoders.table(
            "antecedent-heads", "decoders, heads as antecedent selectors"
        ),


use rule light_step as coreference_examples with:
    input:
        attention=f"<results>/{{model}}/attention/{COREFERENCE_CORPUS}.h5",
        model=rules.model_card.output.model,
        annotation=f"{COREFERENCE_TEXTS}.annotation.jsonl",
        scores=rules.coreference_scores.output.scores,
    output:
        examples="<results>/{model}/coreference/examples.parquet",
    params:
        **step("coreference/coreference_examples.py"),
        n_examples=COREFERENCE_CONFIG["examples"],
        seed=config["seed"],


in_one_pass(rules.coreference_scores)
by_example(rules.coreference_examples)
