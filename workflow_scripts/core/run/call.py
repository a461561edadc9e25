"""What is looked at before Snakemake reads the study's files: the files and its own cache."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import nearest_existing
from workflow_scripts.core.run.config_files import check_files


def check_call(arguments: Sequence[str]) -> None:
    """End a call of Snakemake with one line, where it would end in a traceback of Snakemake's own.

    For profiles/default, which Snakemake reads first.
    """
    from snakemake.common import get_appdirs

    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--config", nargs="*")  # else taken for a short form of the next
    parser.add_argument("--configfile", "--configfiles", nargs="+", type=Path, default=[])
    try:
        check_files(parser.parse_known_args(arguments)[0].configfile)
        check_cache(Path(get_appdirs().user_cache_dir))
    except InputError as error:
        sys.exit(f"Error: {error}")


def check_cache(cache: Path) -> None:
    """Refuse a cache directory of Snakemake's that cannot be written: it is in HOME by default."""
    existing = nearest_existing(cache)
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        raise InputError(f"{cache}: cannot be written; set XDG_CACHE_HOME to a folder that can")
