"""Scripts of a run of many jobs start with slow libraries imported, and else as Python's do."""

import subprocess
import sys
from pathlib import Path

import pytest

from workflow_scripts.core.run import warm

ROOT = Path(__file__).parents[2]
SNAKEFILE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from workflow_scripts.core.run import warm
warm.ROOT = __import__("pathlib").Path(workflow.basedir)
warm.install(workflow)
rule all:
    input: expand("{{n}}.txt", n=range(config["jobs"]))
rule one:
    output: "{{n}}.txt"
    script: "one.py"
"""
SCRIPT = """
import sys
known = "torch" in sys.modules
if snakemake.wildcards.n == "10":
    sys.stderr.write(f"failed {__name__}\\n")
    sys.exit(1)
open(snakemake.output[0], "w").write(f"{known} {__name__} {sys.argv[0].endswith('.one.py')}")
"""


@pytest.mark.parametrize("jobs", [2, 12])
def test_scripts_of_many_jobs_are_forked(tmp_path: Path, jobs: int) -> None:
    """One that fails, the eleventh, fails its job alone."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "one.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "snakemake", "--cores", "8", "--keep-going"]
    command += ["--config", f"jobs={jobs}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    forked, failing = jobs == 12 and warm.MAY_FORK, jobs == 12
    made = {path.stem: path.read_text() for path in tmp_path.glob("*.txt")}
    assert made == {str(n): f"{forked} __main__ True" for n in range(jobs) if n != 10}
    assert (done.returncode, "failed __main__" in done.stderr) == (int(failing), failing)
