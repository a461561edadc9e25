"""What a job loads before its work begins, and how it treats the garbage collector."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Libraries that take half a second or more each, which only some jobs need.
SLOW = ("torch", "transformers", "scipy", "sklearn", "spacy", "gensim", "nltk", "datasets")
LIGHT_ROOMS = ("run", "integrity", "data", "stats", "plots", "generated")


@pytest.mark.parametrize("room", LIGHT_ROOMS)
def test_core_loads_slow_libraries_only_where_used(room: str) -> None:
    folder = ROOT / "workflow_scripts/core" / room
    modules = [f"workflow_scripts.core.{room}.{path.stem}" for path in folder.glob("*.py")]
    assert len(modules) > 2
    code = f"import {', '.join(modules)}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(SLOW) & set(done.stdout.split()) == set()


STEP = """
import gc
from pathlib import Path
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

def main(text: Out) -> None:
    assert gc.get_freeze_count() > 0
    text.touch()

if __name__ == "__main__":
    job.run(main, globals())
"""


def test_what_was_imported_is_not_searched_for_garbage(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP)
    done = subprocess.run(
        [sys.executable, tmp_path / "step.py", "--text", tmp_path / "text"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_package_changes_nothing_of_the_process() -> None:
    code = "import gc; before = gc.get_threshold(); import workflow_scripts.atlas.notebook\n"
    code += "assert gc.get_threshold() == before and not gc.get_freeze_count()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
