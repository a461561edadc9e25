"""The rules that steps take their script and environment from; none is run itself.

A step is `use rule analysis_step as <name> with`: `**step("<chapter>/<script>.py")` among its params
names the script and the digest of what it means. The Snakefile names its log and benchmark.
"""


# Reads tables and caches; needs no torch.
rule analysis_step:
    conda:
        "../envs/analysis.yaml"
    script:
        "../workflow_scripts/{params.script}"


# Takes a moment, so that it runs where snakemake runs. The Snakefile reads the group: `localrule` is
# not passed on.
use rule analysis_step as light_step with:
    group:
        "local"


use rule analysis_step as torch_step with:
    conda:
        "../envs/torch.yaml"


# Runs a model, which takes long.
use rule torch_step as model_step with:
    threads: config["threads"]
    resources:
        **MODEL_JOB,
    params:
        device=device,


use rule model_step as training_step with:
    resources:
        **TRAINING_JOB,
