"""Tiny random translation models of every architecture with their own tokenizers, saved offline."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    MBartTokenizer,
    NllbTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)
from transformers import PreTrainedTokenizerBase as AnyTokenizer

from tests.core.tiny_models import enlarge

LAYERS, HEADS, WIDTH, POSITIONS = 2, 4, 16, 64
SOURCES = ["the dog sees a cat.", "a man runs.", "the man sees the dog, and the cat runs."]
TARGETS = ["der Hund sieht eine Katze.", "ein Mann läuft.", "der Mann sieht den Hund."]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]  # in the order of fairseq's vocabularies
_SIZES = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": 32}.items()
}
_SIZES |= {"d_model": WIDTH, "max_position_embeddings": POSITIONS}
_FAIRSEQ = {"pad_token_id": 1, "eos_token_id": 2, "bos_token_id": 0, "decoder_start_token_id": 2}


def spm(path: Path, texts: Sequence[str], size: int = 60, **options: Any) -> list[str]:
    """Train a sentencepiece model on `texts` and save it; gives its pieces by number."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    path.write_bytes(model.getvalue())
    read = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [read.id_to_piece(number) for number in range(read.get_piece_size())]


def marian(folder: Path, codes: Sequence[str] = ()) -> tuple[MarianConfig, AnyTokenizer]:
    """As Opus-MT: two sentencepiece models, one vocabulary whose last token pads and starts."""
    pieces = [*spm(folder / "source.spm", SOURCES), *spm(folder / "target.spm", TARGETS)]
    words = [piece for piece in dict.fromkeys(pieces) if piece not in ("</s>", "<unk>", "<s>")]
    tokens = ["</s>", "<unk>", *codes, *words, "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: n for n, token in enumerate(tokens)}))
    files = [str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")]
    pad = len(tokens) - 1
    return MarianConfig(
        **_SIZES,
        vocab_size=len(tokens),
        pad_token_id=pad,
        eos_token_id=0,
        decoder_start_token_id=pad,
        bad_words_ids=[[pad]],
    ), MarianTokenizer(*files)


def bart(folder: Path) -> tuple[BartConfig, AnyTokenizer]:
    """As BART: a byte-level BPE between <s> and </s>."""
    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        special_tokens=SPECIAL, initial_alphabet=alphabet, vocab_size=400, show_progress=False
    )
    inner.train_from_iterator([*SOURCES, *TARGETS], trainer)
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **names)
    return BartConfig(**_SIZES, **_FAIRSEQ, vocab_size=len(tokenizer)), tokenizer


def unigrams(kind: type, special: Sequence[str], **options: Any) -> AnyTokenizer:
    """A tokenizer of class `kind` with the words of the texts, each with a mark of its space."""
    letters = dict.fromkeys("".join([*SOURCES, *TARGETS]).replace(" ", ""))
    words = dict.fromkeys("▁" + w for text in (*SOURCES, *TARGETS) for w in text.split())
    vocabulary = [(token, 0.0) for token in special]
    vocabulary += [("▁", -5.0)]
    vocabulary += [(word, -1.0) for word in words]
    vocabulary += [(letter, -4.0) for letter in letters if letter not in words]
    return kind(vocab=vocabulary, **options)


def mbart(folder: Path) -> tuple[MBartConfig, AnyTokenizer]:
    tokenizer = unigrams(MBartTokenizer, SPECIAL)
    config = MBartConfig(**_SIZES, **_FAIRSEQ, vocab_size=len(tokenizer))
    return config, tokenizer


def mbart50(folder: Path) -> tuple[MBartConfig, AnyTokenizer]:
    tokenizer = unigrams(MBart50Tokenizer, ["<unk>", "<s>", "</s>"])
    return MBartConfig(**_SIZES, **_FAIRSEQ, vocab_size=len(tokenizer)), tokenizer


def m2m100(folder: Path) -> tuple[M2M100Config, AnyTokenizer]:
    """As M2M100: a slow sentencepiece tokenizer, the codes after the vocabulary."""
    pieces = spm(folder / "sentencepiece.bpe.model", [*SOURCES, *TARGETS])
    tokens = [*SPECIAL, *(piece for piece in pieces if piece not in SPECIAL)]
    path = folder / "vocab.json"
    path.write_text(json.dumps({token: n for n, token in enumerate(tokens)}))
    tokenizer = M2M100Tokenizer(str(path), str(folder / "sentencepiece.bpe.model"))
    size = len(tokens) + len(tokenizer.lang_token_to_id) + 8
    return M2M100Config(**_SIZES, **_FAIRSEQ, vocab_size=size), tokenizer


def nllb(folder: Path) -> tuple[M2M100Config, AnyTokenizer]:
    letters = dict.fromkeys("▁" + "".join([*SOURCES, *TARGETS]).replace(" ", ""))
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *letters])}
    tokenizer = NllbTokenizer(vocab=vocabulary, merges=[])
    return M2M100Config(**_SIZES, **_FAIRSEQ, vocab_size=len(tokenizer)), tokenizer


def t5(folder: Path) -> tuple[T5Config, AnyTokenizer]:
    """As T5: a sentencepiece model, a vocabulary smaller than the embedding, no positions."""
    texts = [*SOURCES, *TARGETS, "translate English to German: x"]
    spm(folder / "spiece.model", texts, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    config = T5Config(
        d_model=WIDTH,
        d_kv=WIDTH // HEADS,
        d_ff=32,
        num_layers=LAYERS,
        num_heads=HEADS,
        vocab_size=256,
        decoder_start_token_id=0,
    )
    return config, T5Tokenizer.from_pretrained(folder, trust_remote_code=False)


Maker = Callable[[Path], tuple[Any, AnyTokenizer]]
# Each with the class of its model and what a study states about its languages.
KINDS: dict[str, tuple[Maker, type[PreTrainedModel], dict[str, str]]] = {
    "marian": (marian, MarianMTModel, {}),
    "bart": (bart, BartForConditionalGeneration, {}),
    "mbart": (
        mbart,
        MBartForConditionalGeneration,
        {"source_lang": "en_XX", "target_lang": "de_DE"},
    ),
    "mbart50": (
        mbart50,
        MBartForConditionalGeneration,
        {"source_lang": "en_XX", "target_lang": "de_DE"},
    ),
    "m2m100": (m2m100, M2M100ForConditionalGeneration, {"source_lang": "en", "target_lang": "de"}),
    "nllb": (
        nllb,
        M2M100ForConditionalGeneration,
        {"source_lang": "eng_Latn", "target_lang": "deu_Latn"},
    ),
    "t5": (t5, T5ForConditionalGeneration, {"prefix": "translate English to German: "}),
}


def save(folder: Path, name: str, **changed: Any) -> Path:
    """A random model of one of KINDS with its tokenizer; `changed` are keys of its config."""
    folder.mkdir(parents=True, exist_ok=True)
    make, kind, _ = KINDS[name]
    config, tokenizer = make(folder)
    for key, value in changed.items():
        setattr(config, key, value)
    torch.manual_seed(0)
    enlarge(kind(config)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
