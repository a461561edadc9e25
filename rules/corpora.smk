"""corpora: every text that the study reads, prepared and checked."""


# What is fetched is fetched where snakemake runs: other nodes often have no network.
localrules:
    fetch_sdist,
    segments,
    treebank,
    coreference_corpus,
    frames_corpus,


SEGMENT_SETTINGS = ("n_segments", "max_tokens", "min_words", "training_share")
FRAME_FILTERS = config.get("frames", {}).get("filters", "paper")


rule fetch_sdist:
    output:
        fetched=directory(f"{sdists.FOLDER}/{{requirement}}"),
    log:
        "<logs>/corpora/{requirement}.fetch_sdist.log",
    benchmark:
        "<benchmarks>/corpora/{requirement}.fetch_sdist.tsv"
    priority: 20  # short, and the longest chains begin here
    retries: 2
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("corpora/fetch_sdist.py"),
        requirement="{requirement}",
        sha256=setting(SDISTS, "requirement"),
    script:
        "../workflow_scripts/corpora/fetch_sdist.py"


rule segments:
    input:
        files=files_of(TEXTS, "text"),
    output:
        segments="<results>/corpora/{text}.jsonl",
        training="<results>/corpora/{text}.training.jsonl",
        counts=counts("corpora", "{text}", "corpora-counts", used(TEXTS)),
    log:
        "<logs>/corpora/{text}.segments.log",
    benchmark:
        "<benchmarks>/corpora/{text}.segments.tsv"
    priority: 20  # short, and the longest chains begin here
    retries: 2
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("corpora/segments.py"),
        name="{text}",
        source=source(TEXTS, "text", SEGMENT_SETTINGS),
        n_segments=setting(TEXTS, "text", "n_segments"),
        min_words=setting(TEXTS, "text", "min_words"),
        training_share=setting(TEXTS, "text", "training_share"),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/segments.py"


rule treebank:
    input:
        files=files_of(TREEBANKS, "treebank"),
        text=text_of(TREEBANKS, "treebank", "parse", ("jsonl",)),
    output:
        sentences="<results>/corpora/{treebank}.jsonl",
        annotation="<results>/corpora/{treebank}.annotation.jsonl",
        counts=counts("corpora", "{treebank}", "treebank-counts", used(TREEBANKS)),
    log:
        "<logs>/corpora/{treebank}.treebank.log",
    benchmark:
        "<benchmarks>/corpora/{treebank}.treebank.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("corpora/treebank.py"),
        name="{treebank}",
        source=source(TREEBANKS, "treebank", ("n_sentences", "max_tokens")),
        n_sentences=setting(TREEBANKS, "treebank", "n_sentences"),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/treebank.py"


rule coreference_corpus:
    input:
        files=files_of(COREFERENCE, "coref", ("path", "trees")),
    output:
        documents="<results>/corpora/{coref}.jsonl",
        annotation="<results>/corpora/{coref}.annotation.jsonl",
        counts=counts("corpora", "{coref}", "coreference-counts", used(COREFERENCE)),
    log:
        "<logs>/corpora/{coref}.coreference_corpus.log",
    benchmark:
        "<benchmarks>/corpora/{coref}.coreference_corpus.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("corpora/coreference_corpus.py"),
        name="{coref}",
        source=source(COREFERENCE, "coref", ("max_tokens", "windows", "singletons")),
        max_tokens=setting(COREFERENCE, "coref", "max_tokens"),
        windows=setting(COREFERENCE, "coref", "windows"),
        singletons=setting(COREFERENCE, "coref", "singletons"),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/coreference_corpus.py"


rule word_vectors:
    input:
        files=files_of(VECTORS, "vectors"),
        texts=text_of(VECTORS, "vectors", "train", ("training.jsonl", "jsonl")),
    output:
        vectors="<results>/corpora/{vectors}.vectors.safetensors",
        words="<results>/corpora/{vectors}.words.txt",
        counts="<results>/corpora/{vectors}.counts.csv",
    log:
        "<logs>/corpora/{vectors}.word_vectors.log",
    benchmark:
        "<benchmarks>/corpora/{vectors}.word_vectors.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=memory(4000, 1),  # GloVe's largest file has 5.6 GB
    params:
        code=code("corpora/word_vectors.py"),
        source=source(VECTORS, "vectors", ("dimensions", "epochs")),
        dimensions=setting(VECTORS, "vectors", "dimensions"),
        epochs=setting(VECTORS, "vectors", "epochs"),
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/word_vectors.py"


rule frames_corpus:
    input:
        files=files_of(FRAMES, "frames", folder="lu"),
        definitions=(
            files_of(FRAMES, "frames", folder="frame") if FRAME_FILTERS == "released" else []
        ),
    output:
        sentences="<results>/corpora/{frames}.jsonl",
        annotation="<results>/corpora/{frames}.annotation.jsonl",
        counts=counts("corpora", "{frames}", "frame-counts", used(FRAMES)),
    log:
        "<logs>/corpora/{frames}.frames_corpus.log",
    benchmark:
        "<benchmarks>/corpora/{frames}.frames_corpus.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("corpora/frames_corpus.py"),
        name="{frames}",
        source=source(FRAMES, "frames", ("max_tokens",)),
        filters=FRAME_FILTERS,
        seed=config["seed"],
    script:
        "../workflow_scripts/corpora/frames_corpus.py"
