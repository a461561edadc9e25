"""The task of a claim's case, such as "SST-2 dev"."""

from workflow_scripts.core.data.glue import TASKS


def task_of_case(case: str) -> str:
    """The name, in a study, of the task that a case begins with; empty for another case."""
    return next((name for name, task in TASKS.items() if case.startswith(task.title)), "")
