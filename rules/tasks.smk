"""tasks: the tables of GLUE tasks and of ARCT, prepared and checked."""

tasks = Products("tasks", COUNTS)

# The settings of a task that training does not read.
TASK_EVALUATED = ("n_dev", "domains")
# The directory of ARCT's files where the study generates them.
TASK_ARCT_DIRECTORY = ["<results>/tasks/arct.generate"] if "generate" in ARCT else []


use rule light_step as generate_task with:
    output:
        **folder("generated", "<results>/tasks/{task}.generated"),
    priority: 20  # short, and the longest chains begin here
    params:
        **step("tasks/generate_task.py"),
        name="{task}",
        n_train=lookup("{task}/generate/train", within=TASKS),
        n_dev=lookup("{task}/generate/dev", within=TASKS),
        seed=config["seed"],


use rule light_step as prepare_task with:
    input:
        **task_generated("generated"),
        files=files_of(TASKS, "task"),
        domains=domains_of,
    output:
        table="<results>/tasks/{task}.parquet",
        counts=tasks.counts("{task}", "task-counts", TASKS),
    priority: 20  # short, and the longest chains begin here
    params:
        **step("tasks/prepare_task.py"),
        name="{task}",
        source=source(TASKS, "task", ("n_train", "n_dev", "max_tokens")),
        n_train=lookup("{task}/n_train", within=TASKS),
        n_dev=lookup("{task}/n_dev", within=TASKS),
        seed=config["seed"],
        aside=bool(ADOPTED) and not TRAINED,


# What is trained on, apart: what is evaluated on trains nothing again.
use rule generate_task as generate_training with:
    output:
        **folder("generated", "<results>/tasks/{task}.training.generated"),
    params:
        n_dev=0,


use rule light_step as prepare_training with:
    input:
        **task_generated("training.generated"),
        files=lambda w: training_files(TASKS[w.task].get("path"), ("dev", "test")),
    output:
        training="<results>/tasks/{task}.training.parquet",
    priority: 20  # short, and the longest chains begin here
    params:
        **step("tasks/prepare_training.py"),
        name="{task}",
        source=source(TASKS, "task", TASK_EVALUATED + ("n_train", "max_tokens", "generate")),
        n_train=lookup("{task}/n_train", within=TASKS),
        seed=config["seed"],


use rule light_step as task_annotation with:
    input:
        table=rules.prepare_task.output.table,
    output:
        examples="<results>/tasks/{task}.jsonl",
        annotation="<results>/tasks/{task}.annotation.jsonl",
    params:
        **step("tasks/task_annotation.py"),
        n_examples=config["attention"]["task_examples"],
        spacy=config["attention"]["spacy"],
        seed=config["seed"],


use rule light_step as generate_arct with:
    output:
        **folder("generated", "<results>/tasks/arct.generate"),
    params:
        **step("tasks/generate_arct.py"),
        numbers=ARCT.get("generate"),
        seed=config["seed"],


use rule generate_arct as generate_arct_training with:
    output:
        **folder("generated", "<results>/tasks/arct.training.generate"),
    params:
        numbers=without(ARCT.get("generate", {}), ("test",)),


use rule light_step as prepare_arct with:
    input:
        **contents(directory=TASK_ARCT_DIRECTORY),
        files=local_files(ARCT.get("path")),
    output:
        table="<results>/tasks/arct.points.parquet",
        counts=tasks.counts(
            "arct.points", "arct-counts", ["arct.points"] if "arguments" in config else []
        ),
    params:
        **step("tasks/prepare_arct.py"),
        source=without(ARCT, ("adversarial", "n_train")),
        adversarial=ARCT.get("adversarial"),
        n_train=ARCT.get("n_train", 0),
        seed=config["seed"],


# What is trained on and what chooses an epoch, apart from the test set.
use rule prepare_arct as prepare_arct_training with:
    input:
        **contents(
            directory=["<results>/tasks/arct.training.generate"] if "generate" in ARCT else []
        ),
        files=training_files(ARCT.get("path"), ("test", "truth")),
    output:
        table="<results>/tasks/arct.training.parquet",
    params:
        source=without(ARCT, ("adversarial", "n_train", "generate")),
        splits=["train", "dev"],
