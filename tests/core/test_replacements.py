"""What disabled heads output instead: averages, and outputs on another text, in plain loops."""

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.core.test_causal_engine import LLAMA, opened
from tests.core.tiny_models import random_classifier, random_tokens
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.interventions import averages_of, partners_of, replacement_of

LENGTHS = (9, 23, 14, 5, 17)


class Outputs(Watcher):
    """Lists the outputs of each layer."""

    def __init__(self) -> None:
        self.found: list[torch.Tensor] = []

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.found.append(output[0].clone())
        return output


def outputs_on(model: PreTrainedModel, text: Tokens) -> torch.Tensor:
    """[layer, head, token, dim] of one text, unpadded."""
    with watching(open_attention(model), outputs := Outputs()), torch.no_grad():
        model(**running.pad([text], model))
    return torch.stack(outputs.found)


@pytest.fixture(params=["bert", "albert", "llama"])
def model(request: pytest.FixtureRequest) -> PreTrainedModel:
    return opened(LLAMA) if request.param == "llama" else random_classifier(request.param)


def test_averages_are_over_real_tokens_by_position_and_in_all(model: PreTrainedModel) -> None:
    tokens = random_tokens(LENGTHS)
    each = [outputs_on(model, text) for text in tokens]
    overall = torch.cat(each, 2).mean(2)
    found = averages_of(model, tokens).overall
    torch.testing.assert_close(found, overall, atol=1e-5, rtol=1e-4)
    instead = replacement_of("position", model, [], tokens, 1).outputs_for([0, 1], 30)
    assert len(instead) == 1  # the same for all texts
    for position in range(30):
        having = [outputs[:, :, position] for outputs in each if outputs.shape[2] > position]
        expected = sum(having) / len(having) if having else overall
        torch.testing.assert_close(instead[0, :, :, position], expected, atol=1e-5, rtol=1e-4)


def test_resampled_outputs_are_those_of_the_partner_at_the_same_position(
    model: PreTrainedModel,
) -> None:
    texts, others = random_tokens((9, 23, 14, 5)), random_tokens((12, 20, 5, 21, 7, 15))[::-1]
    instead = replacement_of("resample", model, texts, others, 1)
    partners = partners_of(texts, others, 1)
    for rows in ([0, 1, 2, 3], [3, 0], [1]):
        n_tokens = max(len(texts[row]) for row in rows)
        found = instead.outputs_for(rows, n_tokens)
        for place, row in enumerate(rows):
            expected = outputs_on(model, others[partners[row]])
            for token in range(len(texts[row])):
                of_partner = expected[:, :, min(token, expected.shape[2] - 1)]
                actual = found[place, :, :, token]
                torch.testing.assert_close(actual, of_partner, atol=1e-5, rtol=1e-4)


def test_partners_are_other_texts_that_are_long_enough_and_depend_on_the_text_alone() -> None:
    texts = random_tokens((9, 23, 14, 5) * 5)
    partners = partners_of(texts, texts, 3)
    for text, partner in zip(texts, partners, strict=True):
        assert not np.array_equal(texts[partner].ids, text.ids)
        assert len(texts[partner]) >= len(text)
    assert (partners_of(texts[::-1], texts, 3) == partners[::-1]).all()
    assert (partners_of(texts, texts, 4) != partners).any()
    assert len(set(partners.tolist())) > 5


def test_the_longest_text_stands_in_where_none_is_long_enough() -> None:
    texts, others = random_tokens((23,)), random_tokens((5, 12, 9))
    assert partners_of(texts, others, 1).tolist() == [1]
    with pytest.raises(ValueError, match="no other text among 1 reference texts"):
        partners_of(texts, texts, 1)
