"""tasks: GLUE tables, prepared and checked."""


rule generated_task:
    output:
        generated=directory(f"{STUDY}/tasks/{{task}}.generated"),
    log:
        f"{STUDY}/logs/tasks/{{task}}.generated.log",
    benchmark:
        f"{STUDY}/benchmarks/tasks/{{task}}.generated.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code("tasks/generate_task.py"),
        name=lambda w: w.task,
        n_train=lambda w: TASKS[w.task]["generate"]["train"],
        n_dev=lambda w: TASKS[w.task]["generate"]["dev"],
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/generate_task.py"


rule task:
    input:
        files=files_of(TASKS, "task"),
        generated=generated_files,
    output:
        table=f"{STUDY}/tasks/{{task}}.parquet",
        counts=report(
            f"{STUDY}/tasks/{{task}}.counts.csv",
            caption="../report/task-counts.rst",
            category="Corpora",
            labels={"corpus": "{task}", "table": "what was read and left out"},
        ),
    log:
        f"{STUDY}/logs/tasks/{{task}}.log",
    benchmark:
        f"{STUDY}/benchmarks/tasks/{{task}}.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("tasks/prepare_task.py"),
        name=lambda w: w.task,
        source=lambda w: source_of(TASKS[w.task]),
        n_train=lambda w: TASKS[w.task]["n_train"],
        n_dev=lambda w: TASKS[w.task]["n_dev"],
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/prepare_task.py"


rule task_annotation:
    input:
        table=rules.task.output.table,
    output:
        examples=f"{STUDY}/tasks/{{task}}.jsonl",
        annotation=f"{STUDY}/tasks/{{task}}.annotation.jsonl",
    log:
        f"{STUDY}/logs/tasks/{{task}}.annotation.log",
    benchmark:
        f"{STUDY}/benchmarks/tasks/{{task}}.annotation.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("tasks/task_annotation.py"),
        n_examples=config["attention"]["task_examples"],
        spacy=config["attention"]["spacy"],
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/task_annotation.py"


rule arct_generated:
    output:
        generated=directory(f"{STUDY}/tasks/arct.generate"),
    log:
        f"{STUDY}/logs/tasks/arct_generated.log",
    benchmark:
        f"{STUDY}/benchmarks/tasks/arct_generated.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code("tasks/generate_arct.py"),
        numbers=ARCT.get("generate"),
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/generate_arct.py"


rule arct_fetched:
    output:
        fetched=directory(f"{STUDY}/tasks/arct.fetch"),
    log:
        f"{STUDY}/logs/tasks/arct_fetched.log",
    benchmark:
        f"{STUDY}/benchmarks/tasks/arct_fetched.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=30,
    params:
        code=code("tasks/fetch_arct.py"),
        checksums=ARCT.get("sha256", {}),
    script:
        "../workflow_scripts/tasks/fetch_arct.py"


rule arct:
    input:
        files=arct_files,
        place=arct_place,
    output:
        table=f"{STUDY}/tasks/arct.points.parquet",
        counts=report(
            f"{STUDY}/tasks/arct.points.counts.csv",
            caption="../report/arct-counts.rst",
            category="Corpora",
            labels={"corpus": "arct", "table": "what was read and built"},
        ),
    log:
        f"{STUDY}/logs/tasks/arct.points.log",
    benchmark:
        f"{STUDY}/benchmarks/tasks/arct.points.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("tasks/prepare_arct.py"),
        source=source_of(ARCT),
        adversarial=ARCT.get("adversarial"),
        n_train=ARCT.get("n_train", 0),
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/prepare_arct.py"
