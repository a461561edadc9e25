"""Scripts that start warm: forked from a process that has imported what takes seconds to import.

Most of a small job was the import of torch and transformers. Python's fork server imports them
once. A run of few jobs, a cluster's job and one with an environment of its own start a Python; so
do all jobs where there is a GPU, as CUDA may fail in a fork, and where the system is not Linux.
"""

import gc
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from functools import cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).parents[3]
# A server of Python's flags would drop the docstrings that transformers reads (rules/common.smk).
MAY_FORK = sys.platform == "linux" and not sys.flags.optimize
MAY_FORK &= not any(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/kfd").exists()
# Seconds of a core that imports take: the server's, of a script that runs a model, of others.
SERVER, MODEL, LIGHT = 8, 7, 1.5
PRELOADED = ["snakemake.cli", "torch", "transformers.modeling_utils"]
PRELOADED += ["pandas", "h5py", "matplotlib.figure", "scipy.stats"]


def install(workflow: Any) -> None:
    """Let Snakemake's `workflow` fork this project's scripts; an internal of it is replaced."""
    from snakemake.benchmark import benchmarked
    from snakemake.script import PythonScript

    if not MAY_FORK or not workflow.is_main_process:
        return
    server, lock = multiprocessing.get_context("forkserver"), Lock()
    server.set_forkserver_preload(PRELOADED)
    cold = getattr(PythonScript.execute_script, "cold", PythonScript.execute_script)

    @cache
    def few() -> bool:  # scripts on this machine
        rules = [job.rule for job in workflow.dag.needrun_jobs() if job.rule.script]
        saved = sum(LIGHT if rule.name in workflow._localrules else MODEL for rule in rules)
        return workflow.non_local_exec or saved < 2 * SERVER

    def execute_script(self: Any, fname: str, edit: bool = False) -> None:
        own = Path(self.path.get_path_or_uri(secret_free=True)).resolve().is_relative_to(ROOT)
        if not own or few() or self.conda_env or self.container_img or self.env_modules:
            return cold(self, fname, edit)
        begin, ready = server.Pipe(duplex=False)
        folder = self.resources.get("tmpdir") or tempfile.gettempdir()
        process = server.Process(target=run, args=(fname, folder, begin))
        with lock:  # `start` looks at other processes, too, whose status can be read once
            process.start()
        with benchmarked(process.pid, self.bench_record):  # of a process that is there
            ready.send(None)
            wait([process.sentinel])
        with lock:
            process.join()
        if process.exitcode:
            raise subprocess.CalledProcessError(process.exitcode, fname)

    execute_script.cold = cold
    PythonScript.execute_script = execute_script


def run(script: str, folder: str, begin: Connection) -> None:
    """Run a file as a Python does that is started for it, with this folder of temporary files."""
    begin.recv()
    os.environ["TMPDIR"], tempfile.tempdir = folder, None
    gc.disable()  # until all is imported (core/run/job.py)
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
