"""Captions: those of tables render for a study alone, and all have markup that the page shows."""

from pathlib import Path

import yaml

from tests.parsed_rules import parsed
from workflow_scripts.atlas.evidence import caption_parts
from workflow_scripts.core.run.config import check
from workflow_scripts.report.entries import caption

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"
EVERY = sorted((ROOT / "report").glob("*.rst"))
# A figure's caption is rendered by its own job, and may read that job's parameters.
OF_JOB = ("snakemake.params", "snakemake.wildcards", "snakemake.rule")
OF_STUDY = [path for path in EVERY if not any(key in path.read_text("utf-8") for key in OF_JOB)]


def config(name: str) -> dict:
    return check(yaml.safe_load((ROOT / name).read_text(encoding="utf-8")), SCHEMAS)


def test_the_captions_of_tables_read_the_config_alone() -> None:
    entries = [entry for parsed_study in parsed() for entry in parsed_study.entries]
    names = {entry["caption"] for entry in entries if entry["path"].endswith(".csv")}
    found = {path.stem for path in EVERY} & names
    assert len(found) > 30
    assert found <= {path.stem for path in OF_STUDY}


def test_captions_are_well_formed() -> None:
    default = config("config.yaml")
    default["context"] = config("studies/context.yaml")["context"]
    for path in OF_STUDY:
        assert caption_parts(caption(path, default)), path.name


def test_a_caption_states_what_the_study_is() -> None:
    path = ROOT / "report/clark2019-linguistic.rst"
    default, real = (caption(path, config(name)) for name in ("config.yaml", "studies/real.yaml"))
    assert "The trees are silver" in default and "The mentions are generated" in default
    assert "The trees are gold" in real and "generated" not in real
