"""checkpoints: weights that the study itself trains."""

HEAD = config["checkpoints"]["mlm_head"]
HEAD_CORPUS = config["surface"]["corpus"]


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
    conda:
        "../envs/torch.yaml"
    threads: 2
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
        max_tokens=TEXTS[HEAD_CORPUS]["max_tokens"],
        device=config["device"],
        seed=config["seed"],
    script:
        "../workflow_scripts/checkpoints/mlm_head.py"
