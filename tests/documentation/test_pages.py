"""The recipes and commands of the pages work as they are written."""

import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_args

from tests.default_study import MODEL, RESULTS
from tests.workflow.copied import ROOT, copy_workflow
from workflow_scripts.core.run.config import check

# The changelog is of what was, not of what is.
PAGES = [page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"]
PAGES = sorted([*PAGES, *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^ *```$", re.M | re.S)
COMMAND = re.compile(r"`(snakemake [^`]+)`|^(?: {4}|\$ )(snakemake .+)$", re.M)
# What the studies of the pages leave out.
LEFT_OUT = {"study": "s", "models": {"m": {"path": "m"}}}
# Options for something else than jobs, or that need a finished study or a locked folder.
NO_JOBS = {"--report", "--touch", "--unlock"}


def blocks(language: str) -> list[tuple[str, str]]:
    """The blocks of a language, each with its page's name."""
    found = [(page, match) for page in PAGES for match in BLOCK.finditer(page.read_text("utf-8"))]
    return [
        (page.name, textwrap.dedent(match["text"]))
        for page, match in found
        if match["language"] == language
    ]


def commands() -> list[list[str]]:
    """The words behind `snakemake` of each command without a <placeholder> or an ellipsis."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = [" ".join((one or other).split()) for one, other in COMMAND.findall(text)]
        found += [line for line in lines if not re.search(r"<\w|\.\.\.", line)]
    return [shlex.split(line, comments=True)[1:] for line in found]


def planned(folder: Path, *words: str) -> str:
    """What a dry run in a folder prints of its jobs."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_recipes_rules_plan_a_table_and_a_figure(tmp_path: Path) -> None:
    """With the scripts of neighbours in the place of its own."""
    copy_workflow(tmp_path)
    (rules,) = [text for page, text in blocks("snakemake") if page == "CONTRIBUTING.md"]
    scripts = tmp_path / "workflow_scripts/surface"
    for name in re.findall(r"surface/(\w+)\.py", rules):
        shutil.copy(scripts / "relative_position.py", scripts / f"{name}.py")
    with (tmp_path / "rules/surface.smk").open("a", encoding="utf-8") as file:
        file.write("\n\n" + rules)
    (table,) = re.findall(r'measured\(\s*"<results>/\{model\}/([^"]+)"', rules)
    (figure,) = re.findall(r'drawn\(\s*"([^"]+)"', rules)
    atlas, drawing = f"{RESULTS}/atlas.json", f"{RESULTS}/{MODEL}/figures/{figure}.svg"
    plan = planned(tmp_path, atlas, drawing)
    assert drawing in plan
    assert f"{RESULTS}/{MODEL}/{table}" in plan.partition("atlas_data makes")[2]


@pytest.mark.parametrize("page, text", blocks("yaml"))
def test_a_study_is_accepted(page: str, text: str) -> None:
    content = yaml.safe_load(text)
    for model in content.get("models", {}).values():  # whose path does not exist here
        model.setdefault("kind", "decoder" if "battery" in content else "encoder")
    if "properties" not in content:  # else a chapter's schema
        check({**LEFT_OUT, **content}, ROOT / "rules/schemas")


def test_every_command_is_read_and_those_of_the_default_study_are_planned() -> None:
    asked = defaultdict(set)
    for words in commands():
        if words and words != ["--profile"]:  # the option is named, no command given
            options = parse_args(["--snakefile", str(ROOT / "Snakefile"), *words])[1]
            for file in options.configfile or []:
                assert Path(file).suffix in {".yaml", ".yml", ".json"}, words
            study = options.configfile or options.config or NO_JOBS & {*words}
            asked[bool(study)] |= {*options.targets}
    assert len(asked[False]) > 5
    planned(ROOT, "all", *sorted(asked[False]))
