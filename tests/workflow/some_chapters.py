"""Run some chapters of the tiny study: `python -m tests.workflow.some_chapters surface`.

The study lies in build/tiny and is run by this checkout's own code, so that an edit makes anew what
it concerns. Printed is what the chapters have made.
"""

import os
import subprocess
import sys
from typing import Any

import yaml

from tests.workflow.tiny_study import ROOT, tiny_config, write_data
from workflow_scripts.chapters import CHAPTERS
from workflow_scripts.core.run import schema

FOLDER = ROOT / "build/tiny"
SCHEMAS = ROOT / "rules/schemas"


def restricted(chapters: list[str]) -> dict[str, Any]:
    """The tiny study with these chapters and those that they need."""
    declared = schema.assemble(SCHEMAS)["properties"]
    kept = {"corpora", "tasks", "attention", "checkpoints"}
    waiting = list(chapters)
    while waiting:
        chapter = waiting.pop()
        kept.add(chapter)
        needed = declared[chapter].get("needs", {}).get("chapters", [])
        waiting += [name for name in needed if name not in kept]
    config = {
        name: part for name, part in tiny_config().items() if name not in set(CHAPTERS) - kept
    }
    config["models"] = {
        name: model | {"chapters": sorted(kept & set(model["chapters"]))}
        if "chapters" in model
        else model
        for name, model in config["models"].items()
        if kept & set(model.get("chapters", kept))
    }
    return config


def main(chapters: list[str]) -> int:
    """Run the chapters and print their products; the exit status is Snakemake's."""
    if unknown := set(chapters) - set(CHAPTERS):
        raise SystemExit(
            f"{', '.join(sorted(unknown))}: no chapter; there are {' '.join(CHAPTERS)}"
        )
    if not (FOLDER / "trees").is_dir():
        from tests.core.tiny_models import save_bert

        FOLDER.mkdir(parents=True, exist_ok=True)
        save_bert(FOLDER / "tiny-model")
        write_data(FOLDER)
    (FOLDER / "tiny.yaml").write_text(yaml.safe_dump(restricted(chapters)), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--directory", str(FOLDER), "--configfile", str(FOLDER / "tiny.yaml")]
    command += ["--cores", str(os.cpu_count()), "--quiet", "progress", "rules"]
    done = subprocess.run(command, cwd=ROOT)
    shown = {*chapters, "figures", "tables"}
    for path in sorted(FOLDER.glob("results/tiny/**/*")):
        if path.suffix in {".parquet", ".csv", ".svg"} and path.parent.name in shown:
            print(path.relative_to(ROOT))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
