"""Translations and teacher-forced losses with sets of heads disabled, many variants in one pass.

A pair of a variant and a sentence is an item; items of sentences of like length share a pass.

Translations are those of `generate` for one variant and one sentence. Where hypotheses have equal
scores but for rounding, the size of a pass may decide, as in `generate` it does. `generate` decodes
every sentence of a batch until the last is done; here those that are done give their rows back, so
that a variant that repeats itself up to the cap keeps no others. The source's keys and values are
kept once for all hypotheses of a sentence: a step moves those of the decoder's own tokens alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, log_softmax
from transformers import EncoderDecoderCache, GenerationConfig, LogitsProcessorList, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from workflow_scripts.core.data.tokens import IGNORED
from workflow_scripts.core.model.attention import sublayers, watching
from workflow_scripts.core.model.interventions import Disabled
from workflow_scripts.core.model.running import OneDNN, by_length, chunks_by_length
from workflow_scripts.core.model.translators import Translator, pad_sources, pad_targets
from workflow_scripts.core.run import job


@dataclass(frozen=True)
class Variants:
    """Sets of disabled heads, bool [variant, sublayer, head], and how they are disabled."""

    translator: Translator
    heads: np.ndarray
    mode: str

    @cached_property
    def encoder_sets(self) -> np.ndarray:
        """A number for each variant: the same for those that disable the same encoder heads."""
        types = [sublayer.type for sublayer in sublayers(self.translator.model)]
        heads = self.heads[:, np.array(types) == "encoder"]
        return np.unique(heads.reshape(len(heads), -1), axis=0, return_inverse=True)[1].ravel()

    def rows(self, variants: np.ndarray) -> Disabled:
        """The watcher for a pass whose rows are of these variants."""
        heads = torch.from_numpy(self.heads[variants]).to(self.translator.model.device)
        return Disabled(heads, self.mode)

    def encode(
        self, sources: Sequence[Sequence[int]], sentences: np.ndarray, variants: np.ndarray
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The encoder's states [row, token, width] and its inputs, of sentences by variants.

        Rows of one sentence that disable the same heads of the encoder, often none, share its pass.
        """
        keys = np.stack([sentences, self.encoder_sets[variants]])
        _, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        translator, rows = self.translator, torch.from_numpy(inverse.ravel())
        inputs = pad_sources(translator, [sources[index] for index in sentences[first]])
        with watching(translator.model, self.rows(variants[first])):
            states = translator.model.get_encoder()(**inputs).last_hidden_state
        rows = rows.to(states.device)
        return states[rows], {name: value[rows] for name, value in inputs.items()}


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
    hypotheses = Hypotheses(input_ids.unflatten(0, (-1, beams)), generation_config)
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
        origin = hypotheses.step(logits, logits_processor)
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


