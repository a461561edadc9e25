"""Translations with any sets of heads disabled, many variants of the model in one pass.

    found = translate(translator, sources, heads, pass_rows=512)  # heads [variant, sublayer, head]
    found.ids[variant][sentence], found.capped[variant, sentence]

A pair of a variant and a sentence is an item; items of sentences of like length share a pass,
whatever their variants. The encoder reads a sentence once for all items of a pass that disable the
same heads of the encoder, which most variants leave alone. Items that are done leave their pass, so
that a variant that repeats itself up to the cap keeps no others.

Translations are those of `generate` for one variant and one sentence. Where hypotheses have equal
scores but for rounding, the size of a pass may decide, as in `generate` it does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers.modeling_outputs import BaseModelOutput

from workflow_scripts.core.model.attention import watching
from workflow_scripts.core.model.batches import chunks_by_length
from workflow_scripts.core.model.translators import Translator
from workflow_scripts.core.run import job
from workflow_scripts.translation.beam_search import ends_of, search
from workflow_scripts.translation.variant_rows import Variants, variants_of


@dataclass(frozen=True)
class Translations:
    """Generated tokens [variant][sentence], and which have no end within the cap."""

    ids: list[list[list[int]]]
    capped: np.ndarray  # bool [variant, sentence]


def translate(
    translator: Translator,
    sources: Sequence[Sequence[int]],
    variants: np.ndarray | None,
    pass_rows: int,
    mode: str = "zero",
) -> Translations:
    """Translate every source with the heads of each variant disabled.

    `variants` is bool [variant, sublayer, head], true where disabled; None is the model itself. A
    pass has at most `pass_rows` rows, one for each hypothesis, or those of one item.
    """
    of_model = variants_of(translator, variants, mode)
    n, ends = len(of_model.heads), ends_of(translator.model.generation_config)
    lengths = np.repeat([len(source) for source in sources], n)
    passes = chunks_by_length(lengths, max(1, pass_rows // translator.generation.beams))
    ids: list[list[list[int]]] = [[[] for _ in sources] for _ in range(n)]
    capped = np.zeros((n, len(sources)), bool)
    with torch.inference_mode():
        for items in job.progress(passes[::-1], desc=f"passes, {n} variants"):  # longest first
            for item, tokens in zip(items, _pass(of_model, sources, items), strict=True):
                sentence, variant = divmod(int(item), n)
                ids[variant][sentence] = tokens
                capped[variant, sentence] = tokens[-1] not in ends
    return Translations(ids, capped)


def _pass(
    variants: Variants, sources: Sequence[Sequence[int]], items: np.ndarray
) -> list[list[int]]:
    """The tokens generated for each item: a sentence and its variant."""
    model, (sentences, of_rows) = variants.translator.model, np.divmod(items, len(variants.heads))
    states, inputs = variants.encode(sources, sentences, of_rows)
    disabled = variants.rows(of_rows)
    with watching(model, disabled):
        return model.generate(
            **inputs,
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            custom_generate=search,
            leave=disabled.keep,
        )
