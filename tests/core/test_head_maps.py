"""The maps of a decoder's heads, in each architecture that opens."""

import numpy as np
import pytest
import torch

from tests.core.decoder_architectures import LAYERS, OPENED, WORDS
from tests.core.tiny_decoders import random_decoder
from workflow_scripts.battery.copying import circuit_of, copying, eigenvalue_scores
from workflow_scripts.battery.first_token_sinks import to_first_token
from workflow_scripts.battery.inputs import repeated
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.attention import Watcher
from workflow_scripts.core.model.head_maps import attention_modules, head_maps

IDS = repeated(np.arange(5, WORDS), start=1, n=2, length=7, seed=1)


class Outputs(Watcher):
    """Collects each layer's outputs, [batch, head, query, dim]."""

    def __init__(self) -> None:
        self.of_layer: dict[int, torch.Tensor] = {}

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.of_layer[layer] = output
        return output


@pytest.mark.parametrize("name", OPENED)
def test_what_heads_add_sums_to_what_the_layer_adds(name: str) -> None:
    """But for a bias, the same at all tokens; copying and sinks can be measured with the maps."""
    model = attention.open_attention(random_decoder(OPENED[name]))
    _, out = head_maps(model)
    outputs, added = Outputs(), {}

    def keep(module: torch.nn.Module, args: tuple, result: tuple) -> None:
        added[layers[module]] = result[0]

    layers = attention_modules(model)
    hooks = [module.register_forward_hook(keep) for module in layers]
    with torch.no_grad(), attention.watching(model, outputs):
        model(torch.from_numpy(IDS))
    for hook in hooks:
        hook.remove()
    assert len(added) == LAYERS
    for layer, whole in added.items():
        made = torch.einsum("bhqd,hde->bqe", outputs.of_layer[layer], out[layer])
        rest = whole - made
        assert (rest - rest.mean((0, 1))).abs().max() < 1e-4 * whole.abs().max()
    circuit = circuit_of(model)
    found = copying(model, circuit, IDS) | to_first_token(model, IDS, "")
    for values in (*found.values(), eigenvalue_scores(circuit)):
        assert np.isfinite(values).all()
