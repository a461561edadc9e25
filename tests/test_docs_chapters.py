"""The pages of the chapters and the tutorial name what there is, and their commands plan."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import chapter_pages
from tests.chapter_pages import FOLDER, PAGES, ROOT, SCHEMAS
from tests.default_study import MODELS, RESULTS
from workflow_scripts.chapters import CHAPTERS, collect
from workflow_scripts.core.run import schema

HEADINGS = ["What is computed", "Options", "Products", "Alone", "What it does not show"]
# The entries of the default study that stand for any in the pages' paths.
NAMES = {"task": "sst2", "init": "pretrained", "seed": "1", "corpus": "parsed"}
NAMES |= {"text": "wikipedia", "treebank": "parsed", "coreference": "stories", "frames": "roles"}
NAMES |= {"vectors": "own"}

of_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def planned(folder: Path, *targets: str, study: Path | None = None) -> str:
    """What a dry run in an empty folder prints."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *targets]
    command += ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", str(study or ROOT / "config.yaml")]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout + run.stderr


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files that the default study and the pages' commands write."""
    commands = [command for page in PAGES for command in chapter_pages.commands(page)]
    targets = {target for command in commands for target in chapter_pages.targets(command)}
    assert len(targets) >= len(PAGES)
    plan = planned(tmp_path_factory.mktemp("chapters"), "all", *sorted(targets))
    return set(chapter_pages.outputs(plan))


def test_every_chapter_has_a_page() -> None:
    chapters = set(schema.chapters(SCHEMAS))
    assert chapters <= set(CHAPTERS)
    assert {page.stem for page in PAGES} == chapters


@of_page
def test_a_page_has_its_parts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {page.stem}\n")
    assert list(chapter_pages.sections(page))[:-1] == HEADINGS
    assert f"configuration.md#{page.stem}" in text


@of_page
def test_options_are_keys_and_none_is_missing(page: Path) -> None:
    part = schema.assemble(SCHEMAS)["properties"][page.stem]
    keys = chapter_pages.options(page)
    assert [key for key in keys if not chapter_pages.is_key(key, part)] == []
    assert {key.split(".")[0] for key in keys} == part["properties"].keys()


@pytest.mark.parametrize(
    "page", [*PAGES, FOLDER / "README.md", ROOT / "docs/tutorial.md"], ids=lambda page: page.stem
)
def test_dotted_keys_are_keys(page: Path) -> None:
    """From the config's root, or from the chapter's part of it."""
    root = schema.assemble(SCHEMAS)
    parts = [root, root["properties"].get(page.stem, {})]
    keys = chapter_pages.dotted_keys(page)
    assert [key for key in keys if not any(chapter_pages.is_key(key, part) for part in parts)] == []


def test_a_wrong_key_is_found() -> None:
    root = schema.assemble(SCHEMAS)
    assert chapter_pages.is_key("corpora.text.<name>.n_segments", root)
    assert chapter_pages.is_key("pruning.importance.variant", root)
    for key in ("pruning.importance.size", "pruning.<name>", "corpora.text.<name>.size", "prune"):
        assert not chapter_pages.is_key(key, root), key


@of_page
def test_code_is_where_the_page_states(page: Path) -> None:
    missing = []
    for name, path in chapter_pages.code_links(page):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        defined = {getattr(node, "name", None) for node in body}
        missing += [] if name in defined else [(name, path.name)]
    assert missing == []


@of_page
def test_products_are_written(page: Path, written: set[str]) -> None:
    rows = chapter_pages.products(page)
    assert rows
    missing = {
        name
        for row in rows
        for name in (file.rstrip("/") for file in row.files)
        if written.isdisjoint(
            f"{RESULTS}/{chapter_pages.filled(name, NAMES | {'model': model})}" for model in MODELS
        )
    }
    assert missing == set()


@pytest.mark.parametrize("chapter", collect("measures"))
def test_declared_columns_are_on_the_page(chapter: str) -> None:
    """And so, by tests/workflow/test_chapter_products.py, in the tables of a finished study."""
    rows = chapter_pages.products(FOLDER / f"{chapter}.md")
    columns = {row.files[0].removeprefix("<model>/"): row.columns for row in rows}
    for table in collect("measures")[chapter].TABLES:
        named = columns.get(table.file.replace("<run>", "<seed>"))
        if named is not None:  # a table that a recipe adds need not be on the page
            assert set(table.columns) <= set(named), table.file


@of_page
def test_a_page_has_a_command_for_a_product_of_its_own(page: Path, written: set[str]) -> None:
    commands = chapter_pages.commands(page)
    assert commands
    for target in chapter_pages.targets(commands[0]):
        assert target in written


def test_the_tutorial_plans(tmp_path: Path) -> None:
    """Its study and its commands, with files in the place of its model."""
    page = ROOT / "docs/tutorial.md"
    (block,) = re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    study = tmp_path / "mine.yaml"
    study.write_text(block, encoding="utf-8")
    for model in yaml.safe_load(block)["models"].values():
        (tmp_path / model["path"]).mkdir(parents=True)
        (tmp_path / model["path"] / "config.json").touch()
    commands = [command for command in chapter_pages.commands(page) if "mine.yaml" in command]
    asked = {target for command in commands for target in chapter_pages.targets(command)}
    assert len(commands) > 2
    assert asked
    files = set(chapter_pages.outputs(planned(tmp_path, "all", *sorted(asked), study=study)))
    named = re.findall(r"`(results/mine/[^`]+)`", page.read_text(encoding="utf-8"))
    assert named
    assert {*named, *asked} <= files
