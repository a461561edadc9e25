"""coreference: single heads as antecedent selectors (Clark et al. 2019, section 4.3)."""

COREF = config["coreference"]
COREF_CORPUS = COREF["corpus"]
# Documents that the study's own grammar wrote are generated, and everything made from them says so.
COREF_ANNOTATION = "generated" if "generate" in COREFERENCE[COREF_CORPUS] else "gold"
ANTECEDENTS = CLARK | {"subcategory": "4.3 Coreference"}


rule coreference_scores:
    input:
        attention=f"<results>/{{model}}/attention/{COREF_CORPUS}.h5",
        model=rules.model_card.output.model,
        annotation=f"<results>/corpora/{COREF_CORPUS}.annotation.jsonl",
    output:
        scores="<results>/{model}/coreference/scores.parquet",
        rules="<results>/{model}/coreference/rules.parquet",
        best="<results>/{model}/coreference/held_out.parquet",
        mentions="<results>/{model}/coreference/mentions.csv",
    log:
        "<logs>/coreference/{model}.coreference_scores.log",
    benchmark:
        "<benchmarks>/coreference/{model}.coreference_scores.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("coreference/coreference_scores.py"),
        bootstrap=COREF["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/coreference/coreference_scores.py"


rule clark2019_table2:
    input:
        scores=rules.coreference_scores.output.scores,
        rules=rules.coreference_scores.output.rules,
        best=rules.coreference_scores.output.best,
    output:
        table=table("clark2019-table2", "Table 2, heads as antecedent selectors", ANTECEDENTS),
    log:
        "<logs>/coreference/{model}.clark2019_table2.log",
    benchmark:
        "<benchmarks>/coreference/{model}.clark2019_table2.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("coreference/clark2019_table2.py"),
        annotation=COREF_ANNOTATION,
    script:
        "../workflow_scripts/coreference/clark2019_table2.py"
