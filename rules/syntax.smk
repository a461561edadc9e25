"""syntax: single heads as dependency parsers (Clark et al. 2019, section 4.2)."""

syntax = Products("syntax", "clark2019", "4.2 Dependency syntax")
syntax_of_encoders = Products("syntax", "clark2019", "4.2 Dependency syntax", ["encoder"])
syntax_of_decoders = Products("syntax", "clark2019", "4.2 Dependency syntax", ["decoder"])

from workflow_scripts.core.data.annotations import coreference_annotation

SYNTAX = config["syntax"]
SYNTAX_CACHE = f"<results>/{{model}}/attention/{SYNTAX['treebank']}.h5"
SYNTAX_TREES = f"<results>/corpora/{SYNTAX['treebank']}.annotation.jsonl"
# A treebank that spaCy parsed is silver, and everything made from it states this.
SYNTAX_ANNOTATION = "silver" if "parse" in TREEBANKS[SYNTAX["treebank"]] else "gold"
# What the mentions of Figure 5's coreference panels are, where the study has the chapter.
SYNTAX_MENTIONS = (
    coreference_annotation(COREFERENCE[config["coreference"]["corpus"]])
    if "coreference" in config
    else ""
)


use rule analysis_step as syntax_scores with:
    input:
        attention=SYNTAX_CACHE,
        model=rules.model_card.output.model,
        trees=SYNTAX_TREES,
        corpus=f"<results>/corpora/{SYNTAX['treebank']}.jsonl",
    output:
        scores=syntax.measured(
            "<results>/{model}/syntax/scores.parquet", "columns", "kinds", "best_heads"
        ),
        released="<results>/{model}/syntax/released.parquet",
        offsets=syntax.measured(
            "<results>/{model}/syntax/offsets.parquet", "columns", "kinds", "best_heads"
        ),
        best="<results>/{model}/syntax/held_out.parquet",
    params:
        **step("syntax/syntax_scores.py"),
        **INTERVALS,
        largest_offset=SYNTAX["largest_offset"],
        released_direction=SYNTAX["released_direction"],


use rule light_step as clark2019_table1 with:
    input:
        scores=rules.syntax_scores.output.scores,
        released=rules.syntax_scores.output.released,
        offsets=rules.syntax_scores.output.offsets,
        best=rules.syntax_scores.output.best,
    output:
        table=syntax_of_encoders.table("clark2019-table1", "Table 1, heads as parsers"),
    params:
        **step("syntax/figures.py"),
        figure="clark2019_table1",
        fewest=SYNTAX["fewest"],
        annotation=SYNTAX_ANNOTATION,


# The paper has no decoders.
use rule clark2019_table1 as dependency_heads with:
    output:
        table=syntax_of_decoders.table("dependency-heads", "decoders, heads as parsers"),


use rule light_step as syntax_examples with:
    input:
        attention=SYNTAX_CACHE,
        model=rules.model_card.output.model,
        trees=SYNTAX_TREES,
        scores=rules.syntax_scores.output.scores,
    output:
        examples="<results>/{model}/syntax/examples.parquet",
    params:
        **step("syntax/syntax_examples.py"),
        relations=SYNTAX["relations"],
        n_examples=SYNTAX["examples"],
        seed=config["seed"],


syntax.drawn(
    "clark2019-fig5",
    "Figure 5, heads on example sentences",
    input={
        "examples": rules.syntax_examples.output.examples,
        "coreference": (
            ["<results>/{model}/coreference/examples.parquet"] if "coreference" in config else []
        ),
    },
    params={"annotation": SYNTAX_ANNOTATION, "mentions": SYNTAX_MENTIONS},
)


in_one_pass(rules.syntax_scores)
by_example(rules.syntax_examples)
