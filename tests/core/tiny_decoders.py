"""Tiny random decoders with a byte-level tokenizer, in Hugging Face format."""

import copy
from functools import cache
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from tests.core.tiny_models import enlarge

LAYERS, HEADS, KV_HEADS, WIDTH, POSITIONS, VOCABULARY = 2, 4, 2, 16, 128, 320
END = "<|endoftext|>"  # the id 0
TEXTS = (
    "the river runs through the old town and the people of the town walk to the river",
    "a dog saw the small boat near the bank, and the cat saw the dog near the boat",
)
_SIZES = {"vocab_size": VOCABULARY, "bos_token_id": 0, "eos_token_id": 0}
LLAMA = LlamaConfig(
    **_SIZES,
    num_hidden_layers=LAYERS,
    num_attention_heads=HEADS,
    num_key_value_heads=KV_HEADS,
    hidden_size=WIDTH,
    intermediate_size=32,
    max_position_embeddings=POSITIONS,
)
GPT2 = GPT2Config(
    **_SIZES, n_layer=LAYERS, n_head=HEADS, n_embd=WIDTH, n_positions=POSITIONS, n_inner=32
)


def random_decoder(config: PretrainedConfig, seed: int = 0, **options: str) -> PreTrainedModel:
    """A decoder with its language-model head and random weights, of a config of its own."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(
        copy.deepcopy(config), **options, trust_remote_code=False
    )
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("sinks"):  # gpt-oss: made without values
                parameter.copy_(torch.linspace(-1, 2, len(parameter)))
    return enlarge(model).eval()


@cache
def _trained() -> str:
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=[END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return inner.to_str()


def byte_tokenizer(start: bool = False) -> PreTrainedTokenizerFast:
    """A byte-level BPE as GPT-2's; with `start`, every text begins with the end token, as Pythia's
    may. There is no padding token.
    """
    inner = Tokenizer.from_str(_trained())
    inner.post_processor = processors.ByteLevel(trim_offsets=False)
    if start:
        inner.post_processor = processors.TemplateProcessing(
            single=f"{END} $A", pair=f"{END} $A {END} $B", special_tokens=[(END, 0)]
        )
    named = {"bos_token": END, "eos_token": END, "unk_token": END}
    return PreTrainedTokenizerFast(tokenizer_object=inner, **named)


def save_llama(directory: Path, seed: int = 0, start: bool = False) -> Path:
    """A tiny random Llama with grouped queries, its tokenizer without a padding token."""
    return save_decoder(LLAMA, directory, seed, start)


def save_gpt2(directory: Path, seed: int = 0, start: bool = False) -> Path:
    """A tiny random GPT-2, its tokenizer without a padding token."""
    return save_decoder(GPT2, directory, seed, start)


def save_decoder(
    config: PretrainedConfig, directory: Path, seed: int = 0, start: bool = False
) -> Path:
    """A tiny random decoder; with `start`, its tokenizer puts the end token before a text."""
    random_decoder(config, seed).save_pretrained(directory)
    byte_tokenizer(start).save_pretrained(directory)
    return directory
