"""Language models: loading one, and the loss of each token that it predicts without sets of heads.

A causal model predicts next tokens, a masked one those that are masked; a classifier of tokens
predicts the label of each word.

A batch runs once through the plain model; each variant runs from its lowest disabled head up.
"""

import logging
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForTokenClassification,
    PreTrainedModel,
)
from transformers.utils import ModelOutput

from workflow_scripts.core.data.annotations import Example, Labelled, read_examples
from workflow_scripts.core.data.tables import sample
from workflow_scripts.core.data.tokens import IGNORED, Tokens, tokenize
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.model import attention, mlm, models, running, weights
from workflow_scripts.core.model.ablation_engine import (
    in_batches,
    lowest_layer,
    one_by_one,
)
from workflow_scripts.core.model.attention import MODULES, n_heads, n_layers, watching
from workflow_scripts.core.model.interventions import Disabled, Replacement
from workflow_scripts.core.run.model_sources import labels_tokens

log = logging.getLogger(__name__)
# What the logits [token, vocabulary] give the next tokens [token], [token].
Score = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
TOLERANCE = 1e-3  # nats, mean over tokens, from each layer up against the whole model, in float32
# Tokens whose logits are computed at a time: they stay in a CPU's cache, and keep a GPU busy.
UNEMBEDDED = {"cpu": 128, "gpu": 4096}


def load_causal(directory: Path, device: torch.device) -> PreTrainedModel:
    """The decoder with its head, in eval mode, on `device`, opened; InputError for an encoder."""
    model, _ = weights.load(AutoModelForCausalLM, directory, whole=True)
    model = attention.open_attention(model.to(device).eval())
    if attention.is_bidirectional(model):
        raise InputError(f"{directory}: tokens attend to later tokens; use a decoder")
    return model


def load(card: dict[str, Any], device: str) -> PreTrainedModel:
    """The language model of a card, opened: an encoder with its own head, of labels or masks."""
    directory, where = models.directory_of(card), running.pick_device(device)
    if not card.get("bidirectional", True):
        return load_causal(directory, where)
    labels = labels_tokens({"path": str(directory)})
    kind = AutoModelForTokenClassification if labels else AutoModelForMaskedLM
    model, _ = weights.load(kind, directory, whole=True)
    return attention.open_attention(model.to(where).eval())


Inputs = dict[str, torch.Tensor]


def predicted(inputs: Inputs) -> tuple[Inputs, torch.Tensor, torch.Tensor]:
    """What a model reads of a padded batch, and what it predicts: [batch, token], and where, bool.

    That is what the batch has as `labels`, else next tokens: the last token has none.
    """
    if "labels" in inputs:
        read = {name: rows for name, rows in inputs.items() if name != "labels"}
        return read, inputs["labels"], inputs["labels"] != IGNORED
    shorter = {name: rows[:, :-1] for name, rows in inputs.items()}
    return shorter, inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:].bool()


