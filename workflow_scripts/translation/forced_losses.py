"""Teacher-forced losses with any sets of heads disabled, many variants of the model in one pass."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers.modeling_outputs import BaseModelOutput

from workflow_scripts.core.model.attention import watching
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.onednn import OneDNN
from workflow_scripts.core.model.translators import IGNORED, Translator, pad_targets
from workflow_scripts.core.run import job
from workflow_scripts.translation.variant_rows import Variants, variants_of


def forced_losses(
    translator: Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    variants: np.ndarray | None,
    pass_rows: int,
    mode: str = "zero",
) -> np.ndarray:
    """The losses of each variant's targets, float64 [variant, sentence]: nats, summed over tokens.

    The model is given the right beginning of every target, so that errors do not add up: the loss
    understates what a variant does that goes wrong early or repeats itself when it translates, and
    leaves out the search. In return it is smooth, and takes one pass.

    `variants` is bool [variant, sublayer, head], true where disabled; None is the model itself. A
    pass has at most `pass_rows` target tokens, padding among them, or those of one target.
    """
    of_model = variants_of(translator, variants, mode)
    n = len(of_model.heads)
    losses = np.empty((len(sources), n))
    lengths = np.repeat([len(target) for target in targets], n)
    with torch.inference_mode(), OneDNN():
        for items in job.progress(by_length(lengths, pass_rows), desc=f"losses of {n} variants"):
            losses.flat[items] = _pass(of_model, sources, targets, items)
    return losses.T


def _pass(
    variants: Variants,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    items: np.ndarray,
) -> np.ndarray:
    """The losses of items: a sentence and its variant."""
    translator, (sentences, of_rows) = variants.translator, np.divmod(items, len(variants.heads))
    states, inputs = variants.encode(sources, sentences, of_rows)
    labels = pad_targets(translator, [targets[index] for index in sentences])
    with watching(translator.model, variants.rows(of_rows)):
        logits = translator.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=inputs["attention_mask"],
            labels=labels,
            use_cache=False,
        ).logits
    losses = cross_entropy(
        logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return losses.view(labels.shape).double().sum(1).cpu().numpy()
