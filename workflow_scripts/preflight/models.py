"""The models of a study: config, tokenizer, weights and what the chapters need of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from workflow_scripts.core.data.abilities import check_abilities
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.model import models, unloaded, weights
from workflow_scripts.core.model.vocabulary import special_tokens
from workflow_scripts.core.run.units import size


def check(
    name: str, entry: dict[str, Any], needed: Mapping[str, Sequence[str]], network: Network
) -> tuple[None, str]:
    """What was looked at of the model of one entry. Raises InputError with what is wrong.

    Of a model on the hub that is not on this machine, all but the weights is downloaded.
    """
    directory, files = unloaded.find(entry, network)
    tokenizer = models.load_tokenizer(directory)
    config = weights.read_config(directory)
    on_disk, looked = unloaded.weigh(directory, files, config)
    if looked == unloaded.LOADS:
        card = models.describe(directory, name, models.Source.from_config(entry))
    else:
        card = {"source": entry, "special": special_tokens(directory, tokenizer)}
    check_abilities(card, needed)
    layers = f"{config.num_hidden_layers} layers of {config.num_attention_heads} heads"
    return None, f"{config.model_type}, {layers}, weights {size(on_disk)}: {looked}"
