"""Beam search as `generate` of transformers does it, over sentences that leave when they are done.

`generate` decodes every sentence of a batch until the last is done: one that repeats itself up to
the cap keeps all others. Here those that are done give their rows back. All else of `generate` is
used as it is: model.generate(..., custom_generate=search, leave=...).

The source's keys and values are the same for all hypotheses of a sentence, and are kept once: a
step moves those of the decoder's own tokens alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch.nn.functional import log_softmax
from transformers import EncoderDecoderCache, GenerationConfig, LogitsProcessorList, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

NEVER = -1e9  # the score of what cannot be chosen, as in transformers
LEAVING = 1 / 16  # rows are given back when this share of the sentences is done


def search(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    logits_processor: LogitsProcessorList,
    generation_config: GenerationConfig,
    leave: Callable[[torch.Tensor], None],
    **inputs: Any,
) -> list[list[int]]:
    """The tokens generated for each sentence; they end with an end token unless they are cut off.

    Called by `generate`, which gives the prompts [sentence * beam, token], the encoder's outputs
    and the rest. When sentences leave, `leave` gets the indices of those that stay among those that
    were there.
    """
    beams, prompt = generation_config.num_beams, input_ids.shape[1]
    hypotheses = Hypotheses.start(input_ids.unflatten(0, (-1, beams)))
    step = BeamStep(generation_config, prompt, input_ids.device)
    found: list[list[int]] = [[] for _ in range(len(hypotheses.tokens))]
    numbers = torch.arange(len(found), device=input_ids.device)  # of the sentences still there
    states = inputs["encoder_outputs"].last_hidden_state[::beams]
    mask = inputs["attention_mask"][::beams]
    cache: EncoderDecoderCache = inputs["past_key_values"]

    def read(tokens: torch.Tensor) -> torch.Tensor:
        """The logits [row, word] after `tokens` [row, token] and what the cache holds."""
        return model(
            decoder_input_ids=tokens,
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
        ).logits[:, -1]

    logits = read(input_ids[::beams]).repeat_interleave(beams, 0)
    # The hypotheses of a sentence are still the same.
    cache.self_attention_cache.batch_repeat_interleave(beams)
    while True:
        origin = step(hypotheses, logits, logits_processor)
        stay = (~hypotheses.done).nonzero()[:, 0]
        if len(stay) <= (1 - LEAVING) * len(numbers):
            for index in hypotheses.done.nonzero()[:, 0].tolist():
                length = int(hypotheses.length[index])
                found[int(numbers[index])] = hypotheses.best[index, prompt:length].tolist()
            if not len(stay):
                return found
            hypotheses.keep(stay)
            leave(stay)
            numbers, origin = numbers[stay], origin[stay]
            states, mask = states[stay], mask[stay]
            cache.cross_attention_cache.reorder_cache(stay)
        cache.self_attention_cache.reorder_cache(origin.flatten())
        logits = read(hypotheses.tokens[..., -1].reshape(-1, 1))


@dataclass
class Hypotheses:
    """The beginnings of translations of some sentences, and what ended, with prompts.

    `tokens` [sentence, beam, token] go on, with log-probabilities `scores` [sentence, beam]. What
    `ended` [sentence, beam] has scores that are divided by lengths; of the best of them `best`
    [sentence, token] has `length` tokens. A sentence is `done` where it cannot be surpassed.
    """

    tokens: torch.Tensor
    scores: torch.Tensor
    ended: torch.Tensor
    ended_scores: torch.Tensor
    best: torch.Tensor
    length: torch.Tensor
    done: torch.Tensor

    @classmethod
    def start(cls, prompts: torch.Tensor) -> "Hypotheses":
        """All beams of a sentence are equal: the first alone has a score."""
        never = torch.full(prompts.shape[:2], NEVER, device=prompts.device)
        scores = never.clone()
        scores[:, 0] = 0
        none = torch.zeros_like(never, dtype=torch.bool)
        first, no = prompts[:, 0], none[:, 0]
        return cls(prompts, scores, none, never, first, torch.zeros_like(first[:, 0]), no)

    def keep(self, indices: torch.Tensor) -> None:
        """Leave out all sentences but these."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[indices])

    def end(self, new: torch.Tensor, tokens: torch.Tensor) -> None:
        """Let `tokens` [sentence, token] be the best where `new` [sentence] is true."""
        best = torch.zeros_like(tokens)
        best[:, : self.best.shape[1]] = self.best
        self.best = torch.where(new[:, None], tokens, best)
        self.length = self.length.masked_fill(new, tokens.shape[1])


