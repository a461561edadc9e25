"""What code a run began with: jobs that a scheduler starts later read the files again.

The process that plans the run puts `state` into the environment variable ATLAS_CODE, which
Snakemake hands to every job; `compare` refuses a job that reads other files than those.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.integrity import meaning, provenance
from workflow_scripts.core.run.errors import InputError

VARIABLE = "ATLAS_CODE"
WORDS = {
    "config": "the config, or what it names in a package,",
    "rules": "Snakefile or rules/",
    "scripts": f"{meaning.PACKAGE}/",
}


def state(config: Mapping[str, Any], root: Path) -> str:
    """Digests of the config, of the rules in `root` and of what the scripts there mean."""
    rules = hashlib.sha256()
    for path in [root / "Snakefile", *sorted((root / "rules").rglob("*.smk"))]:
        rules.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    digests = {
        "config": provenance.config_digest(config),
        "rules": rules.hexdigest()[:16],
        "scripts": meaning.digest_of_all(root / meaning.PACKAGE),
    }
    return ".".join(f"{part}-{digest}" for part, digest in digests.items())


def compare(began: str, now: str) -> None:
    """Raise InputError where a job reads something else than the run began with."""
    then, present = (dict(part.split("-") for part in text.split(".")) for text in (began, now))
    changed = [words for part, words in WORDS.items() if then.get(part) != present[part]]
    if changed:
        raise InputError(
            f"{' and '.join(changed)}: edited while the run was under way; undo the edit, or let "
            "the run end and start it again, which makes anew what the edit concerns "
            "(docs/cluster.md describes how to edit during a run)"
        )
