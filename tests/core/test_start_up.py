"""What a job loads before its work begins."""

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
