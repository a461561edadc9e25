"""The rules that steps take their script, environment, log and benchmark from; none is run itself.

A step is `use rule analysis_step as <name> with`: its pathvar `job` names its log and benchmark,
and `**step("<chapter>/<script>.py")` among its params the script and the digest of what it means.
"""


# Reads tables and caches; needs no torch.
rule analysis_step:
    log:
        "<logs>/<job>.log",
    benchmark:
        "<benchmarks>/<job>.tsv"
    pathvars:
        job="analysis_step",
    conda:
        "../envs/analysis.yaml"
    script:
        "../workflow_scripts/{params.script}"


use rule analysis_step as torch_step with:
    conda:
        "../envs/torch.yaml"


# Runs a model, which takes long. Of its jobs Snakemake prints the message and the reason.
use rule torch_step as model_step with:
    threads: config["threads"]
    resources:
        **MODEL_JOB,
    message:
        "{rule} makes {output} (threads: {threads}, log: {log})"


use rule model_step as training_step with:
    resources:
        **TRAINING_JOB,
