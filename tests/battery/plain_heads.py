"""A tiny decoder's heads, written out from its weights: patterns, values and what is added."""

from types import SimpleNamespace

import numpy as np
import torch
from transformers import PreTrainedModel


def plain_heads(model: PreTrainedModel, ids: np.ndarray) -> SimpleNamespace:
    """What each head of a GPT-2 or Llama does on a text [token], by eager's own outputs.

    `pattern` [layer, head, query, key], `value` [layer, head, key, dim], `out` [layer, head, dim,
    hidden] and `into` [layer, head, dim, hidden]; `entering` is what the final norm reads.
    """
    gpt2 = model.config.model_type == "gpt2"
    n_layers, n_heads = model.config.num_hidden_layers, model.config.num_attention_heads
    model.set_attn_implementation("eager")
    final = model.transformer.ln_f if gpt2 else model.model.norm
    entering = []
    hook = final.register_forward_pre_hook(lambda module, args: entering.append(args[0][0]))
    with torch.no_grad():
        outputs = model(
            torch.from_numpy(ids)[None].long(), output_attentions=True, output_hidden_states=True
        )
    hook.remove()
    dim = model.config.hidden_size // n_heads
    values, into, out = [], [], []
    for layer in range(n_layers):
        states = outputs.hidden_states[layer][0]
        if gpt2:
            block = model.transformer.h[layer]
            normed = block.ln_1(states)
            weight = block.attn.c_attn.weight[:, 2 * n_heads * dim :].T  # [heads * dim, hidden]
            bias = block.attn.c_attn.bias[2 * n_heads * dim :]
            added = block.attn.c_proj.weight
            group = 1
        else:
            block = model.model.layers[layer]
            normed = block.input_layernorm(states)
            weight, bias = block.self_attn.v_proj.weight, torch.zeros(1)
            added = block.self_attn.o_proj.weight.T
            group = n_heads // model.config.num_key_value_heads
        of_key_value = (normed @ weight.T + bias).view(len(ids), -1, dim)
        maps = weight.view(-1, dim, weight.shape[1])
        values.append(torch.stack([of_key_value[:, head // group] for head in range(n_heads)]))
        into.append(torch.stack([maps[head // group] for head in range(n_heads)]))
        out.append(torch.stack([added[head * dim : (head + 1) * dim] for head in range(n_heads)]))
    found = {"pattern": [each[0] for each in outputs.attentions], "value": values}
    found |= {"into": into, "out": out}
    arrays = {name: torch.stack(each).detach().double().numpy() for name, each in found.items()}
    return SimpleNamespace(**arrays, entering=entering[0].detach().double().numpy())
