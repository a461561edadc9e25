"""The figures of all chapters, a rule each, from what `drawn` was told in the chapters' rules."""

for name, drawing in DRAWN.items():

    rule:
        name:
            name
        input:
            **drawing["input"],
        output:
            **drawing["output"],
        localrule: True
        conda:
            "../envs/analysis.yaml"
        params:
            **drawing["params"],
        script:
            "../workflow_scripts/{params.script}"
