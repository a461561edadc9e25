"""On a SLURM cluster: no job of an earlier run is left in the queue."""

from workflow_scripts.core.run import slurm


onstart:
    if workflow.executor_plugin.name == "slurm":
        slurm.check_none_left(workflow.workdir_init)