class BeamStep:
    """One step of the search that a generation config describes."""

    def __init__(self, config: GenerationConfig, prompt: int, device: torch.device) -> None:
        self.ends = torch.tensor(ends_of(config), device=device)
        self.config, self.prompt, self.beams = config, prompt, config.num_beams

    def __call__(
        self, hypotheses: Hypotheses, logits: torch.Tensor, process: LogitsProcessorList
    ) -> torch.Tensor:
        """Go on by one token; the row that each hypothesis continues, int64 [sentence, beam].

        `logits` are [sentence * beam, word].
        """
        step = self._greedily if self.beams == 1 else self._by_beams
        return step(hypotheses, logits.float(), process)

    def _greedily(
        self, hypotheses: Hypotheses, logits: torch.Tensor, process: LogitsProcessorList
    ) -> torch.Tensor:
        token = process(hypotheses.tokens[:, 0], logits.clone()).argmax(1)
        tokens = torch.cat((hypotheses.tokens[:, 0], token[:, None]), 1)
        new = torch.isin(token, self.ends) | (tokens.shape[1] == self.config.max_length)
        hypotheses.end(new & ~hypotheses.done, tokens)
        hypotheses.tokens, hypotheses.done = tokens[:, None], hypotheses.done | new
        return torch.arange(len(tokens), device=tokens.device)[:, None]

    def _by_beams(
        self, hypotheses: Hypotheses, logits: torch.Tensor, process: LogitsProcessorList
    ) -> torch.Tensor:
        beams = self.beams
        kept = max(2, 1 + len(self.ends)) * beams  # so that `beams` of them do not end
        scores = process(hypotheses.tokens.flatten(0, 1), log_softmax(logits, 1))
        sums = scores.unflatten(0, (-1, beams)) + hypotheses.scores[..., None]
        scores, chosen = sums.flatten(1).topk(kept)
        beam, token = chosen // sums.shape[2], chosen % sums.shape[2]
        tokens = torch.cat((_taken(hypotheses.tokens, beam), token[..., None]), 2)
        size = tokens.shape[2]
        last = size == self.config.max_length
        ends = torch.isin(token, self.ends) | last
        self._end(hypotheses, tokens, scores, ends)
        hypotheses.scores, chosen = (scores + ends * NEVER).topk(beams)
        hypotheses.tokens = _taken(tokens, chosen)
        self._close(hypotheses, size, last)
        first = torch.arange(len(tokens), device=tokens.device)[:, None] * beams
        return first + beam.gather(1, chosen)

    def _end(
        self,
        hypotheses: Hypotheses,
        tokens: torch.Tensor,
        scores: torch.Tensor,
        ends: torch.Tensor,
    ) -> None:
        """Keep what ends now, among the first `beams` alone, if it is among the best that ended."""
        length = tokens.shape[2] - self.prompt
        new = ends & ~hypotheses.done[:, None]
        new[:, self.beams :] = False
        scores = torch.where(new, scores / length**self.config.length_penalty, NEVER)
        merged = torch.cat((hypotheses.ended_scores, scores), 1)
        hypotheses.ended_scores, chosen = merged.topk(self.beams)
        hypotheses.ended = torch.cat((hypotheses.ended, new), 1).gather(1, chosen)
        best = chosen[:, :1] - self.beams
        best_is_new = (best >= 0) & new.gather(1, best.clamp(min=0))
        hypotheses.end(best_is_new[:, 0], _taken(tokens, best.clamp(min=0))[:, 0])

    def _close(self, hypotheses: Hypotheses, size: int, last: bool) -> None:
        """Mark the sentences that are done."""
        possible = hypotheses.scores[:, :1] / (size - self.prompt) ** self.config.length_penalty
        worst = hypotheses.ended_scores.amin(1, keepdim=True)
        better = possible > torch.where(hypotheses.ended, worst, NEVER)
        hypotheses.done = hypotheses.done | ~better.any(1) | last


def ends_of(config: GenerationConfig) -> list[int]:
    """The tokens that end a translation."""
    ends = config.eos_token_id
    return [ends] if isinstance(ends, int) else list(ends)


def _taken(tokens: torch.Tensor, beams: torch.Tensor) -> torch.Tensor:
    """tokens [sentence, beam, token] of `beams` [sentence, n]."""
    return tokens.gather(1, beams[..., None].expand(-1, -1, tokens.shape[2]))
