"""coreference: single heads as antecedent selectors (Clark et al. 2019, section 4.3)."""

COREF = config["coreference"]
COREF_CORPUS = COREF["corpus"]
# Documents that the study's own grammar wrote are generated, and everything made from them says so.
COREF_ANNOTATION = "generated" if "generate" in COREFERENCE[COREF_CORPUS] else "gold"
CLARK_COREF = {"category": "Clark et al. 2019", "subcategory": "4.3 Coreference"}


rule coreference_scores:
    input:
        attention=f"{STUDY}/{{model}}/attention/{COREF_CORPUS}.h5",
        model=rules.model.output.model,
        annotation=f"{STUDY}/corpora/{COREF_CORPUS}.annotation.jsonl",
    output:
        scores=f"{STUDY}/{{model}}/coreference/scores.parquet",
        rules=f"{STUDY}/{{model}}/coreference/rules.parquet",
        best=f"{STUDY}/{{model}}/coreference/held_out.parquet",
        mentions=f"{STUDY}/{{model}}/coreference/mentions.csv",
    log:
        f"{STUDY}/logs/coreference/{{model}}.scores.log",
    benchmark:
        f"{STUDY}/benchmarks/coreference/{{model}}.scores.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
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
        table=report(
            f"{STUDY}/{{model}}/tables/clark2019-table2.csv",
            caption="../report/clark2019-table2.rst",
            labels={"model": "{model}", "product": "Table 2, heads as antecedent selectors"},
            **CLARK_COREF,
        ),
    log:
        f"{STUDY}/logs/coreference/{{model}}.table2.log",
    benchmark:
        f"{STUDY}/benchmarks/coreference/{{model}}.table2.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("coreference/clark2019_table2.py"),
        annotation=COREF_ANNOTATION,
    script:
        "../workflow_scripts/coreference/clark2019_table2.py"


TABLES += expand(f"{STUDY}/{{model}}/tables/clark2019-table2.csv", model=MODELS)
