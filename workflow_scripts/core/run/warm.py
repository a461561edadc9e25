"""Scripts that start warm: forked from a process that has imported what takes seconds to import.

Most of a small job was the import of torch and transformers. Python's fork server imports them
once. A run of few jobs, a cluster's job and one with an environment of its own start a Python; so
do all jobs where there is a GPU, as CUDA may fail in a fork, and where the system is not Linux.
"""

import gc
import multiprocessing
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

MAY_FORK = sys.platform == "linux" and not any(Path("/dev").glob("nvidia[0-9]*"))
FEW = 10  # jobs that import less than the server does
PRELOADED = ["snakemake.script", "torch", "transformers.modeling_utils"]
PRELOADED += ["pandas", "h5py", "matplotlib.figure", "scipy.stats"]


def install(workflow: Any) -> None:
    """Let Snakemake's `workflow` fork its scripts; an internal of it is replaced."""
    from snakemake.benchmark import benchmarked
    from snakemake.script import PythonScript

    if not MAY_FORK or not workflow.is_main_process or workflow.non_local_exec:
        return
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(PRELOADED)
    cold = getattr(PythonScript.execute_script, "cold", PythonScript.execute_script)

    @cache
    def few() -> bool:
        return len([*workflow.dag.needrun_jobs()]) < FEW

    def execute_script(self: Any, fname: str, edit: bool = False) -> None:
        if few() or self.conda_env or self.container_img or self.env_modules:
            return cold(self, fname, edit)
        process = server.Process(target=run, args=(fname,))
        process.start()
        with benchmarked(process.pid, self.bench_record):
            process.join()
        if process.exitcode:
            raise subprocess.CalledProcessError(process.exitcode, fname)

    execute_script.cold = cold
    PythonScript.execute_script = execute_script


def run(script: str) -> None:
    """Run a file as a Python does that is started for it."""
    gc.disable()  # until all is imported (core/run/job.py)
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
