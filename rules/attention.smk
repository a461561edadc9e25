"""attention: the model's card and the HDF5 caches of its attention."""


rule model:
    input:
        files=model_files,
    output:
        model=f"{STUDY}/{{model}}/attention/model.json",
    log:
        f"{STUDY}/logs/attention/{{model}}.model.log",
    benchmark:
        f"{STUDY}/benchmarks/attention/{{model}}.model.tsv"
    retries: 2
    conda:
        "../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=code("attention/model_card.py"),
        source=model_source,
        name=lambda w: w.model,
    script:
        "../workflow_scripts/attention/model_card.py"


rule extract:
    input:
        model=rules.model.output.model,
        corpus=f"{STUDY}/corpora/{{corpus}}.jsonl",
        files=model_files,
    output:
        shard=f"{STUDY}/{{model}}/attention/{{corpus}}.shards/{{scatteritem}}.h5",
    log:
        f"{STUDY}/logs/attention/{{model}}.{{corpus}}.{{scatteritem}}.log",
    benchmark:
        f"{STUDY}/benchmarks/attention/{{model}}.{{corpus}}.{{scatteritem}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("attention/extract.py"),
        part=lambda w: w.scatteritem,
        max_tokens=max_tokens,
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        precision=config["precision"],
    script:
        "../workflow_scripts/attention/extract.py"


rule join:
    input:
        shards=gather.attention(
            f"{STUDY}/{{{{model}}}}/attention/{{{{corpus}}}}.shards/{{scatteritem}}.h5"
        ),
    output:
        attention=f"{STUDY}/{{model}}/attention/{{corpus}}.h5",
    log:
        f"{STUDY}/logs/attention/{{model}}.{{corpus}}.join.log",
    benchmark:
        f"{STUDY}/benchmarks/attention/{{model}}.{{corpus}}.join.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("attention/join_shards.py"),
    script:
        "../workflow_scripts/attention/join_shards.py"


rule extract_task:
    input:
        model=rules.model.output.model,
        corpus=f"{STUDY}/tasks/{{task}}.jsonl",
        files=model_files,
    output:
        shard=f"{STUDY}/{{model}}/attention/{{task}}.h5",
    log:
        f"{STUDY}/logs/attention/{{model}}.{{task}}.log",
    benchmark:
        f"{STUDY}/benchmarks/attention/{{model}}.{{task}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("attention/extract.py"),
        max_tokens=lambda w: TASKS[w.task]["max_tokens"],
        batch_tokens=config["attention"]["batch_tokens"],
        device=config["device"],
        precision=config["precision"],
    script:
        "../workflow_scripts/attention/extract.py"


use rule extract_task as extract_checkpoint with:
    input:
        model=f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}.json",
        corpus=f"{STUDY}/tasks/{{task}}.jsonl",
        files=f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}",
    output:
        shard=f"{STUDY}/{{model}}/attention/{{task}}.{{init}}.{{seed}}.h5",
    log:
        f"{STUDY}/logs/attention/{{model}}.{{task}}.{{init}}.{{seed}}.log",
    benchmark:
        f"{STUDY}/benchmarks/attention/{{model}}.{{task}}.{{init}}.{{seed}}.tsv"
