"""The rules of the pages are planned: of the recipe for a measure, and of an imported workflow."""

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tests.default_study import MODEL, RESULTS
from tests.documentation.blocks import ROOT, of
from tests.workflow.copied import PARTS

SNAKEFILES = ("CONTRIBUTING.md", "docs/configuration.md")


def test_the_recipes_rules_plan_a_table_and_a_figure(tmp_path: Path) -> None:
    """With the scripts of the neighbours that it names, in a copy of the workflow."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, tmp_path / part)
    scripts = tmp_path / "workflow_scripts/surface"
    shutil.copy(scripts / "relative_position.py", scripts / "weights.py")
    shutil.copy(scripts / "clark2019_position.py", scripts / "weights_figure.py")
    with (tmp_path / "rules/surface.smk").open("a", encoding="utf-8") as rules:
        rules.write("\n\n" + text("CONTRIBUTING.md"))
    plan = planned(
        tmp_path, f"{RESULTS}/atlas.json", f"{RESULTS}/{MODEL}/figures/largest-weights.svg"
    )
    for rule in ("weights", "weights_figure"):
        assert f"rule {rule}:" in plan
    of_atlas = plan.partition("rule atlas_data:")[2].partition("output:")[0]
    assert f"{RESULTS}/{MODEL}/surface/weights.parquet" in of_atlas
    decoder = str(ROOT / "studies/smollm2.yaml")
    plan = planned(tmp_path, "figures", "results/smollm2/atlas.json", "--configfile", decoder)
    assert "rule entropy:" in plan
    assert "weights.parquet" not in plan
    assert "largest-weights" not in plan


def test_an_importing_workflow_plans_a_figure(tmp_path: Path) -> None:
    """As the page states it, from a folder of its own."""
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({"atlas": study}), encoding="utf-8")
    (tmp_path / "attention-atlas").symlink_to(ROOT)
    figure = f"{RESULTS}/{MODEL}/figures/clark2019-fig4.svg"
    mine = f'rule mine:\n    input: "{figure}"\n    output: "mine.txt"\n    shell: "wc {{input}}"\n'
    content = f'configfile: "study.yaml"\n\n{text("docs/configuration.md")}\n{mine}'
    (tmp_path / "Snakefile").write_text(content, encoding="utf-8")
    plan = planned(tmp_path, "mine.txt")
    assert ": atlas_extract makes results/demo/" in plan
    for rule in ("atlas_entropy", "atlas_clark2019_fig4", "mine"):
        assert f"rule {rule}:" in plan


def text(page: str) -> str:
    """The one block of rules of a page."""
    (block,) = (block.text for block in of("snakemake") if block.page == page)
    return block


def planned(folder: Path, *targets: str) -> str:
    """What a dry run in a folder prints of its jobs."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *targets]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
