"""pruning: head importance, iterative pruning, heads removed for good (Michel et al., 4 to 6)."""

PRUNING = config["pruning"]
MICHEL_PRUNING = MICHEL | {"subcategory": "4 and 6 Pruning heads"}
KEPT_EPOCHS = [task for task in TASKS if task in FINETUNE["every_epoch"]]
# Table 4 is of MNLI in the paper.
TIMED = "mnli" if "mnli" in TASKS else next(iter(TASKS))


rule curves:
    input:
        card=rules.finetune.output.card,
        checkpoint=rules.finetune.output.checkpoint,
        table=rules.task.output.table,
        logits=rules.sweep.output.logits,
    output:
        importance=f"{STUDY}/{{model}}/pruning/{{task}}.{{init}}.{{seed}}.importance.parquet",
        curves=f"{STUDY}/{{model}}/pruning/{{task}}.{{init}}.{{seed}}.curves.parquet",
        order=f"{STUDY}/{{model}}/pruning/{{task}}.{{init}}.{{seed}}.order.parquet",
    log:
        f"{STUDY}/logs/pruning/{{model}}.{{task}}.{{init}}.{{seed}}.curves.log",
    benchmark:
        f"{STUDY}/benchmarks/pruning/{{model}}.{{task}}.{{init}}.{{seed}}.curves.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=4000,
        runtime=480,
        gpu=gpu,
    params:
        code=code("pruning/pruning_curves.py"),
        task=lambda w: w.task,
        init=lambda w: w.init,
        seed=lambda w: int(w.seed),
        step=PRUNING["step"],
        strategies=PRUNING["strategies"],
        variant=PRUNING["importance"]["variant"],
        normalise=PRUNING["importance"]["normalise"],
        recompute=PRUNING["importance"]["recompute"],
        draws=PRUNING["draws"],
        bootstrap=PRUNING["bootstrap"],
        examples=PRUNING["examples"],
        dev_examples=ABLATION["examples"],
        max_tokens=lambda w: TASKS[w.task]["max_tokens"],
        pass_tokens=ABLATION["pass_tokens"],
        precision=config["precision"],
        device=config["device"],
    script:
        "../workflow_scripts/pruning/pruning_curves.py"


rule training:
    input:
        card=rules.finetune.output.card,
        checkpoint=rules.finetune.output.checkpoint,
        table=rules.task.output.table,
    output:
        curves=f"{STUDY}/{{model}}/pruning/{{task}}.{{init}}.{{seed}}.training.parquet",
        importance=f"{STUDY}/{{model}}/pruning/{{task}}.{{init}}.{{seed}}.epochs.parquet",
    log:
        f"{STUDY}/logs/pruning/{{model}}.{{task}}.{{init}}.{{seed}}.training.log",
    benchmark:
        f"{STUDY}/benchmarks/pruning/{{model}}.{{task}}.{{init}}.{{seed}}.training.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=4000,
        runtime=480,
        gpu=gpu,
    params:
        code=code("pruning/pruning_during_training.py"),
        task=lambda w: w.task,
        init=lambda w: w.init,
        seed=lambda w: int(w.seed),
        step=PRUNING["step"],
        variant=PRUNING["importance"]["variant"],
        normalise=PRUNING["importance"]["normalise"],
        examples=PRUNING["examples"],
        dev_examples=ABLATION["examples"],
        max_tokens=lambda w: TASKS[w.task]["max_tokens"],
        pass_tokens=ABLATION["pass_tokens"],
        precision=config["precision"],
        device=config["device"],
    script:
        "../workflow_scripts/pruning/pruning_during_training.py"


PRUNED = {"task": TASKS, "init": "pretrained", "seed": SEEDS, "allow_missing": True}
EPOCHS = PRUNED | {"task": KEPT_EPOCHS}


rule michel2019_importance:
    input:
        importance=expand(rules.curves.output.importance, **PRUNED),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/michel2019-importance.svg",
            caption="../report/michel2019-importance.rst",
            labels={"model": "{model}", "product": "section 4.1, importance"},
            **MICHEL_PRUNING,
        ),
        pdf=f"{STUDY}/{{model}}/figures/michel2019-importance.pdf",
        png=f"{STUDY}/{{model}}/figures/michel2019-importance.png",
        table=report(
            f"{STUDY}/{{model}}/tables/michel2019-importance.csv",
            caption="../report/michel2019-importance.rst",
            labels={"model": "{model}", "product": "section 4.1, importance"},
            **MICHEL_PRUNING,
        ),
    log:
        f"{STUDY}/logs/pruning/{{model}}.michel2019_importance.log",
    benchmark:
        f"{STUDY}/benchmarks/pruning/{{model}}.michel2019_importance.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("pruning/michel2019_importance.py"),
        variant=PRUNING["importance"]["variant"],
    script:
        "../workflow_scripts/pruning/michel2019_importance.py"


