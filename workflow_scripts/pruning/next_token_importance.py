"""How much each head, or key-value group, of a decoder matters by the gradient of its gate."""

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import causal, padding
from workflow_scripts.core.model.attention import n_heads, n_layers, watching
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.onednn import OneDNN
from workflow_scripts.core.run import job


def gradients(
    model: PreTrainedModel, tokens: Sequence[Tokens], batch_tokens: int = 512
) -> np.ndarray:
    """dL/d xi of every text and head, float64 [text, layer, head], of an opened model.

    L is the mean of the nats of a text's next tokens, xi the gate that multiplies a head's output
    (Michel et al. 2019, section 4.1). There is one gate for each text and head, so that one
    backward pass gives every text's own gradient.
    """
    shape = (n_layers(model), n_heads(model))
    values = np.empty((len(tokens), *shape))
    model.requires_grad_(False)
    batches = by_length([len(text) for text in tokens], batch_tokens)
    for batch in job.progress(batches, len(batches), "gradients"):
        inputs = padding.pad([tokens[index] for index in batch], model)
        xi = torch.ones(len(batch), *shape, device=model.device, requires_grad=True)
        with OneDNN(), watching(model, Gates(xi)):
            nats = causal.losses(model, inputs["input_ids"], inputs["attention_mask"])
            nats.nanmean(dim=1).sum().backward()
        values[batch] = xi.grad.double().cpu().numpy()
    return values


def of_groups(gradients: np.ndarray, n_kv_heads: int) -> np.ndarray:
    """Gradients [text, layer, key-value head] of one gate for all heads of a group.

    The gate of a group multiplies the outputs of all its heads, so that its gradient is the sum of
    theirs.
    """
    return gradients.reshape(*gradients.shape[:2], n_kv_heads, -1).sum(axis=-1)
