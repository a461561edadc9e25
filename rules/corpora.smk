"""corpora: every text that the study reads, prepared and checked.

What is fetched is fetched where snakemake runs: other nodes often have no network.
"""

corpora = Products("corpora", COUNTS)

from workflow_scripts.core.data import annotations
from workflow_scripts.corpora import articles, tree_files

CORPORA_SEGMENTS = ("n_segments", "max_tokens", "min_words")
CORPORA_FRAME_FILTERS = config.get("frames", {}).get("filters", "paper")


use rule light_step as fetch_sdist with:
    output:
        **folder("fetched", f"{downloads.SDISTS}/{{requirement}}"),
    priority: 20  # short, and the longest chains begin here
    retries: 2  # of the network
    params:
        **step("corpora/fetch_sdist.py"),
        requirement="{requirement}",
        sha256=lookup("{requirement}", within=SDISTS),


use rule light_step as fetch_source with:
    output:
        **folder("fetched", f"{downloads.FOLDER}/{{download}}"),
    priority: 20  # short, and the longest chains begin here
    retries: 2  # of the network
    params:
        **step("corpora/fetch_source.py"),
        source="{download}",
        digest=lambda w: downloads.sources()[w.download].digest,
    message:
        "{rule} makes {output} (downloads, log: {log})"


use rule light_step as segments with:
    input:
        files=files_of(TEXTS, "text", endings=articles.ENDINGS),
    output:
        segments="<results>/corpora/{text}.jsonl",
        training="<results>/corpora/{text}.training.jsonl",
        counts=corpora.counts("{text}", "corpora-counts", used(TEXTS)),
    priority: 20  # short, and the longest chains begin here
    params:
        **step("corpora/segments.py"),
        **{key: lookup(f"{{text}}/{key}", within=TEXTS) for key in CORPORA_SEGMENTS},
        name="{text}",
        source=source(TEXTS, "text", ("segments", *CORPORA_SEGMENTS, "training_share")),
        cut=lookup("{text}/segments", within=TEXTS),
        training_share=lambda w: training_share(config, w.text),
        seed=config["seed"],


use rule light_step as treebank with:
    input:
        files=files_of(TREEBANKS, "treebank", endings=tree_files.ENDINGS),
        text=text_of(TREEBANKS, "treebank", "parse", ("jsonl",)),
    output:
        sentences="<results>/corpora/{treebank}.jsonl",
        annotation="<results>/corpora/{treebank}.annotation.jsonl",
        counts=corpora.counts("{treebank}", "treebank-counts", used(TREEBANKS)),
    params:
        **step("corpora/treebank.py"),
        name="{treebank}",
        source=source(TREEBANKS, "treebank", ("n_sentences", "max_tokens")),
        n_sentences=lookup("{treebank}/n_sentences", within=TREEBANKS),
        seed=config["seed"],


use rule light_step as coreference_corpus with:
    input:
        files=files_of(
            COREFERENCE,
            "coref",
            ("path", "trees"),
            endings=(*annotations.COREFERENCE_ENDINGS, *tree_files.ENDINGS),
        ),
    output:
        documents="<results>/corpora/{coref}.jsonl",
        annotation="<results>/corpora/{coref}.annotation.jsonl",
        counts=corpora.counts("{coref}", "coreference-counts", used(COREFERENCE)),
    params:
        **step("corpora/coreference_corpus.py"),
        name="{coref}",
        source=source(COREFERENCE, "coref", ("max_tokens", "windows", "singletons")),
        max_tokens=lookup("{coref}/max_tokens", within=COREFERENCE),
        windows=lookup("{coref}/windows", within=COREFERENCE),
        singletons=lookup("{coref}/singletons", within=COREFERENCE),
        seed=config["seed"],


use rule analysis_step as word_vectors with:
    input:
        files=files_of(VECTORS, "vectors"),
        texts=text_of(VECTORS, "vectors", "train", ("training.jsonl", "jsonl")),
    output:
        vectors="<results>/corpora/{vectors}.vectors.safetensors",
        words="<results>/corpora/{vectors}.words.txt",
        counts="<results>/corpora/{vectors}.counts.csv",
    resources:
        mem_mb=memory(4000, 1),  # GloVe's largest file has 5.6 GB
    params:
        **step("corpora/word_vectors.py"),
        source=source(VECTORS, "vectors", ("dimensions", "epochs")),
        dimensions=lookup("{vectors}/dimensions", within=VECTORS),
        epochs=lookup("{vectors}/epochs", within=VECTORS),
        seed=config["seed"],


use rule light_step as frames_corpus with:
    input:
        files=files_of(FRAMES, "frames", folder="lu"),
        definitions=corpora_definitions,
    output:
        sentences="<results>/corpora/{frames}.jsonl",
        annotation="<results>/corpora/{frames}.annotation.jsonl",
        counts=corpora.counts("{frames}", "frame-counts", used(FRAMES)),
    params:
        **step("corpora/frames_corpus.py"),
        name="{frames}",
        source=source(FRAMES, "frames", ("max_tokens",)),
        filters=CORPORA_FRAME_FILTERS,
        seed=config["seed"],
