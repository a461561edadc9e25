"""corpora: every text that the study reads, prepared and checked."""


rule segments:
    input:
        files=text_files,
    output:
        segments=f"{STUDY}/corpora/{{corpus}}.jsonl",
        training=f"{STUDY}/corpora/{{corpus}}.training.jsonl",
        counts=report(
            f"{STUDY}/corpora/{{corpus}}.counts.csv",
            caption="../report/corpora-counts.rst",
            category="Corpora",
            labels={"corpus": "{corpus}", "table": "what was read and left out"},
        ),
    log:
        f"{STUDY}/logs/corpora/{{corpus}}.log",
    benchmark:
        f"{STUDY}/benchmarks/corpora/{{corpus}}.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("corpora/segments.py"),
        name=lambda w: w.corpus,
        source=text_source,
        n_segments=text_setting("n_segments"),
        min_words=text_setting("min_words"),
        training_share=text_setting("training_share"),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/segments.py"
