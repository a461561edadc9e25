"""A translator trained by the study: a Marian model with a joint vocabulary of its own."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE
from torch.nn import functional
from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.tokens import IGNORED
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests
from workflow_scripts.core.model import models, running, translators
from workflow_scripts.core.model.training import WarmedUpRecipe, claim_state, train_resumably
from workflow_scripts.core.run import job

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"


def learnt_vocabulary(texts: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most `size` subwords, which ends every text with END.

    Punctuation stands apart from words; decoding gives the text back as it was written, its runs of
    spaces as one.
    """
    tokenizer = Tokenizer(BPE(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[PAD, END, UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    end = tokenizer.token_to_id(END)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, end)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN
    )


POSITIONS = 512  # which are computed, not learnt
SCORED = 256  # pairs of a batch whose loss is only measured


@dataclass(frozen=True, kw_only=True)
class TranslatorRecipe(WarmedUpRecipe):
    """The size of a translator, trained by Adam as in Vaswani et al. (2017)."""

    vocabulary: int
    hidden: int
    feed_forward: int
    layers: int
    heads: int
    init_std: float = 0.02
    dropout: float = 0.1
    label_smoothing: float = 0.1


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs as token ids, special tokens among them."""

    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]

    def __len__(self) -> int:
        return len(self.sources)


def new_translator(texts: Sequence[str], recipe: TranslatorRecipe) -> translators.Translator:
    """A Marian model with random weights and a vocabulary learnt from `texts`.

    Raises InputError where the hidden size cannot be divided among the heads.
    """
    if recipe.hidden % recipe.heads:
        raise InputError(
            f"config: translation.train.hidden: {recipe.hidden} is no multiple of heads "
            f"({recipe.heads}); change one of them"
        )
    tokenizer = learnt_vocabulary(texts, recipe.vocabulary)
    config = MarianConfig(
        vocab_size=len(tokenizer),
        d_model=recipe.hidden,
        encoder_layers=recipe.layers,
        decoder_layers=recipe.layers,
        encoder_attention_heads=recipe.heads,
        decoder_attention_heads=recipe.heads,
        encoder_ffn_dim=recipe.feed_forward,
        decoder_ffn_dim=recipe.feed_forward,
        init_std=recipe.init_std,
        dropout=recipe.dropout,
        max_position_embeddings=POSITIONS,
        scale_embedding=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=None,  # an output that is cut off does not end
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(recipe.seed)
    model = MarianMTModel(config)
    # Inputs are scaled by sqrt(hidden), and the same weights make the logits.
    torch.nn.init.normal_(model.model.shared.weight, std=recipe.hidden**-0.5)
    return translators.Translator(model, tokenizer, translators.Languages())


def loss_of(logits: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.0) -> torch.Tensor:
    """Mean cross entropy of [batch, token, vocabulary] over the labels that are not IGNORED."""
    return functional.cross_entropy(
        logits.float().flatten(0, 1),
        labels.flatten(),
        ignore_index=IGNORED,
        label_smoothing=smoothing,
    )


def loss_on(translator: translators.Translator, pairs: Pairs) -> float:
    """The mean loss per target token, in nats, in eval mode."""
    model, total, n = translator.model, 0.0, 0
    training = model.training
    model.eval()
    for batch in running.chunks_by_length([len(source) for source in pairs.sources], SCORED):
        with torch.inference_mode():
            logits, labels = _forward(translator, pairs, batch)
        tokens = int((labels != IGNORED).sum())
        total, n = total + tokens * loss_of(logits, labels).item(), n + tokens
    model.train(training)
    return total / n


def train(
    translator: translators.Translator,
    training: Pairs,
    validation: Pairs,
    recipe: TranslatorRecipe,
    state: Path,
    epochs: Path | None = None,
) -> pd.DataFrame:
    """Train the model in place, as `train_resumably`; the curve is in nats per target token.

    The training loss is smoothed as the recipe states, that of the validation pairs is not.
    """
    model = translator.model
    lengths = [
        len(source) + len(target)
        for source, target in zip(training.sources, training.targets, strict=True)
    ]
    trained = [weights for weights in model.parameters() if weights.requires_grad]
    adam = torch.optim.Adam(
        trained, lr=recipe.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True
    )

    def loss(indices: torch.Tensor) -> torch.Tensor:
        with running.autocast(model.device, recipe.precision):
            logits, labels = _forward(translator, training, indices.tolist())
        return loss_of(logits, labels, recipe.label_smoothing)

    return train_resumably(
        model, lengths, adam, recipe, loss, lambda: loss_on(translator, validation), state, epochs
    )


def main(
    pairs: Path,
    checkpoint: job.Out,
    card: job.Out,
    curve: job.Out,
    run: str,
    recipe: dict[str, Any],
    epochs: job.Out | None = None,
    device: str = "auto",
) -> None:
    """Write the trained model with its tokenizer, its card and its curve.

    A killed run resumes from <checkpoint>.work. `epochs` gets the weights after each epoch but the
    last, in epoch-<k>.
    """
    frame, settings = tables.read(pairs), TranslatorRecipe(**recipe)
    rows = {split: frame[frame["split"] == split] for split in ("train", "validation")}
    texts = [*rows["train"]["source"], *rows["train"]["target"]]
    translator = new_translator(texts, settings)
    training, validation = (
        Pairs(
            translators.sources_of(translator, split["source"]),
            translators.targets_of(translator, split["target"]),
        )
        for split in rows.values()
    )
    translator.model.to(running.pick_device(device))
    identity = {
        "pairs": digests.sha256(pairs),
        "recipe": asdict(settings),
        "every_epoch": epochs is not None,
    }
    work = job.work(checkpoint)
    state = claim_state(work, Path(__file__), translator.model.device, identity)
    losses = train(translator, training, validation, settings, state, work if epochs else None)
    models.save(translator.model, translator.tokenizer, checkpoint)
    if epochs:
        epochs.mkdir()
        for epoch in work.glob("epoch-*"):
            translator.tokenizer.save_pretrained(epoch)
            shutil.copytree(epoch, epochs / epoch.name)
    described = translators.describe(checkpoint, run, translators.Languages())
    write_card(described | {"source": {"trained": job.final(checkpoint).name}}, card)
    tables.write_csv(losses.assign(run=run), curve)


def _forward(
    translator: translators.Translator, pairs: Pairs, batch: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [batch, token, vocabulary] and labels [batch, token] of some pairs."""
    labels = translators.pad_targets(translator, [pairs.targets[index] for index in batch])
    inputs = translators.pad_sources(translator, [pairs.sources[index] for index in batch])
    shifted = translator.model.prepare_decoder_input_ids_from_labels(labels)
    return translator.model(**inputs, decoder_input_ids=shifted).logits, labels


if __name__ == "__main__":
    job.run(main, globals())
