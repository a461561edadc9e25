"""The models of a study: config, tokenizer, weights and what the chapters need of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import PretrainedConfig

from workflow_scripts.core.data.abilities import check_abilities, check_kind
from workflow_scripts.core.data.gguf_sources import is_gguf
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import gguf_files, models, unloaded, weights
from workflow_scripts.core.model.vocabulary import check_vocabulary, special_tokens
from workflow_scripts.core.run.units import size


def check(
    name: str,
    entry: dict[str, Any],
    needed: Mapping[str, Sequence[str]],
    network: Network,
    kind: str = "encoder",
) -> tuple[PretrainedConfig | None, str]:
    """The config of the model of one entry, None of a GGUF file, and what was looked at.

    Raises InputError with what is wrong. Of a model on the hub that is not on this machine, all
    but the weights is downloaded; of a GGUF file nothing, and the weights are not read.
    """
    if is_gguf(entry):
        return None, _of_gguf(entry, needed, network, kind)
    directory, files = unloaded.find(entry, network)
    tokenizer = models.load_tokenizer(directory)
    config = weights.read_config(directory)
    on_disk, looked = unloaded.weigh(directory, files, config)
    if looked == unloaded.LOADS:
        card = models.describe(directory, name, models.Source.from_config(entry))
        check_kind(card, kind)
    else:
        card = {"source": entry, "special": special_tokens(directory, tokenizer)}
    check_abilities(card, needed)
    return config, f"{_architecture(config)}, weights {size(on_disk)}: {looked}"


def _of_gguf(
    entry: dict[str, Any], needed: Mapping[str, Sequence[str]], network: Network, kind: str
) -> str:
    source = models.Source.from_config(entry)
    if source.hub is not None and not gguf_files.is_cached(source):
        files = network.of_hub("model", source.hub, source.revision)
        if source.file not in files:
            there = ", ".join(sorted(name for name in files if is_gguf({"file": name})))
            raise InputError(
                f"hub: {source.hub} at {source.revision}: no {source.file}; its GGUF files: "
                f"{there or 'none'}"
            )
        return f"{source.file}, {size(files[source.file])}: on the hub, not downloaded yet"
    file = gguf_files.find(source)
    header = gguf_files.read_header(file)
    check_vocabulary(file, header.tokenizer, header.config, ("pad",))
    special = special_tokens(file, header.tokenizer)
    card = {"source": entry, "special": special, "bidirectional": False}
    check_kind(card, kind)
    check_abilities(card, needed)
    stored = f"{header.quantised or 'plain'} weights {size(file.stat().st_size)}"
    return f"{_architecture(header.config)}, {stored}: dequantised when the study runs"


def _architecture(config: PretrainedConfig) -> str:
    layers = f"{config.num_hidden_layers} layers of {config.num_attention_heads} heads"
    return f"{config.model_type}, {layers}"