def nats(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The loss of each target, [token]."""
    return cross_entropy(logits.float(), targets, reduction="none")


def ranked_first(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """1 where the target has the largest logit, else 0, [token]."""
    return (logits.argmax(-1) == targets).float()


def token_losses(model: PreTrainedModel, inputs: Inputs, score: Score = nats) -> torch.Tensor:
    """Score of each token that an opened model predicts, [batch, token]; NaN where there is none.

    That is its loss in nats, unless `score` is another. Of a causal model token i is the next one,
    i + 1, so that there is one less.
    """
    read, targets, scored = predicted(inputs)
    logits = model(**read).logits
    found = torch.full(scored.shape, torch.nan, device=logits.device)
    return found.masked_scatter(scored, score(logits[scored], targets[scored]))


@dataclass(frozen=True)
class Layers:
    """The layers of a causal model, and the module that runs them."""

    body: nn.Module
    each: list[nn.Module]
    places: list[int]  # in this list, of the layers with attention: others may lie between them


@dataclass(frozen=True)
class Start:
    """A batch of texts in the plain model: what enters and leaves its layers, one by one."""

    model: PreTrainedModel
    layers: Layers
    inputs: Inputs  # what the model reads
    targets: torch.Tensor  # what it predicts, [batch, token]
    scored: torch.Tensor  # where it does, bool
    entering: list[torch.Tensor]  # hidden states, [batch, token, width]
    left: list[Any]  # what each layer returned, a tensor or a tuple
    output: ModelOutput  # of the body

    @classmethod
    def from_batch(cls, model: PreTrainedModel, layers: Layers, inputs: Inputs) -> Self:
        """Run a padded batch of `running.pad`."""
        read, targets, scored = predicted(inputs)
        entering, left = [], []

        def keep(layer: nn.Module, args: tuple, kwargs: dict, output: Any) -> None:
            entering.append(args[0] if args else kwargs["hidden_states"])
            left.append(output)

        with ExitStack() as stack:
            for layer in layers.each:
                stack.enter_context(layer.register_forward_hook(keep, with_kwargs=True))
            output = layers.body(**read)
        return cls(model, layers, read, targets, scored, entering, left, output)

    def losses(self, depth: int, n: int, score: Score = nats) -> torch.Tensor:
        """Scores [variant, batch, token] of `n` variants stacked, from layer `depth` up."""
        place = self.layers.places[depth]
        stacked = self.entering[place].repeat(n, 1, 1)
        with ExitStack() as stack:
            for below, output in zip(self.layers.each[:place], self.left, strict=False):
                rest = output[1:] if isinstance(output, tuple) else None
                skipped = stacked if rest is None else (stacked, *rest)
                stack.enter_context(running.replaced(below, lambda *args, to=skipped, **kwargs: to))
            inputs = {name: rows.repeat(n, 1) for name, rows in self.inputs.items()}
            hidden = self.layers.body(**inputs).last_hidden_state
        hidden = hidden.unflatten(0, (n, -1))
        scored = self.scored.expand(hidden.shape[:-1])
        targets = self.targets.expand_as(scored)[scored]
        size = UNEMBEDDED["cpu" if hidden.is_cpu else "gpu"]
        parts = zip(hidden[scored].split(size), targets.split(size), strict=True)
        found = torch.full(scored.shape, torch.nan, device=hidden.device)
        found[scored] = torch.cat([score(self._logits(*part), part[1]) for part in parts])
        return found

    def _logits(self, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Logits [token, vocabulary] of some of the body's outputs, by what the model does."""
        output = replace(self.output, last_hidden_state=hidden[None])
        with running.replaced(self.layers.body, lambda *args, **kwargs: output):
            return self.model(input_ids=targets[None]).logits[0]


def ablate(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    disabled: np.ndarray,
    mode: str,
    instead: Replacement | None = None,
    *,
    pass_tokens: int = 1536,
    score: Score = nats,
    sinks: int = 0,
) -> np.ndarray:
    """Score of each token that is predicted, float32 [variant, example, token], else NaN.

    Of a causal model a text has one less than tokens: `token_losses`.
    `disabled` is bool [variant, layer, head]; a variant without any is the plain model. A disabled
    head attends with 1/i to each of the i tokens that its query may see (`uniform`), outputs 0
    (`zero`), or what `instead` gives for each of `tokens`. One pass has at most `pass_tokens`
    tokens, all stacked variants included, or one example's. In mode `stream` `disabled` is int: the
    last tokens that a head sees next to the first `sinks`, 0 for one that sees all. The whole model
    runs once for each variant where its layers do not run from each one up as in the whole model.
    """
    lengths, size = [len(example) for example in tokens], pass_tokens // n_heads(model)

    def run(inputs: Inputs, watcher: Disabled) -> torch.Tensor:
        watcher = replace(watcher, sinks=sinks)
        if layers is None:
            return one_by_one(model, watcher, lambda: token_losses(model, inputs, score))
        return _from_branches(model, layers, inputs, watcher, pass_tokens, score)

    with torch.inference_mode(), running.OneDNN(), running.memory_kept():
        longest = [tokens[index] for index in running.by_length(lengths, size)[0][:2]]
        layers = _usable(model, running.pad(longest, model))
        width = max(lengths) - (not attention.is_bidirectional(model))
        return in_batches(model, tokens, disabled, mode, instead, size, width, run)


def layer_list(model: PreTrainedModel) -> Layers | None:
    """The layers of an opened model; None where no list has one for each attention.

    Heads of masked models read the whole body, those of causal ones what holds the layers.
    """
    for name, listed in model.named_modules():
        if isinstance(listed, nn.ModuleList):
            inside = [any(part in MODULES for part in layer.modules()) for layer in listed]
            places = [place for place, attends in enumerate(inside) if attends]
            if len(places) == n_layers(model):
                body = model.get_submodule(name.rpartition(".")[0])
                whole = attention.is_bidirectional(model)
                return Layers(model.base_model if whole else body, list(listed), places)
    return None


def _usable(model: PreTrainedModel, inputs: Inputs) -> Layers | None:
    """The model's layers, if the first, middle and last up give the losses of the whole model."""
    kind, layers = model.config.model_type, layer_list(model)
    problem = "no list of layers was found"
    if layers is not None:
        expected = token_losses(model, inputs)
        try:
            start = Start.from_batch(model, layers, inputs)
            n = len(layers.places)
            found = [start.losses(depth, 2)[1] for depth in sorted({0, n // 2, n - 1})]
        except Exception as error:  # of any kind, from layers that need what is not given to them
            problem = one_line(error)
        else:
            error = max((each - expected).abs().nanmean().item() for each in found)
            if error <= TOLERANCE:
                return layers
            problem = f"losses differ by {error:.2g}"
    log.warning("%s cannot run from a layer up (%s): the whole model runs", kind, problem)
    return None


def _from_branches(
    model: PreTrainedModel,
    layers: Layers,
    inputs: Inputs,
    watcher: Disabled,
    pass_tokens: int,
    score: Score,
) -> torch.Tensor:
    """Scores [variant, batch, token] of a padded batch, from each variant's lowest layer up."""
    start = Start.from_batch(model, layers, inputs)
    # Without any disabled head a variant starts from the last layer, which costs least.
    lowest = lowest_layer(watcher.heads, len(layers.places) - 1)
    ids = inputs["input_ids"]
    losses = torch.empty(len(lowest), *start.targets.shape, device=ids.device)
    for depth in lowest.unique().tolist():
        variants = (lowest == depth).nonzero()[:, 0]
        for chunk in variants.split(max(1, pass_tokens // ids.numel())):
            rows = watcher.heads[chunk].repeat_interleave(len(ids), 0)
            with watching(model, replace(watcher, heads=rows)):
                losses[chunk] = start.losses(depth, len(chunk), score)
    return losses


@dataclass(frozen=True)
class Segments:
    """Segments of a corpus as tokens, with the document of each; an encoder's have `labels`."""

    tokens: list[Tokens]
    documents: list[str]

    @classmethod
    def from_examples(
        cls, examples: Sequence[Example], card: dict[str, Any], max_tokens: int, seed: int
    ) -> Self:
        """What `seed` masks of a text depends on its tokens alone.

        Labelled sentences may be longer than the model's positions: they are cut. Raises InputError
        for a label that the model has not, for a segment of a single token, which has no next one,
        and for an encoder without a mask token.
        """
        directory = models.directory_of(card)
        tokenizer, positions = models.load_tokenizer(directory), card["max_positions"]
        if labelled := [each for each in examples if isinstance(each, Labelled)]:
            names = weights.label_names(weights.read_config(directory))
            tokens = tokenize(examples, tokenizer, min(max_tokens, positions), positions)
            tokens = [_labelled(*both, names) for both in zip(labelled, tokens, strict=True)]
            found = cls(tokens, [example.document for example in examples])
            if lost := sum(each.n_words for each in tokens) - found.n_scored.sum():
                log.warning("%d words have no token, or none that is read: not scored", lost)
            return found
        tokens = tokenize(examples, tokenizer, max_tokens, positions)
        for example, each in zip(examples, tokens, strict=True):
            if len(each) < 2:
                raise InputError(f"{example.source}: one token, without a next; remove this text")
        if card.get("bidirectional", True):
            if card["special"]["mask"] is None:
                raise InputError(
                    f"{card['name']}: no mask token; leave ablation out of its chapters"
                )
            tokens = [
                _masked(each, card["special"]["mask"], len(tokenizer), seed) for each in tokens
            ]
        return cls(tokens, [example.document for example in examples])

    @property
    def n_scored(self) -> np.ndarray:
        """The tokens of each segment whose loss is known, int [segment]."""
        return np.array(
            [
                len(each) - 1 if each.labels is None else (each.labels != IGNORED).sum()
                for each in self.tokens
            ]
        )

    def take(self, chosen: np.ndarray) -> Self:
        """Some of the segments, by their numbers."""
        return type(self)([self.tokens[at] for at in chosen], [self.documents[at] for at in chosen])


def _labelled(example: Labelled, tokens: Tokens, names: Sequence[str]) -> Tokens:
    """With the number of each word's label at its first token, as such classifiers are trained."""
    words, places = np.unique(tokens.word, return_index=True)
    labels = np.full(len(tokens), IGNORED, dtype=np.int64)
    labels[places[words >= 0]] = np.array(example.numbers(names))[words[words >= 0]]
    return replace(tokens, labels=labels)


def _masked(tokens: Tokens, mask_id: int, vocabulary: int, seed: int) -> Tokens:
    rng = np.random.default_rng([seed, zlib.crc32(tokens.ids.tobytes())])
    masked, labels = mlm.mask_example(tokens, mask_id, vocabulary, rng)
    return replace(masked, labels=labels)


def sampled_segments(
    corpus: Path,
    n: int,
    seed: int,
    read: Callable[[Path], Sequence[Example]] = read_examples,
) -> tuple[Sequence[Example], list[Example]]:
    """`n` segments of a corpus (0: all), sampled by `seed`, and the others."""
    examples = read(corpus)
    chosen = sample(examples, n, seed)
    known = {id(example) for example in chosen}
    return chosen, [example for example in examples if id(example) not in known]
