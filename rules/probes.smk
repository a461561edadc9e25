"""probes: parsers that read attention (Clark et al. 2019, section 5)."""

PROBES = config["probes"]
PROBED = PROBES["treebank"]
PROBED_ANNOTATION = "silver" if "parse" in TREEBANKS[PROBED] else "gold"
# The settings that training reads; the corpora are inputs.
PROBE_SETTINGS = {key: PROBES[key] for key in PROBES if key not in ("treebank", "vectors")}


rule random_body:
    input:
        model=rules.model.output.model,
        corpus=f"{STUDY}/corpora/{PROBED}.jsonl",
        files=model_files,
    output:
        attention_cache=temp(f"{STUDY}/{{model}}/probes/random_body.h5"),
    log:
        f"{STUDY}/logs/probes/{{model}}.random_body.log",
    benchmark:
        f"{STUDY}/benchmarks/probes/{{model}}.random_body.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("probes/random_body.py"),
        max_tokens=TREEBANKS[PROBED]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        precision=config["precision"],
        seed=config["seed"],
    script:
        "../workflow_scripts/probes/random_body.py"


rule probes:
    input:
        attention=f"{STUDY}/{{model}}/attention/{PROBED}.h5",
        random_attention=rules.random_body.output.attention_cache,
        model=rules.model.output.model,
        corpus=f"{STUDY}/corpora/{PROBED}.jsonl",
        trees=f"{STUDY}/corpora/{PROBED}.annotation.jsonl",
        vectors=f"{STUDY}/corpora/{PROBES['vectors']}.vectors.safetensors",
        words=f"{STUDY}/corpora/{PROBES['vectors']}.words.txt",
        files=model_files,
    output:
        scores=f"{STUDY}/{{model}}/probes/scores.parquet",
        probes=directory(f"{STUDY}/{{model}}/probes/models"),
    log:
        f"{STUDY}/logs/probes/{{model}}.probes.log",
    benchmark:
        f"{STUDY}/benchmarks/probes/{{model}}.probes.tsv"
    priority: 10  # long: best not left for the end
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=6000,
        runtime=240,
        gpu=gpu,
    params:
        code=code("probes/train_probes.py"),
        settings=PROBE_SETTINGS,
        max_tokens=TREEBANKS[PROBED]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        seed=config["seed"],
    script:
        "../workflow_scripts/probes/train_probes.py"


rule clark2019_table3:
    input:
        scores=rules.probes.output.scores,
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/clark2019-table3.csv",
            caption="../report/clark2019-table3.rst",
            category="Clark et al. 2019",
            subcategory="5 Probes",
            labels={"model": "{model}", "product": "Table 3, probes of attention"},
        ),
    log:
        f"{STUDY}/logs/probes/{{model}}.table3.log",
    benchmark:
        f"{STUDY}/benchmarks/probes/{{model}}.table3.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("probes/clark2019_table3.py"),
        annotation=PROBED_ANNOTATION,
    script:
        "../workflow_scripts/probes/clark2019_table3.py"


TABLES += expand(f"{STUDY}/{{model}}/tables/clark2019-table3.csv", model=MODELS)
