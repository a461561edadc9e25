"""What the documentation refers to exists, and its commands work as written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PACKAGE = ROOT / "workflow_scripts"
LONGEST = 180  # characters of a line of documentation
READABLE = {".py", ".smk", ".yaml"}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Where commands are written for people.
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config.yaml", "Makefile")]
DOCUMENTS += [
    path for pattern in ("docs/**/*.md", "studies/*", "profiles/*/*") for path in ROOT.glob(pattern)
]
DOCUMENTS = [path for path in DOCUMENTS if path.is_file()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = [
        link
        for link in LINK.findall(prose(page))
        if not link.startswith("http") and not leads_somewhere(page, link)
    ]
    assert dead == []


def test_every_gallery_figure_is_among_the_results() -> None:
    shown = set(LINK.findall(prose(ROOT / "docs/results.md")))
    gallery = {f"../report/gallery/{path.name}" for path in (ROOT / "report/gallery").iterdir()}
    assert gallery <= shown


def test_the_readme_lists_every_page() -> None:
    linked = set(LINK.findall(prose(ROOT / "README.md")))
    pages = {page.relative_to(ROOT).as_posix() for page in PAGES} - {"README.md"}
    of_chapters = {page for page in pages if page.startswith("docs/chapters/")}
    assert pages - of_chapters | {"docs/chapters/README.md"} <= linked


def test_recipes_name_what_exists() -> None:
    """Files, and names that occur in the code; `<...>` is for the reader to name."""
    spans = re.findall(r"`([^`]+)`", prose(ROOT / "CONTRIBUTING.md"))
    spans = [span for span in spans if "<" not in span]
    assert spans
    files = [ROOT / "Snakefile", ROOT / "Makefile", ROOT / "config.yaml"]
    for folder in ("workflow_scripts", "rules", "tests"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in READABLE]
    files.remove(Path(__file__))
    words = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in files)))
    unknown = [
        span for span in spans if not (is_file(span) or set(re.findall(r"\w+", span)) <= words)
    ]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_wrapped(page: Path) -> None:
    """Rows of tables, which cannot be wrapped, and blocks of code excepted."""
    lines = prose(page).splitlines()
    assert [line for line in lines if len(line) > LONGEST and not line.startswith("|")] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_targets_stand_before_configfile(path: Path) -> None:
    assert read_as_config_files(path.read_text(encoding="utf-8")) == []


def test_targets_behind_configfile_are_found() -> None:
    text = "`snakemake --configfile studies/a.yaml`, x.yml all\n# snakemake \\\n  --config a=1"
    assert read_as_config_files(text) == []
    wrong = text.replace("a.yaml", "a.yaml clark2019 --cores 8").replace("a=1", "a=1 figures")
    assert read_as_config_files(wrong) == ["clark2019", "figures"]


def is_file(name: str) -> bool:
    """Whether a path, of the repository or of the package, or a file's bare name exists."""
    if not re.fullmatch(r"[\w./*-]+", name):
        return False
    whole = any(list(folder.glob(name)) for folder in (ROOT, PACKAGE))
    return whole or ("/" not in name and "." in name and any(PACKAGE.rglob(name)))


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a relative link names a file, and one with an anchor a heading of its page."""
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not anchor or anchor in {slug(line) for line in headings(target)}


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)


def slug(heading: str) -> str:
    """A heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def read_as_config_files(text: str) -> list[str]:
    """Words of commands that Snakemake takes for config files or values, but are none.

    It takes all words after --configfile, and after --config, up to the next option.
    """
    commands = text.replace("\\\n", " ")
    wrong = []
    for option, words in re.findall(r"--(config(?:files?)?)((?: +[^\s`|#-][^\s`|]*)+)", commands):
        is_one = re.compile(r"=" if option == "config" else r"\.(ya?ml|json)[.,;:)]*$")
        wrong += [word for word in words.split() if not is_one.search(word)]
    return wrong