class Hypotheses:
    """The beginnings of translations of some sentences, and what ended, with prompts.

    `tokens` [sentence, beam, token] go on, with log-probabilities `scores` [sentence, beam]. What
    `ended` [sentence, beam] has scores that are divided by lengths; of the best of them `best`
    [sentence, token] has `length` tokens. A sentence is `done` where it cannot be surpassed.
    """

    def __init__(self, prompts: torch.Tensor, config: GenerationConfig) -> None:
        never = torch.full(prompts.shape[:2], NEVER, device=prompts.device)
        self.config, self.prompt = config, prompts.shape[2]
        self.end_tokens = torch.tensor(ends_of(config), device=prompts.device)
        self.tokens, self.scores = prompts, never.clone()
        self.scores[:, 0] = 0  # all beams are equal: the first alone has a score
        self.ended, self.ended_scores = torch.zeros_like(never, dtype=torch.bool), never
        self.best, self.done = prompts[:, 0], self.ended[:, 0]
        self.length = torch.zeros_like(self.best[:, 0])

    def keep(self, indices: torch.Tensor) -> None:
        """Leave out all sentences but these."""
        for name in ("tokens", "scores", "ended", "ended_scores", "best", "length", "done"):
            setattr(self, name, getattr(self, name)[indices])

    def step(self, logits: torch.Tensor, process: LogitsProcessorList) -> torch.Tensor:
        """Go on by one token; the row that each hypothesis continues, int64 [sentence, beam].

        `logits` are [sentence * beam, word].
        """
        step = self._greedy_step if self.config.num_beams == 1 else self._beam_step
        return step(logits.float(), process)

    def _greedy_step(self, logits: torch.Tensor, process: LogitsProcessorList) -> torch.Tensor:
        token = process(self.tokens[:, 0], logits.clone()).argmax(1)
        tokens = torch.cat((self.tokens[:, 0], token[:, None]), 1)
        new = torch.isin(token, self.end_tokens) | (tokens.shape[1] == self.config.max_length)
        self._end(new & ~self.done, tokens)
        self.tokens, self.done = tokens[:, None], self.done | new
        return torch.arange(len(tokens), device=tokens.device)[:, None]

    def _beam_step(self, logits: torch.Tensor, process: LogitsProcessorList) -> torch.Tensor:
        beams, penalty = self.config.num_beams, self.config.length_penalty
        kept = max(2, 1 + len(self.end_tokens)) * beams  # so that `beams` of them do not end
        scores = process(self.tokens.flatten(0, 1), log_softmax(logits, 1))
        sums = scores.unflatten(0, (-1, beams)) + self.scores[..., None]
        scores, chosen = sums.flatten(1).topk(kept)
        beam, token = chosen // sums.shape[2], chosen % sums.shape[2]
        tokens = torch.cat((_taken(self.tokens, beam), token[..., None]), 2)
        length, last = tokens.shape[2] - self.prompt, tokens.shape[2] == self.config.max_length
        ends = torch.isin(token, self.end_tokens) | last
        # What ends now, among the first `beams` alone, is kept if it is among the best that ended.
        new = ends & ~self.done[:, None]
        new[:, beams:] = False
        ended_scores = torch.where(new, scores / length**penalty, NEVER)
        self.ended_scores, chosen = torch.cat((self.ended_scores, ended_scores), 1).topk(beams)
        self.ended = torch.cat((self.ended, new), 1).gather(1, chosen)
        best = chosen[:, :1] - beams
        best_is_new = (best >= 0) & new.gather(1, best.clamp(min=0))
        self._end(best_is_new[:, 0], _taken(tokens, best.clamp(min=0))[:, 0])
        self.scores, chosen = (scores + ends * NEVER).topk(beams)
        self.tokens = _taken(tokens, chosen)
        worst = torch.where(self.ended, self.ended_scores.amin(1, keepdim=True), NEVER)
        self.done = self.done | ~(self.scores[:, :1] / length**penalty > worst).any(1) | last
        first = torch.arange(len(tokens), device=tokens.device)[:, None] * beams
        return first + beam.gather(1, chosen)

    def _end(self, new: torch.Tensor, tokens: torch.Tensor) -> None:
        """Let `tokens` [sentence, token] be the best where `new` [sentence] is true."""
        best = torch.zeros_like(tokens)
        best[:, : self.best.shape[1]] = self.best
        self.best = torch.where(new[:, None], tokens, best)
        self.length = self.length.masked_fill(new, tokens.shape[1])


def ends_of(config: GenerationConfig) -> list[int]:
    """The tokens that end a translation."""
    return np.atleast_1d(config.eos_token_id).tolist()


def _taken(tokens: torch.Tensor, beams: torch.Tensor) -> torch.Tensor:
    """tokens [sentence, beam, token] of `beams` [sentence, n]."""
    return tokens.gather(1, beams[..., None].expand(-1, -1, tokens.shape[2]))


def translate(
    translator: Translator,
    sources: Sequence[Sequence[int]],
    variants: np.ndarray,
    pass_rows: int,
    mode: str = "zero",
) -> list[list[list[int]]]:
    """The tokens generated for every source without the heads of each variant [variant][sentence].

    `variants` is bool [variant, sublayer, head], true where disabled. A pass has at most
    `pass_rows` rows, one for each hypothesis, or those of one item.
    """
    of_model = Variants(translator, variants, mode)
    n = len(of_model.heads)
    lengths = np.repeat([len(source) for source in sources], n)
    beams = translator.model.generation_config.num_beams
    passes = chunks_by_length(lengths, max(1, pass_rows // beams))
    ids: list[list[list[int]]] = [[[] for _ in sources] for _ in range(n)]
    with torch.inference_mode():
        for items in job.progress(passes[::-1], desc=f"passes, {n} variants"):  # longest first
            for item, tokens in zip(items, _translated_pass(of_model, sources, items), strict=True):
                sentence, variant = divmod(int(item), n)
                ids[variant][sentence] = tokens
    return ids


def _translated_pass(
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


def forced_losses(
    translator: Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    variants: np.ndarray,
    pass_rows: int,
    mode: str = "zero",
) -> np.ndarray:
    """The losses of each variant's targets, float64 [variant, sentence]: nats, summed over tokens.

    The model is given the right beginning of every target, so that errors do not add up: the loss
    understates what a variant does that goes wrong early or repeats itself when it translates, and
    leaves out the search. In return it is smooth, and takes one pass.

    `variants` is bool [variant, sublayer, head], true where disabled. A pass has at most
    `pass_rows` target tokens, padding among them, or those of one target.
    """
    of_model = Variants(translator, variants, mode)
    n = len(of_model.heads)
    losses = np.empty((len(sources), n))
    lengths = np.repeat([len(target) for target in targets], n)
    with torch.inference_mode(), OneDNN():
        for items in job.progress(by_length(lengths, pass_rows), desc=f"losses of {n} variants"):
            losses.flat[items] = _scored_pass(of_model, sources, targets, items)
    return losses.T


def _scored_pass(
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
