"""arguments: cues in the warrants, made once for all models (Niven and Kao 2019, section 4)."""


localrules:
    argument_cues,
    niven2019_cues,


CUES = NIVEN | {"subcategory": "4 Statistical cues"}


rule argument_cues:
    input:
        table=rules.prepare_arct.output.table,
    output:
        cues="<results>/arguments/cues.parquet",
    log:
        "<logs>/arguments/argument_cues.log",
    benchmark:
        "<benchmarks>/arguments/argument_cues.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/argument_cues.py"),
        cue=ARGUMENTS["cues"]["cue"],
        sizes=ARGUMENTS["cues"]["sizes"],
        same=ARGUMENTS["cues"]["same"],
        min_coverage=ARGUMENTS["cues"]["coverage"],
    script:
        "../workflow_scripts/arguments/argument_cues.py"


rule niven2019_cues:
    input:
        cues=rules.argument_cues.output.cues,
        counts=rules.prepare_arct.output.counts,
    output:
        **figure("niven2019-cues", "cues, productivity against coverage", CUES, per_model=False),
        table2=table("niven2019-table2", "Table 2, one cue", CUES, per_model=False),
        all_cues=table(
            "niven2019-cues",
            "all cues",
            CUES,
            caption="niven2019-cues-table",
            per_model=False,
        ),
    log:
        "<logs>/arguments/niven2019_cues.log",
    benchmark:
        "<benchmarks>/arguments/niven2019_cues.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("arguments/niven2019_cues.py"),
        cue=ARGUMENTS["cues"]["cue"],
    script:
        "../workflow_scripts/arguments/niven2019_cues.py"
