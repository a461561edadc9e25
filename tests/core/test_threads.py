"""A job's numerical libraries take the threads that the rule was given, and no more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
import json
from pathlib import Path
import numpy, scipy.linalg, torch
from threadpoolctl import threadpool_info
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

def main(found: Out, threads: int = 1) -> None:
    pools = {pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()}
    within, between = torch.get_num_threads(), torch.get_num_interop_threads()
    found.write_text(json.dumps(pools | {"within": within, "between": between}))

job.run(main, globals())
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_libraries_take_the_threads_of_the_rule(threads: int, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "script.py", "--found", "found.json", "--threads", str(threads)]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, timeout=120)
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert {"openblas", "openmp", "within", "between"} <= set(found)
    assert set(found.values()) == {threads}
