"""What code a run began with: jobs that a scheduler starts later read the files again.

The process that plans the run puts `state` into the environment variable ATLAS_CODE, which
Snakemake hands to every job; `compare` refuses a job that reads other files than those.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity.code_digest import PACKAGE, digest_of_all
from workflow_scripts.core.integrity.provenance import config_digest

VARIABLE = "ATLAS_CODE"
WORDS = {
    "config": "the config, or what it names in a package",
    "rules": "Snakefile or rules/",
    "scripts": f"{PACKAGE}/",
}


def state(config: Mapping[str, Any], root: Path) -> str:
    """Digests of the config, of the rules in `root`, and of the scripts there and their code."""
    parts = _read(config, root) | {"scripts": digest_of_all(root / PACKAGE)}
    return ".".join(f"{part}-{digest}" for part, digest in parts.items())


def compare(began: str, config: Mapping[str, Any], root: Path) -> None:
    """Raise InputError where a job reads something else than the run began with.

    The scripts' code is looked at only where their texts differ: that takes a second.
    """
    then = dict(part.split("-") for part in began.split("."))
    now = _read(config, root)
    if now.pop("texts") != then["texts"]:
        now["scripts"] = digest_of_all(root / PACKAGE)
    changed = [WORDS[part] for part in now if then[part] != now[part]]
    if changed:
        raise InputError(
            f"{' and '.join(changed)}: edited while the run was under way; undo the edit, or let "
            "the run end and start it again (docs/cluster.md)"
        )


def _read(config: Mapping[str, Any], root: Path) -> dict[str, str]:
    """What is quickly read: the config, the texts of the rules and of the scripts."""
    rules = [root / "Snakefile", *sorted((root / "rules").rglob("*.smk"))]
    texts = sorted((root / PACKAGE).rglob("*.py"))
    return {
        "config": config_digest(config),
        "rules": _digest(rules, root),
        "texts": _digest(texts, root),
    }


def _digest(paths: Iterable[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
