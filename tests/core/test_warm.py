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
    input: expand("{{n}}.txt", n=range(10))
rule one:
    output: "{{n}}.txt"
    script: "one.py"
if config["light"]:
    localrules: one
"""
SCRIPT = """
import sys
known = "torch" in sys.modules
if snakemake.wildcards.n == "9":
    sys.stderr.write(f"failed {__name__}\\n")
    sys.exit(1)
open(snakemake.output[0], "w").write(f"{known} {__name__} {sys.argv[0].endswith('.one.py')}")
"""


@pytest.mark.parametrize("light", [False, True])
def test_scripts_are_forked_where_imports_take_longer(tmp_path: Path, light: bool) -> None:
    """Ten of which the last fails alone: with models they are forked, without they are too few."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "one.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "snakemake", "--cores", "8", "--keep-going"]
    command += ["--config", f"light={light}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    forked = not light and warm.MAY_FORK
    made = {path.stem: path.read_text() for path in tmp_path.glob("*.txt")}
    assert made == {str(n): f"{forked} __main__ True" for n in range(9)}
    assert (done.returncode, "failed __main__" in done.stderr) == (1, True)
