"""What code a run began with: jobs that a scheduler starts later read the files again.

The process that plans the run puts `state` into the environment variable ATLAS_CODE, which
Snakemake hands to every job; `compare` refuses a job that reads other files than those.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import meaning, provenance

VARIABLE = "ATLAS_CODE"
WORDS = {
    "config": "the config, or what it names in a package",
    "rules": "Snakefile or rules/",
    "scripts": f"{meaning.PACKAGE}/",
}


def state(config: Mapping[str, Any], root: Path) -> str:
    """Digests of the config, of the rules in `root`, and of the scripts there and their meaning."""
    return _joined(_read(config, root) | {"scripts": meaning.digest_of_all(root / meaning.PACKAGE)})


def compare(began: str, config: Mapping[str, Any], root: Path) -> None:
    """Raise InputError where a job reads something else than the run began with.

    What the scripts mean is looked at only where their texts differ: that takes a second.
    """
    then, now = _parts(began), _read(config, root)
    if now.pop("texts") != then["texts"]:
        now["scripts"] = meaning.digest_of_all(root / meaning.PACKAGE)
    changed = [words for part, words in WORDS.items() if part in now and then[part] != now[part]]
    if changed:
        raise InputError(
            f"{' and '.join(changed)}: edited while the run was under way; undo the edit, or let "
            "the run end and start it again, which makes anew what the edit concerns "
            "(docs/cluster.md describes how to edit during a run)"
        )


def _read(config: Mapping[str, Any], root: Path) -> dict[str, str]:
    """What is quickly read: the config, the texts of the rules and of the scripts."""
    rules = [root / "Snakefile", *sorted((root / "rules").rglob("*.smk"))]
    return {
        "config": provenance.config_digest(config),
        "rules": _of_texts(rules, root),
        "texts": _of_texts(sorted((root / meaning.PACKAGE).rglob("*.py")), root),
    }


def _of_texts(paths: Iterable[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _joined(parts: Mapping[str, str]) -> str:
    return ".".join(f"{part}-{digest}" for part, digest in parts.items())


def _parts(joined: str) -> dict[str, str]:
    return dict(part.split("-") for part in joined.split("."))
