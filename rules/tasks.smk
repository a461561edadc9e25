"""tasks: the tables of GLUE tasks and of ARCT, prepared and checked."""


# What is fetched is fetched where snakemake runs: other nodes often have no network.
localrules:
    generate_task,
    prepare_task,
    task_annotation,
    generate_arct,
    fetch_arct,
    prepare_arct,


# The directory that the study's own grammar writes a task into.
GENERATED = {
    task: [f"<results>/tasks/{task}.generated"] if "generate" in entry else []
    for task, entry in TASKS.items()
}
# The directory of ARCT's files where the study generates or fetches them.
ARCT_DIRECTORY = [
    f"<results>/tasks/arct.{kind}" for kind in ("generate", "fetch") if ARCT.get(kind)
]
# ARCT's local files, and those in the folders beside them.
ARCT_PATHS = [ARCT[key] for key in ("path", "test", "truth") if key in ARCT]
ARCT_PATHS += sorted(map(str, Path(ARCT["path"]).glob("*/"))) if "path" in ARCT else []
ARCT_FILES = [file for path in ARCT_PATHS for file in local_files(path)]


rule generate_task:
    output:
        generated=directory("<results>/tasks/{task}.generated"),
    log:
        "<logs>/tasks/{task}.generate_task.log",
    benchmark:
        "<benchmarks>/tasks/{task}.generate_task.tsv"
    priority: 20  # short, and the longest chains begin here
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("tasks/generate_task.py"),
        name="{task}",
        n_train=setting(TASKS, "task", "generate", "train"),
        n_dev=setting(TASKS, "task", "generate", "dev"),
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/generate_task.py"


rule prepare_task:
    input:
        files=files_of(TASKS, "task"),
        domains=domains_of(TASKS, "task"),
        generated=setting(GENERATED, "task"),
    output:
        table="<results>/tasks/{task}.parquet",
        counts=counts("tasks", "{task}", "task-counts", TASKS),
    log:
        "<logs>/tasks/{task}.prepare_task.log",
    benchmark:
        "<benchmarks>/tasks/{task}.prepare_task.tsv"
    priority: 20  # short, and the longest chains begin here
    retries: 2
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("tasks/prepare_task.py"),
        name="{task}",
        source=source(TASKS, "task", ("n_train", "n_dev", "max_tokens")),
        n_train=setting(TASKS, "task", "n_train"),
        n_dev=setting(TASKS, "task", "n_dev"),
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/prepare_task.py"


rule task_annotation:
    input:
        table=rules.prepare_task.output.table,
    output:
        examples="<results>/tasks/{task}.jsonl",
        annotation="<results>/tasks/{task}.annotation.jsonl",
    log:
        "<logs>/tasks/{task}.task_annotation.log",
    benchmark:
        "<benchmarks>/tasks/{task}.task_annotation.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("tasks/task_annotation.py"),
        n_examples=config["attention"]["task_examples"],
        spacy=config["attention"]["spacy"],
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/task_annotation.py"


rule generate_arct:
    output:
        generated=directory("<results>/tasks/arct.generate"),
    log:
        "<logs>/tasks/generate_arct.log",
    benchmark:
        "<benchmarks>/tasks/generate_arct.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("tasks/generate_arct.py"),
        numbers=ARCT.get("generate"),
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/generate_arct.py"


rule fetch_arct:
    output:
        fetched=directory("<results>/tasks/arct.fetch"),
    log:
        "<logs>/tasks/fetch_arct.log",
    benchmark:
        "<benchmarks>/tasks/fetch_arct.tsv"
    retries: 2
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("tasks/fetch_arct.py"),
        checksums=ARCT.get("sha256", {}),
    script:
        "../workflow_scripts/tasks/fetch_arct.py"


rule prepare_arct:
    input:
        files=ARCT_FILES,
        directory=ARCT_DIRECTORY,
    output:
        table="<results>/tasks/arct.points.parquet",
        counts=counts(
            "tasks", "arct.points", "arct-counts", ["arct.points"] * ("arguments" in config)
        ),
    log:
        "<logs>/tasks/prepare_arct.log",
    benchmark:
        "<benchmarks>/tasks/prepare_arct.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        code=code("tasks/prepare_arct.py"),
        source=without(ARCT, ("adversarial", "n_train", "sha256")),
        adversarial=ARCT.get("adversarial"),
        n_train=ARCT.get("n_train", 0),
        seed=config["seed"],
    script:
        "../workflow_scripts/tasks/prepare_arct.py"
