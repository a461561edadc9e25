"""The models of a study: config, tokenizer, weights and what the chapters need of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModel, PretrainedConfig
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.data.abilities import check_abilities
from workflow_scripts.core.model import models
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.preflight.estimates import Shape
from workflow_scripts.preflight.findings import size
from workflow_scripts.preflight.hub import Network

# Bytes of weights up to which they are loaded, as for the model's card; else the header is read.
LOADED = 600_000_000
FLOAT = 4  # bytes of a float32, in which classifiers are saved
INDEX = "model.safetensors.index.json"
# How older checkpoints name what is called weight and bias today.
OLD_NAMES = {"gamma": "weight", "beta": "bias"}
FEWEST = 0.5  # share of an architecture's weights that its file must have


@dataclass(frozen=True)
class Model:
    """What the estimates need of a model; the tokenizer is None before it is downloaded."""

    shape: Shape | None = None
    tokenizer: FastTokenizer | None = None


def check(
    name: str, entry: dict[str, Any], needed: Mapping[str, Sequence[str]], network: Network
) -> tuple[Model, str]:
    """The model of one entry and what was looked at. Raises InputError with what is wrong."""
    if "hub" in entry:
        directory = _cached(entry["hub"], entry["revision"])
        if directory is None:
            n, n_bytes = network.of_hub("model", entry["hub"], entry["revision"])
            what = f"on the hub, {n} files, {size(n_bytes)}: downloaded when the study runs"
            return Model(), f"{what}, and looked at then"
    else:
        directory = models.resolve(models.Source.from_config(entry))
    tokenizer = models.load_tokenizer(directory)
    config = AutoConfig.from_pretrained(directory)
    header = read_header(directory)
    check_header(directory, config, header)
    shape = shape_of(config, header)
    on_disk = sum(path.stat().st_size for path in directory.glob("*.safetensors"))
    source = models.Source.from_config(entry)
    if on_disk <= LOADED:
        card = models.describe(directory, name, source)
        looked = "loaded, its attention can be read"
    else:
        special = {kind: getattr(tokenizer, f"{kind}_token_id") for kind in ("cls", "sep", "mask")}
        card = {"source": entry, "special": special}
        looked = "only the header was read: too large for seconds"
    check_abilities(card, needed)
    what = f"{config.model_type}, {shape.layers} layers of {shape.heads} heads"
    return Model(shape, tokenizer), f"{what}, weights {size(on_disk)}: {looked}"


def _cached(repository: str, revision: str) -> Path | None:
    """The directory of a hub model in the local cache; None where it is not there."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    patterns = list(models.FILES)
    try:
        found = snapshot_download(
            repository, revision=revision, allow_patterns=patterns, local_files_only=True
        )
    except LocalEntryNotFoundError:
        return None
    return Path(found)


def read_header(directory: Path) -> dict[str, tuple[int, ...]]:
    """Name and shape of each tensor in the weight files, of which no value is read.

    Raises InputError where there is none, a shard of the index is missing or a file is damaged.
    """
    files = sorted(directory.glob("*.safetensors"))
    if not files:
        raise InputError(
            f"{directory}: no *.safetensors weights; save the model again with save_pretrained"
        )
    index = directory / INDEX
    if index.is_file():
        shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        for shard in sorted(shards - {file.name for file in files}):
            raise InputError(f"{directory}: {INDEX} names {shard}, which is missing; copy it again")
    shapes = {}
    for file in files:
        try:
            with safe_open(file, "pt") as weights:
                for key in weights.keys():  # noqa: SIM118 - not a mapping
                    shapes[key] = tuple(weights.get_slice(key).get_shape())
        except (SafetensorError, OSError) as error:
            raise InputError(f"{file}: cannot be read ({error}); copy it again") from error
    return shapes


def check_header(
    directory: Path, config: PretrainedConfig, header: Mapping[str, tuple[int, ...]]
) -> None:
    """Raise InputError where the tensors are not those of the architecture that `config` names."""
    with torch.device("meta"):
        body = AutoModel.from_config(config)
    expected = {name: tuple(tensor.shape) for name, tensor in body.state_dict().items()}
    prefix = f"{body.base_model_prefix}."
    found = {_today(name.removeprefix(prefix)): shape for name, shape in header.items()}
    there = expected.keys() & found.keys()
    if len(there) < FEWEST * len(expected):
        raise InputError(
            f"{directory}: the weights have {len(there)} of the {len(expected)} tensors of "
            f"{config.model_type}, which config.json names; copy the files of one model"
        )
    for name in sorted(there):
        if found[name] != expected[name]:
            raise InputError(
                f"{directory}: {name} has shape {list(found[name])}, but config.json asks for "
                f"{list(expected[name])}; copy the files of one model"
            )


def _today(name: str) -> str:
    *parents, last = name.split(".")
    return ".".join([*parents, OLD_NAMES.get(last, last)])


def shape_of(config: PretrainedConfig, header: Mapping[str, tuple[int, ...]]) -> Shape:
    """Layers, heads, positions, and bytes of the weights in float32."""
    return Shape(
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        weights=FLOAT * sum(prod(shape) for shape in header.values()),
        max_positions=models.max_positions(config),
    )
