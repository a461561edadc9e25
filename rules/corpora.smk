"""corpora: every text that the study reads, prepared and checked."""


rule segments:
    input:
        files=files_of(TEXTS, "text"),
    output:
        segments=f"{STUDY}/corpora/{{text}}.jsonl",
        training=f"{STUDY}/corpora/{{text}}.training.jsonl",
        counts=report(
            f"{STUDY}/corpora/{{text}}.counts.csv",
            caption="../report/corpora-counts.rst",
            category="Corpora",
            labels={"corpus": "{text}", "table": "what was read and left out"},
        ),
    log:
        f"{STUDY}/logs/corpora/{{text}}.log",
    benchmark:
        f"{STUDY}/benchmarks/corpora/{{text}}.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("corpora/segments.py"),
        name=lambda w: w.text,
        source=lambda w: source_of(TEXTS[w.text]),
        n_segments=text_setting("n_segments"),
        min_words=text_setting("min_words"),
        training_share=text_setting("training_share"),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/segments.py"


rule treebank:
    input:
        files=files_of(TREEBANKS, "treebank"),
        text=parsed_text,
    output:
        sentences=f"{STUDY}/corpora/{{treebank}}.jsonl",
        annotation=f"{STUDY}/corpora/{{treebank}}.annotation.jsonl",
        counts=report(
            f"{STUDY}/corpora/{{treebank}}.counts.csv",
            caption="../report/treebank-counts.rst",
            category="Corpora",
            labels={"corpus": "{treebank}", "table": "what was read and left out"},
        ),
    log:
        f"{STUDY}/logs/corpora/{{treebank}}.log",
    benchmark:
        f"{STUDY}/benchmarks/corpora/{{treebank}}.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("corpora/treebank.py"),
        name=lambda w: w.treebank,
        source=lambda w: source_of(TREEBANKS[w.treebank]),
        n_sentences=lambda w: TREEBANKS[w.treebank]["n_sentences"],
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/treebank.py"


rule coreference_corpus:
    input:
        files=coreference_files,
    output:
        documents=f"{STUDY}/corpora/{{coref}}.jsonl",
        annotation=f"{STUDY}/corpora/{{coref}}.annotation.jsonl",
        counts=report(
            f"{STUDY}/corpora/{{coref}}.counts.csv",
            caption="../report/coreference-counts.rst",
            category="Corpora",
            labels={"corpus": "{coref}", "table": "what was read and left out"},
        ),
    log:
        f"{STUDY}/logs/corpora/{{coref}}.log",
    benchmark:
        f"{STUDY}/benchmarks/corpora/{{coref}}.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("corpora/coreference_corpus.py"),
        name=lambda w: w.coref,
        source=lambda w: source_of(COREFERENCE[w.coref]),
        max_tokens=lambda w: COREFERENCE[w.coref]["max_tokens"],
        windows=lambda w: COREFERENCE[w.coref]["windows"],
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/coreference_corpus.py"


rule vectors:
    input:
        files=files_of(VECTORS, "vectors"),
        texts=vectors_texts,
    output:
        vectors=f"{STUDY}/corpora/{{vectors}}.vectors.safetensors",
        words=f"{STUDY}/corpora/{{vectors}}.words.txt",
        counts=f"{STUDY}/corpora/{{vectors}}.counts.csv",
    log:
        f"{STUDY}/logs/corpora/{{vectors}}.log",
    benchmark:
        f"{STUDY}/benchmarks/corpora/{{vectors}}.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("corpora/word_vectors.py"),
        source=lambda w: source_of(VECTORS[w.vectors]),
        dimensions=lambda w: VECTORS[w.vectors]["dimensions"],
        epochs=lambda w: VECTORS[w.vectors]["epochs"],
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/word_vectors.py"


rule frames_corpus:
    input:
        files=frames_files,
    output:
        sentences=f"{STUDY}/corpora/{{frames}}.jsonl",
        annotation=f"{STUDY}/corpora/{{frames}}.annotation.jsonl",
        counts=report(
            f"{STUDY}/corpora/{{frames}}.counts.csv",
            caption="../report/frame-counts.rst",
            category="Corpora",
            labels={"corpus": "{frames}", "table": "what was read and left out"},
        ),
    log:
        f"{STUDY}/logs/corpora/{{frames}}.log",
    benchmark:
        f"{STUDY}/benchmarks/corpora/{{frames}}.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("corpora/frames_corpus.py"),
        name=lambda w: w.frames,
        source=lambda w: source_of(FRAMES[w.frames]),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/frames_corpus.py"
