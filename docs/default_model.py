"""Name the default study's model in the commands and paths of the pages: `make docs`.

A page shows `results/demo/<model>/...` with a real name, so that a command can be copied.
"""

import re
from pathlib import Path

import yaml

from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import FOLDERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def named(text: str) -> str:
    """The text with the default study's model in every path below the results of no other."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    model, *further = config["models"]
    others = "|".join([*sorted(FOLDERS), *schema.chapters(ROOT / "rules/schemas"), *further])
    results = f"results/{config['study']}/"
    return re.sub(rf"{results}(?!(?:{others})/)[\w-]+/", f"{results}{model}/", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(named(page.read_text(encoding="utf-8")), encoding="utf-8")
