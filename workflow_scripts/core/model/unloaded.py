"""The files of a model, looked at before it is loaded: here or on the hub, and its weights."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, PretrainedConfig

from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.model import models, weights

# Bytes of weights up to which they are loaded, as for the model's card; else the header is read.
LOADED = 600_000_000
WEIGHTS = ".safetensors"
# How older checkpoints name what is called weight and bias today.
OLD_NAMES = {"gamma": "weight", "beta": "bias"}
LOADS = "loaded, its attention can be read"
TOO_LARGE = "only the header was read: too large for seconds"
FEWEST = 0.5  # share of an architecture's weights that its file must have


def find(entry: dict[str, Any], network: Network) -> tuple[Path, Mapping[str, int]]:
    """The directory of a model and, where only the hub has its weights, the sizes of its files.

    Raises InputError where there is none.
    """
    if "hub" not in entry:
        return models.resolve(models.Source.from_config(entry)), {}
    directory, files = _cached(entry), {}
    if directory is None:
        files = network.of_hub("model", entry["hub"], entry["revision"])
        directory = _without_weights(entry, files)
    return directory, files


def weigh(directory: Path, files: Mapping[str, int], config: PretrainedConfig) -> tuple[int, str]:
    """Bytes of the weights on the disk, and LOADS or why they are not loaded.

    Raises InputError where the weights that are here are not those of the config.
    """
    if files:
        on_disk = sum(files[name] for name in files if name.endswith(WEIGHTS))
        return on_disk, "on the hub, not downloaded yet"
    check_header(directory, config, weights.read_header(directory))
    on_disk = sum(path.stat().st_size for path in weights.files(directory))
    return on_disk, LOADS if on_disk <= LOADED else TOO_LARGE


def _cached(entry: dict[str, Any]) -> Path | None:
    """The directory of a hub model in the local cache; None where its weights are not there."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    wanted = {"revision": entry["revision"], "allow_patterns": list(models.FILES)}
    try:
        found = Path(snapshot_download(entry["hub"], local_files_only=True, **wanted))
    except LocalEntryNotFoundError:
        return None
    return found if list(found.glob(f"*{WEIGHTS}")) else None


def _without_weights(entry: dict[str, Any], files: Mapping[str, int]) -> Path:
    """The directory of a hub model, downloaded without its weights.

    Raises InputError where the repository, whose `files` have these bytes, has no such weights.
    """
    from huggingface_hub import snapshot_download

    where = f"hub: {entry['hub']} at {entry['revision']}"
    if not any(name.endswith(WEIGHTS) for name in files):
        raise InputError(
            f"{where}: no *{WEIGHTS} weights; use a revision or model that has them (docs/data.md)"
        )
    small = [pattern for pattern in models.FILES if not pattern.endswith(WEIGHTS)]
    try:
        found = snapshot_download(entry["hub"], revision=entry["revision"], allow_patterns=small)
    except Exception as error:  # of any layer of the network below
        raise InputError(f"{where}: cannot be fetched ({one_line(error)}); try again") from error
    return Path(found)


def check_header(
    directory: Path, config: PretrainedConfig, header: Mapping[str, weights.Stored]
) -> None:
    """Raise InputError where the tensors are not those of the architecture that `config` names."""
    with torch.device("meta"):
        body = AutoModel.from_config(config, trust_remote_code=False)
    expected = {name: tuple(tensor.shape) for name, tensor in body.state_dict().items()}
    prefix = f"{body.base_model_prefix}."
    found = {_today(name.removeprefix(prefix)): stored for name, stored in header.items()}
    there = expected.keys() & found.keys()
    if len(there) < FEWEST * len(expected):
        raise InputError(
            f"{directory}: the weights have {len(there)} of the {len(expected)} tensors of "
            f"{config.model_type}, which config.json names; copy the files of one model"
        )
    floating = {name for name, tensor in body.state_dict().items() if tensor.is_floating_point()}
    weights.check_types(directory, {name: found[name] for name in there & floating})
    for name in sorted(there):
        if (shape := found[name].shape) != expected[name]:
            raise InputError(
                f"{directory}: {name} has shape {list(shape)}, but config.json asks for "
                f"{list(expected[name])}; copy the files of one model"
            )


def _today(name: str) -> str:
    *parents, last = name.split(".")
    return ".".join([*parents, OLD_NAMES.get(last, last)])
