"""Add maps of one's own sentences to the page of a finished study.

The sentences are kept in results/<study>/sentences.txt, a line for each, so that the page has them
whenever it is built. Only the rules that make their maps and the page are run.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError

SNAKEMAKE = [sys.executable, "-m", "snakemake", "-s", f"{Path(__file__).parents[2]}/Snakefile"]
# Forced: else a page older than the code would stay as it is, without a word.
RULES = "--forcerun atlas_data --allowed-rules sentence_maps atlas_data atlas_page --".split()


def texts_of(given: str) -> list[str]:
    """The text, or the lines of the file that it names; InputError where nothing is left."""
    # Of what no file can be named, such as a long text, isfile is False; Path.is_file may raise.
    is_file = os.path.isfile(given)
    lines = (line for _, line in read_lines(Path(given))) if is_file else given.split("\n")
    if not (lines := [line.strip() for line in lines if line.strip()]):
        raise InputError(f"TEXT: {given!r} has no text; give a sentence, or a file of sentences")
    return lines


def add(study: Path, texts: Sequence[str], cores: str) -> Path:
    """Add texts to the page of a study, and give its path.

    Raises InputError where that fails; the file of sentences is then as it was.
    """
    content = yaml.safe_load("\n".join(line for _, line in read_lines(study)))
    page = Path("results") / str(content.get("study")) / "atlas.html"
    run = f"snakemake --cores {cores} --configfile {study}"
    if not page.is_file():
        raise InputError(f"{page} does not exist; make it first: {run}")
    file = page.with_name("sentences.txt")
    before = file.read_bytes() if file.is_file() else None
    kept = texts_of(str(file)) if before else []
    options = ["--configfile", str(study), "--cores", cores, "--quiet", "all"]
    done = None
    try:
        file.write_text("".join(f"{line}\n" for line in [*kept, *texts]), encoding="utf-8")
        # A list of words, and no shell.
        done = subprocess.run([*SNAKEMAKE, *options, *RULES, str(page)])  # noqa: S603
    finally:
        if done is None or done.returncode:
            file.unlink() if before is None else file.write_bytes(before)
    if done.returncode:
        raise InputError(
            f"{page} was not built; change TEXT where an error above says so, else finish the "
            f"study: {run}"
        )
    return page


def main() -> None:
    """Read the words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path, help="the study's YAML file")
    parser.add_argument("text", help="a sentence, or a text file with one a line")
    parser.add_argument("--cores", default="1")
    given = parser.parse_args()
    try:
        page = add(given.study, texts_of(given.text), given.cores)
    except InputError as error:
        sys.exit(f"Error: {error}")
    print(f"Open {page}#view=maps: the last text is shown first, of every model of the study.")


if __name__ == "__main__":
    main()
