"""On a SLURM cluster: no job is forgotten, and none of an earlier run is left."""

import sys

from workflow_scripts.core.run import slurm

# Snakemake imports the plugins that are installed before it reads the rules.
if plugin := sys.modules.get("snakemake_executor_plugin_slurm"):
    slurm.follow_on(plugin.Executor)


onstart:
    if workflow.executor_plugin.name == "slurm":
        slurm.check_none_left(workflow.workdir_init)
