"""attention: the jobs of a study that stores no attention."""

# Without wildcards, so that Snakemake prefers them to the rules that read caches.
for number, (model, readers, one_pass) in enumerate(on_the_fly(), start=1):
    at = f"{model}.{Path(readers[0].params.script).stem}"

    rule:
        name:
            f"on_the_fly_{number}"
        input:
            lambda w, of=(model, readers): read_on_the_fly(*of),
        output:
            products=[
                file
                for reader in readers
                for file in files_in(step_of(reader, model)["output"].values())
            ],
        log:
            f"<logs>/attention/{at}.on_the_fly.log",
        benchmark:
            f"<benchmarks>/attention/{at}.on_the_fly.tsv"
        conda:
            "../envs/torch.yaml"
        threads: config["threads"]
        resources:
            **MODEL_JOB,
        params:
            **step("attention/on_the_fly.py"),
            steps=lambda w, of=(model, readers): [step_of(each, of[0]) for each in of[1]],
            sources=sources_on_the_fly(model, readers),
            one_pass=one_pass,
            batch_tokens=config["attention"]["batch_tokens"],
            device=device,
            precision=config["precision"],
        script:
            "../workflow_scripts/{params.script}"
