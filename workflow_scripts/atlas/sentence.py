"""Add maps of one's own sentences to the page of a finished study.

The sentences are kept in results/<study>/sentences.txt, a line for each, so that the page has them
whenever it is built. Only the rules that make maps and the page of them are run.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError

ROOT = Path(__file__).parents[2]
LONGEST_NAME = 256  # of a file
RULES = ("sentence_maps", "atlas_data", "atlas_page")


def texts_of(given: str) -> list[str]:
    """The text, or the lines of the file that it names; InputError where nothing is left."""
    file = Path(given) if len(given) < LONGEST_NAME else None
    lines = (line for _, line in read_lines(file)) if file and file.is_file() else given.split("\n")
    if not (lines := [line.strip() for line in lines if line.strip()]):
        raise InputError(f"TEXT: {given!r} has no text; give a sentence, or a file of sentences")
    return lines


def results_of(study: Path) -> Path:
    """Where the results of a study are. Raises InputError where its page was not made."""
    if not study.is_file():
        raise InputError(f"STUDY: {study} does not exist; give the study's YAML file")
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    results = Path("results") / str(content.get("study"))
    if not (results / "atlas.html").is_file():
        raise InputError(f"{results}/atlas.html does not exist; run the study {study} first")
    return results


def add(study: Path, texts: Sequence[str], cores: str) -> Path:
    """Add texts to the page of a study, and give its path.

    Raises InputError where that fails; the file of sentences is then as it was.
    """
    results = results_of(study)
    file = results / "sentences.txt"
    before = file.read_bytes() if file.is_file() else None
    kept = texts_of(str(file)) if before else []
    page = str(results / "atlas.html")
    # Forced: else a page older than the code would stay as it is, without a word.
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--configfile", str(study), "--cores", cores, "--quiet", "all"]
    command += ["--forcerun", "atlas_data", "--allowed-rules", *RULES, "--", page]
    done = None
    try:
        file.write_text("".join(f"{line}\n" for line in [*kept, *texts]), encoding="utf-8")
        done = subprocess.run(command)  # noqa: S603 (the words are a list, no shell)
    finally:
        if done is None or done.returncode:
            file.unlink() if before is None else file.write_bytes(before)
    if done.returncode:
        raise InputError(
            f"{page} was not built; change TEXT where an error above says so, or finish the study "
            f"by snakemake --cores {cores} --configfile {study}"
        )
    return Path(page)


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