rule michel2019_fig3:
    input:
        curves=expand(rules.curves.output.curves, **PRUNED),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/michel2019-fig3.svg",
            caption="../report/michel2019-fig3.rst",
            labels={"model": "{model}", "product": "Figure 3, pruning by strategy"},
            **MICHEL_PRUNING,
        ),
        pdf=f"{STUDY}/{{model}}/figures/michel2019-fig3.pdf",
        png=f"{STUDY}/{{model}}/figures/michel2019-fig3.png",
        table=report(
            f"{STUDY}/{{model}}/tables/michel2019-fig3.csv",
            caption="../report/michel2019-fig3.rst",
            labels={"model": "{model}", "product": "Figure 3, pruning by strategy"},
            **MICHEL_PRUNING,
        ),
    log:
        f"{STUDY}/logs/pruning/{{model}}.michel2019_fig3.log",
    benchmark:
        f"{STUDY}/benchmarks/pruning/{{model}}.michel2019_fig3.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("pruning/michel2019_fig3.py"),
        bootstrap=PRUNING["bootstrap"],
        seed=config["seed"],
    script:
        "../workflow_scripts/pruning/michel2019_fig3.py"


rule michel2019_fig5:
    input:
        curves=expand(rules.training.output.curves, **EPOCHS),
        importance=expand(rules.training.output.importance, **EPOCHS),
    output:
        svg=report(
            f"{STUDY}/{{model}}/figures/michel2019-fig5.svg",
            caption="../report/michel2019-fig5.rst",
            labels={"model": "{model}", "product": "Figure 5, pruning after each epoch"},
            **MICHEL_PRUNING,
        ),
        pdf=f"{STUDY}/{{model}}/figures/michel2019-fig5.pdf",
        png=f"{STUDY}/{{model}}/figures/michel2019-fig5.png",
    log:
        f"{STUDY}/logs/pruning/{{model}}.michel2019_fig5.log",
    benchmark:
        f"{STUDY}/benchmarks/pruning/{{model}}.michel2019_fig5.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        code=code("pruning/michel2019_fig5.py"),
    script:
        "../workflow_scripts/pruning/michel2019_fig5.py"


rule michel2019_table4:
    input:
        card=f"{STUDY}/{{model}}/checkpoints/{TIMED}.pretrained.{SEEDS[0]}.json",
        checkpoint=f"{STUDY}/{{model}}/checkpoints/{TIMED}.pretrained.{SEEDS[0]}",
        table=f"{STUDY}/tasks/{TIMED}.parquet",
        order=f"{STUDY}/{{model}}/pruning/{TIMED}.pretrained.{SEEDS[0]}.order.parquet",
    output:
        speed=report(
            f"{STUDY}/{{model}}/tables/michel2019-table4.csv",
            caption="../report/michel2019-table4.rst",
            labels={"model": "{model}", "product": "Table 4, speed without the pruned heads"},
            **MICHEL_PRUNING,
        ),
    log:
        f"{STUDY}/logs/pruning/{{model}}.michel2019_table4.log",
    benchmark:
        f"{STUDY}/benchmarks/pruning/{{model}}.michel2019_table4.tsv"
    conda:
        "../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=gpu,
    params:
        code=code("pruning/michel2019_table4.py"),
        task=TIMED,
        seed=SEEDS[0],
        share=PRUNING["speed"]["share"],
        examples=PRUNING["speed"]["examples"],
        repeats=PRUNING["speed"]["repeats"],
        max_tokens=TASKS[TIMED]["max_tokens"],
        device=config["device"],
    script:
        "../workflow_scripts/pruning/michel2019_table4.py"


FIGURES += expand(
    f"{STUDY}/{{model}}/figures/michel2019-{{figure}}.{{kind}}",
    model=MODELS,
    figure=["importance", "fig3", *(["fig5"] if KEPT_EPOCHS else [])],
    kind=["svg", "pdf", "png"],
)
TABLES += expand(
    f"{STUDY}/{{model}}/tables/michel2019-{{table}}.csv",
    model=MODELS,
    table=["importance", "fig3", *(["table4"] if "importance" in PRUNING["strategies"] else [])],
)
