"""checkpoints: weights that the study itself trains."""

HEAD = config["checkpoints"]["mlm_head"]
HEAD_CORPUS = config.get("surface", {}).get("corpus", "none")
KOVALEVA = {"category": "Kovaleva et al. 2019"}


rule mlm_head:
    input:
        model=rules.model.output.model,
        training=f"{STUDY}/corpora/{HEAD_CORPUS}.training.jsonl",
        files=model_files,
    output:
        head=f"{STUDY}/{{model}}/checkpoints/mlm_head.safetensors",
        losses=report(
            f"{STUDY}/{{model}}/checkpoints/mlm_head.csv",
            caption="../report/mlm-head.rst",
            category="Clark et al. 2019",
            subcategory="3 Surface patterns",
            labels={"model": "{model}", "product": "masked-LM head of Figure 3"},
        ),
    log:
        f"{STUDY}/logs/checkpoints/{{model}}.mlm_head.log",
    benchmark:
        f"{STUDY}/benchmarks/checkpoints/{{model}}.mlm_head.tsv"
    priority: 10  # long: best not left for the end
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=gpu,
    params:
        code=code("checkpoints/mlm_head.py"),
        n_segments=HEAD["n_segments"],
        maskings=HEAD["maskings"],
        epochs=HEAD["epochs"],
        learning_rate=HEAD["learning_rate"],
        max_tokens=lambda w: TEXTS[HEAD_CORPUS]["max_tokens"],
        device=config["device"],
        seed=config["seed"],
    script:
        "../workflow_scripts/checkpoints/mlm_head.py"


rule finetune:
    input:
        model=rules.model.output.model,
        table=rules.task.output.table,
        files=model_files,
    output:
        checkpoint=directory(f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}"),
        card=f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}.json",
        metrics=f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}.metrics.csv",
        curve=f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}.curve.csv",
    log:
        f"{STUDY}/logs/checkpoints/{{model}}.{{task}}.{{init}}.{{seed}}.log",
    benchmark:
        f"{STUDY}/benchmarks/checkpoints/{{model}}.{{task}}.{{init}}.{{seed}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=6000,
        runtime=720,
        gpu=gpu,
    params:
        code=code("checkpoints/finetune.py"),
        work=f"{STUDY}/{{model}}/checkpoints/{{task}}.{{init}}.{{seed}}.work",
        task=lambda w: w.task,
        init=lambda w: w.init,
        recipe=recipe,
        every_epoch=lambda w: w.task in FINETUNE["every_epoch"],
        max_tokens=lambda w: TASKS[w.task]["max_tokens"],
        device=config["device"],
    script:
        "../workflow_scripts/checkpoints/finetune.py"


rule kovaleva2019_table1:
    input:
        metrics=expand(
            f"{STUDY}/{{{{model}}}}/checkpoints/{{task}}.{{init}}.{{seed}}.metrics.csv",
            task=TASKS,
            init=FINETUNE["inits"],
            seed=FINETUNE["seeds"],
        ),
        counts=expand(f"{STUDY}/tasks/{{task}}.counts.csv", task=TASKS),
    output:
        table=report(
            f"{STUDY}/{{model}}/tables/kovaleva2019-table1.csv",
            caption="../report/kovaleva2019-table1.rst",
            labels={"model": "{model}", "product": "Table 1, scores by initialisation"},
            **KOVALEVA,
        ),
    log:
        f"{STUDY}/logs/checkpoints/{{model}}.kovaleva2019_table1.log",
    benchmark:
        f"{STUDY}/benchmarks/checkpoints/{{model}}.kovaleva2019_table1.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code("checkpoints/kovaleva2019_table1.py"),
    script:
        "../workflow_scripts/checkpoints/kovaleva2019_table1.py"


if TASKS:
    TABLES += expand(f"{STUDY}/{{model}}/tables/kovaleva2019-table1.csv", model=MODELS)
