"""Commits of repositories on the Hugging Face hub, as far as this machine knows them."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

COMMIT = re.compile("[0-9a-f]{40}")
# The parts of a config whose repositories are datasets; all others are models.
DATASETS = ("corpora", "tasks")


def here(config: Mapping[str, Any], keys: Sequence[str]) -> str:
    """What to write for the branch or tag at `keys`, where the local cache has its commit.

    Empty where it has not; the network is not asked.
    """
    entry = reduce(lambda part, key: part[key], keys[:-1], config)
    branch, repository = entry[keys[-1]], entry.get("hub")
    if not isinstance(repository, str) or not isinstance(branch, str):
        return ""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    kind = "dataset" if keys[0] in DATASETS else "model"
    folder = repo_folder_name(repo_id=repository, repo_type=kind)
    try:
        commit = Path(constants.HF_HUB_CACHE, folder, "refs", branch).read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""
    return f"; on this machine it is {commit}: write that" if COMMIT.fullmatch(commit) else ""
