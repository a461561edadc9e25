"""Train the small BERT of docs/tutorial-encoder.md: `python docs/tutorial_model.py build/mine`.

4 layers of 4 heads, 128 wide, with a WordPiece vocabulary of its own: masked language modelling on
the Wikipedia excerpt that gensim's package carries. It needs no network. Any checkpoint in Hugging
Face format can take its place.
"""

import argparse
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

from workflow_scripts.core.model.mlm import IGNORED, mask_tokens
from workflow_scripts.corpora.segments import articles

log = logging.getLogger("tutorial_model")

TEXT = "gensim/test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
VOCABULARY = 2000  # word pieces
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LENGTH = 64  # tokens of an input, the positions of the model: [CLS] half [SEP] half [SEP]
BATCH = 8


def read_paragraphs() -> list[str]:
    """The paragraphs of gensim's Wikipedia excerpt, in its order."""
    source = {"package": TEXT, "format": "mediawiki"}
    return [paragraph.text for article in articles(source) for paragraph in article.paragraphs]


def train_tokenizer(paragraphs: list[str], directory: Path) -> BertTokenizerFast:
    """A lower-casing WordPiece tokenizer of `paragraphs`, saved to `directory`."""
    trainer = BertWordPieceTokenizer(lowercase=True)
    trainer.train_from_iterator(paragraphs, vocab_size=VOCABULARY, show_progress=False)
    # Training numbers the same pieces anew each time; sorted, the text gives one model.
    pieces = [*SPECIAL, *sorted(trainer.get_vocab().keys() - set(SPECIAL))]
    directory.mkdir(parents=True, exist_ok=True)
    vocabulary = directory / "vocab.txt"
    vocabulary.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(vocabulary), model_max_length=LENGTH)
    tokenizer.save_pretrained(directory)
    return tokenizer


def to_inputs(paragraphs: list[str], tokenizer: BertTokenizerFast) -> np.ndarray:
    """Running text in inputs of two halves, int64 [input, LENGTH]."""
    encoded = tokenizer(paragraphs, add_special_tokens=False, verbose=False)["input_ids"]
    ids = np.concatenate([np.array(one, dtype=np.int64) for one in encoded])
    half = (LENGTH - 3) // 2
    pairs = ids[: len(ids) // (2 * half) * 2 * half].reshape(-1, 2, half)
    inputs = np.full((len(pairs), 2 * half + 3), tokenizer.sep_token_id)
    inputs[:, 0] = tokenizer.cls_token_id
    inputs[:, 1 : half + 1], inputs[:, half + 2 : -1] = pairs[:, 0], pairs[:, 1]
    return inputs


def batches(
    inputs: np.ndarray, tokenizer: BertTokenizerFast, steps: int, rng: np.random.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Masked ids, segments and labels of each step, int64 [BATCH, L] each."""
    segment = (np.arange(inputs.shape[1]) > (inputs.shape[1] - 1) // 2).astype(np.int64)
    segments = torch.from_numpy(np.tile(segment, (BATCH, 1)))
    special = [tokenizer.cls_token_id, tokenizer.sep_token_id]
    for _ in range(steps):
        rows = inputs[rng.choice(len(inputs), BATCH, replace=False)]
        pairs = [
            mask_tokens(row, ~np.isin(row, special), tokenizer.mask_token_id, len(tokenizer), rng)
            for row in rows
        ]
        masked, labels = (torch.from_numpy(np.stack(part)) for part in zip(*pairs, strict=True))
        yield masked, segments, labels


def train(
    model: BertForMaskedLM,
    data: Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]],
    steps: int,
) -> None:
    """Train in place by AdamW; the learning rate warms up, then decays linearly to 0."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-3, total_steps=steps, pct_start=0.1, anneal_strategy="linear"
    )
    losses: list[float] = []
    start = time.monotonic()
    for step, (ids, segments, labels) in enumerate(data, start=1):
        hidden = model.bert(input_ids=ids, token_type_ids=segments).last_hidden_state
        chosen = labels != IGNORED  # scores of the whole vocabulary are needed there alone
        loss = cross_entropy(model.cls(hidden[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 500 == 0 or step == steps:
            seconds = time.monotonic() - start
            log.info("step %d, loss %.2f, %.0f s", step, np.mean(losses[-500:]), seconds)


def main(directory: Path, steps: int, seed: int) -> None:
    """Write tokenizer, weights and config to `directory`."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the same weights on one core and on many
    paragraphs = read_paragraphs()
    tokenizer = train_tokenizer(paragraphs, directory)
    inputs = to_inputs(paragraphs, tokenizer)
    log.info("%d paragraphs, %d inputs of %d tokens", len(paragraphs), *inputs.shape)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=512,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=LENGTH,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = BertForMaskedLM(config)
    train(model, batches(inputs, tokenizer, steps, np.random.default_rng(seed)), steps)
    model.save_pretrained(directory)
    log.info("saved to %s", directory)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(
        description="Train the small BERT of docs/tutorial-encoder.md."
    )
    parser.add_argument("directory", type=Path, help="where to write the checkpoint")
    parser.add_argument("--steps", type=int, default=4000, help="batches of 8 inputs")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    main(arguments.directory, arguments.steps, arguments.seed)
