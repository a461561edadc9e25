"""syntax: single heads as dependency parsers (Clark et al. 2019, section 4.2)."""

SYNTAX = config["syntax"]
SYNTAX_CACHE = f"{STUDY}/{{model}}/attention/{SYNTAX['treebank']}.h5"
SYNTAX_TREES = f"{STUDY}/corpora/{SYNTAX['treebank']}.annotation.jsonl"
# A treebank that spaCy parsed is silver, and everything made from it says so.
SYNTAX_ANNOTATION = "silver" if "parse" in TREEBANKS[SYNTAX["treebank"]] else "gold"
CLARK_SYNTAX = {"category": "Clark et al. 2019", "subcategory": "4.2 Dependency syntax"}


rule syntax_scores:
    input:
        attention=SYNTAX_CACHE,
        model=rules.model.output.model,
        trees=SYNTAX_TREES,
    output:
        scores=f"{STUDY}/{{model}}/syntax/scores.parquet",
        offsets=f"{STUDY}/{{model}}/syntax/offsets.parquet",
        best=f"{STUDY}/{{model}}/syntax/held_out.parquet",
        sentences=f"{STUDY}/{{model}}/syntax/sentences.csv",
    log:
        f"{STUDY}/logs/syntax/{{model}}.scores.log",
    benchmark:
        f"{STUDY}/benchmarks/syntax/{{model}}.scores.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("syntax/syntax_scores.py"),
        largest_offset=SYNTAX["largest_offset"],
        released_direction=SYNTAX["released_direction"],
        bootstrap=SYNTAX["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/syntax/syntax_scores.py"


rule clark2019_table1:
    input:
        scores=rules.syntax_scores.output.scores,
        offsets=rules.syntax_scores.output.offsets,
        best=rules.syntax_scores.output.best,
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/clark2019-table1.csv",
            caption="../report/clark2019-table1.rst",
            labels={"model": "{model}", "product": "Table 1, heads as parsers"},
            **CLARK_SYNTAX,
        ),
    log:
        f"{STUDY}/logs/syntax/{{model}}.table1.log",
    benchmark:
        f"{STUDY}/benchmarks/syntax/{{model}}.table1.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("syntax/clark2019_table1.py"),
        fewest=SYNTAX["fewest"],
        annotation=SYNTAX_ANNOTATION,
    script:
        "../workflow_scripts/syntax/clark2019_table1.py"


rule syntax_examples:
    input:
        attention=SYNTAX_CACHE,
        model=rules.model.output.model,
        trees=SYNTAX_TREES,
        scores=rules.syntax_scores.output.scores,
    output:
        examples=f"{STUDY}/{{model}}/syntax/examples.parquet",
    log:
        f"{STUDY}/logs/syntax/{{model}}.examples.log",
    benchmark:
        f"{STUDY}/benchmarks/syntax/{{model}}.examples.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("syntax/syntax_examples.py"),
        relations=SYNTAX["relations"],
        n_examples=SYNTAX["examples"],
        seed=config["seed"],
    script:
        "../workflow_scripts/syntax/syntax_examples.py"


rule clark2019_fig5:
    input:
        examples=rules.syntax_examples.output.examples,
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/clark2019-fig5.svg",
            caption="../report/clark2019-fig5.rst",
            labels={"model": "{model}", "product": "Figure 5, heads on example sentences"},
            **CLARK_SYNTAX,
        ),
        pdf=f"{STUDY}/{{model}}/figures/clark2019-fig5.pdf",
        png=f"{STUDY}/{{model}}/figures/clark2019-fig5.png",
    log:
        f"{STUDY}/logs/syntax/{{model}}.clark2019_fig5.log",
    benchmark:
        f"{STUDY}/benchmarks/syntax/{{model}}.clark2019_fig5.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("syntax/clark2019_fig5.py"),
        annotation=SYNTAX_ANNOTATION,
    script:
        "../workflow_scripts/syntax/clark2019_fig5.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/clark2019-fig5.{{kind}}",
    model=MODELS,
    kind=["svg", "pdf", "png"],
)
TABLES += expand(f"{STUDY}/{{model}}/tables/clark2019-table1.csv", model=MODELS)
