"""Captions of tables: they render for a study alone, and become HTML without complaints."""

from pathlib import Path

import pytest
import yaml

from tests.parsed_rules import compiled_snakefiles, parsed
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import check
from workflow_scripts.report import captions

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"
PRODUCTS = ROOT / "rules/common_products.smk"
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


@pytest.mark.parametrize("path", OF_STUDY, ids=lambda path: path.stem)
def test_a_caption_is_well_formed(path: Path) -> None:
    html = captions.to_html(captions.render(path, config("config.yaml")))
    assert html.startswith("<p>")
    assert "system-message" not in html


def test_a_caption_states_what_the_study_is() -> None:
    path = ROOT / "report/clark2019-linguistic.rst"
    default, real = (
        captions.render(path, config(name)) for name in ("config.yaml", "studies/real.yaml")
    )
    assert "The trees are silver" in default and "The mentions are generated" in default
    assert "The trees are gold" in real and "generated" not in real


@pytest.mark.parametrize(
    "path",
    [path for path in OF_STUDY if "effect of disabling" in path.read_text("utf-8").lower()],
    ids=lambda path: path.stem,
)
def test_captions_of_effects_name_the_generated_tasks(path: Path) -> None:
    default, real = (
        captions.render(path, config(name)) for name in ("config.yaml", "studies/real.yaml")
    )
    generated = "The study's own grammar generated the examples of ``mnli``, ``stsb``"
    assert generated in default and generated[:30] not in real


def test_a_caption_that_reads_more_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.rst"
    path.write_text("{{ snakemake.params.broad }}", encoding="utf-8")
    with pytest.raises(Exception, match="has no attribute 'params'"):
        captions.render(path, {})


def test_a_figure_without_its_caption_is_refused() -> None:
    names = {"ROOT": ROOT, "InputError": InputError}
    exec(compile(compiled_snakefiles()[PRODUCTS], PRODUCTS.name, "exec"), names)  # noqa: S102
    with pytest.raises(
        InputError, match=r"report/no-such\.rst, .*/no-such\.\{task\}\.svg, is missing"
    ):
        names["figure"]("no-such.{task}", "title", {})


def test_malformed_text_fails() -> None:
    with pytest.raises(ValueError, match="malformed caption"):
        captions.to_html("a ``b")


def test_the_digest_follows_the_text_a_study_gets(tmp_path: Path) -> None:
    path = tmp_path / "a.rst"
    path.write_text('{{ snakemake.config["a"] }}', encoding="utf-8")
    one = captions.digest([path], {"a": 1, "b": 1})
    assert one == captions.digest([path], {"a": 1, "b": 2})
    assert one != captions.digest([path], {"a": 2, "b": 1})
