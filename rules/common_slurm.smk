"""On a SLURM cluster: no job of an earlier run is left in the queue."""

from workflow_scripts.core.run.config import check_queue


onstart:
    if workflow.executor_plugin.name == "slurm":
        check_queue(workflow.workdir_init)
