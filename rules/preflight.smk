"""preflight: what the study needs, looked at in seconds before it runs."""

import sys


# Without a product, so that it always runs.
rule preflight:
    log:
        "<logs>/preflight.log",
    localrule: True
    conda:
        "../envs/torch.yaml"
    params:
        code=code("preflight/preflight.py"),
        study=config,
        results=RESULTS,
        needed=lambda w: ABILITIES,
        left_out=lambda w: LEFT_OUT,
        call={
            "arguments": sys.argv[1:],
            "without": "preflight",
            "snakefile": str(workflow.main_snakefile),
            "directory": str(Path.cwd()),
            "configfiles": [str(path) for path in workflow.config_settings.configfiles],
        },
        local=lambda w: [rule.name for rule in workflow.rules if workflow.is_local(rule)],
        submits=not workflow.local_exec,
        cores=workflow.resource_settings.cores,
        measured=str(ROOT / "docs/measured.csv"),
    script:
        "../workflow_scripts/preflight/preflight.py"
