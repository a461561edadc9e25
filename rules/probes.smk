"""probes: parsers that read attention (Clark et al. 2019, section 5)."""

probes = Products("probes", "clark2019", "5 Probes")

PROBES = config["probes"]
PROBE_TREEBANK = PROBES["treebank"]
PROBE_ANNOTATION = "silver" if "parse" in TREEBANKS[PROBE_TREEBANK] else "gold"
# The settings that training reads; the corpora are inputs.
PROBE_SETTINGS = without(PROBES, ("treebank", "vectors")) | {"bootstrap": config["bootstrap"]}


use rule model_step as random_body with:
    input:
        **MODEL,
        corpus=f"<results>/corpora/{PROBE_TREEBANK}.jsonl",
    output:
        attention_cache=temp("<results>/{model}/probes/random_body.h5"),
    priority: 10  # the probes, which are long, wait for it
    params:
        **step("probes/random_body.py"),
        max_tokens=TREEBANKS[PROBE_TREEBANK]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],
        precision=config["precision"],
        seed=config["seed"],


use rule model_step as train_probes with:
    input:
        **MODEL,
        attention=f"<results>/{{model}}/attention/{PROBE_TREEBANK}.h5",
        random_attention=rules.random_body.output.attention_cache,
        corpus=f"<results>/corpora/{PROBE_TREEBANK}.jsonl",
        trees=f"<results>/corpora/{PROBE_TREEBANK}.annotation.jsonl",
        vectors=f"<results>/corpora/{PROBES['vectors']}.vectors.safetensors",
        words=f"<results>/corpora/{PROBES['vectors']}.words.txt",
    output:
        **folder("probes", "<results>/{model}/probes/models"),
        scores="<results>/{model}/probes/scores.parquet",
        counts="<results>/{model}/probes/counts.parquet",
        rates="<results>/{model}/probes/rates.parquet",
    priority: 10  # long: best not left for the end
    resources:
        **(TRAINING_JOB | {"mem_mb": memory(4000, 2)}),  # a cache is held whole
    params:
        **step("probes/train_probes.py"),
        settings=PROBE_SETTINGS,
        max_tokens=TREEBANKS[PROBE_TREEBANK]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],
        seed=config["seed"],


use rule light_step as clark2019_table3 with:
    input:
        scores=rules.train_probes.output.scores,
        counts=rules.train_probes.output.counts,
    output:
        table=probes.table("clark2019-table3", "Table 3, probes of attention"),
        differences=probes.table("clark2019-probe-pairs", "differences between probes"),
    params:
        **step("probes/figures.py"),
        **INTERVALS,
        figure="clark2019_table3",
        annotation=PROBE_ANNOTATION,
        released_pairing=PROBES["released_pairing"],
