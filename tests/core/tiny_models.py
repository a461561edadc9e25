"""Tiny random models of several architectures, with a fast tokenizer, in Hugging Face format."""

import copy
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.attention import n_heads, sublayers
from workflow_scripts.core.model.interventions import Disabled
from workflow_scripts.core.model.models import describe

LAYERS, HEADS, WIDTH, POSITIONS = 3, 4, 32, 128
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = (
    "the a river city old small run flow through near and of in to by was is are built "
    "king people water stone north south many first century town hill trade . , - ' ! ? s "
    "n t ##s ##ing ##ed ##er ##y ##flow dog cat saw her his she he it "
)
WORDS = TEXT.split()
VOCABULARY = [
    *SPECIAL,
    *WORDS,
    *"bcdefghijklmopqruvwxyz",
    *(f"##{c}" for c in "abcdefghijklmnopqrtuvwxz"),
]

_SIZES = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "vocab_size": len(VOCABULARY),
    "max_position_embeddings": POSITIONS,
    "pad_token_id": 0,
}

ARCHITECTURES: dict[str, PretrainedConfig] = {
    "bert": AutoConfig.for_model("bert", **_SIZES),
    "roberta": AutoConfig.for_model("roberta", **_SIZES, type_vocab_size=1),
    "electra": AutoConfig.for_model("electra", **_SIZES, embedding_size=16),
    "distilbert": AutoConfig.for_model(
        "distilbert",
        n_layers=LAYERS,
        n_heads=HEADS,
        dim=WIDTH,
        hidden_dim=48,
        vocab_size=len(VOCABULARY),
        max_position_embeddings=POSITIONS,
    ),
    "albert": AutoConfig.for_model("albert", **_SIZES, embedding_size=16),
    "modernbert": AutoConfig.for_model(
        "modernbert",
        **_SIZES,
        global_attn_every_n_layers=2,
        local_attention=8,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
    ),
}
_DISENTANGLED = _SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
_XLNET = {"n_layer": LAYERS, "n_head": HEADS, "d_model": WIDTH, "d_inner": 48}
_XLNET |= {"vocab_size": len(VOCABULARY), "pad_token_id": 0}
# Those that `adapters` opens, each by its type in the library, and what sets it apart from others.
ARCHITECTURES |= {
    "mpnet": AutoConfig.for_model("mpnet", **_SIZES),
    "deberta": AutoConfig.for_model("deberta", **_DISENTANGLED, type_vocab_size=2),
    "deberta-plain": AutoConfig.for_model("deberta", **_SIZES),
    "deberta-v2": AutoConfig.for_model(
        "deberta-v2", **_DISENTANGLED, conv_kernel_size=3, max_relative_positions=8
    ),
    "deberta-v2-shared": AutoConfig.for_model(
        "deberta-v2",
        **_DISENTANGLED,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_buckets=6,
        position_biased_input=False,
    ),
    "xlnet": AutoConfig.for_model("xlnet", **_XLNET),
}
# XLNet's classifier reads the last token, which is padding in a batch; it has no masked LM.
WITH_CLS = [name for name in ARCHITECTURES if name != "xlnet"]
REFUSED: dict[str, PretrainedConfig] = {
    "big_bird": AutoConfig.for_model("big_bird", **_SIZES),
    "deberta-talking": AutoConfig.for_model("deberta", **_DISENTANGLED, talking_head=True),
    "xlnet-uni": AutoConfig.for_model("xlnet", **_XLNET, attn_type="uni"),
}

ENCODER_LAYERS, DECODER_LAYERS, END = 3, 2, 2  # END: the id of the token that ends a target
_WORDS = {
    "vocab_size": len(VOCABULARY),
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": END,
    "tie_word_embeddings": False,
}
_STACKS = {
    "d_model": WIDTH,
    "encoder_layers": ENCODER_LAYERS,
    "decoder_layers": DECODER_LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": POSITIONS,
}
ENCODER_DECODERS: dict[str, PretrainedConfig] = {
    "marian": AutoConfig.for_model(
        "marian", **_WORDS, **_STACKS, decoder_start_token_id=0, forced_eos_token_id=END
    ),
    "bart": AutoConfig.for_model("bart", **_WORDS, **_STACKS, decoder_start_token_id=END),
    "mbart": AutoConfig.for_model("mbart", **_WORDS, **_STACKS, decoder_start_token_id=3),
    "m2m_100": AutoConfig.for_model("m2m_100", **_WORDS, **_STACKS, decoder_start_token_id=END),
    "t5": AutoConfig.for_model(
        "t5",
        **_WORDS,
        d_model=WIDTH,
        d_kv=12,
        d_ff=48,
        num_layers=ENCODER_LAYERS,
        num_decoder_layers=DECODER_LAYERS,
        num_heads=HEADS,
        initializer_factor=0.2,  # unlike the others' weights, its own are large enough
        decoder_start_token_id=0,
    ),
}


def random_model(config: PretrainedConfig, seed: int = 0, **options: Any) -> PreTrainedModel:
    """A body with random weights, large enough that attention is far from uniform.

    It has a config of its own: models that share one share their attention implementation too.
    """
    torch.manual_seed(seed)
    model = AutoModel.from_config(copy.deepcopy(config), **options, trust_remote_code=False)
    return enlarge(model).eval()


def with_biases(name: str, **options: Any) -> PreTrainedModel:
    """A random model of ARCHITECTURES whose biases are not 0, as fresh ones are."""
    model = random_model(ARCHITECTURES[name], **options)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if key.endswith("bias"):
                parameter.add_(torch.randn_like(parameter))
    return model.eval()


def random_encoder_decoder(
    config: PretrainedConfig, seed: int = 0, **options: Any
) -> PreTrainedModel:
    """An encoder-decoder with random weights and the head that gives words."""
    torch.manual_seed(seed)
    model = AutoModelForSeq2SeqLM.from_config(
        copy.deepcopy(config), **options, trust_remote_code=False
    )
    return enlarge(model).eval()


def random_classifier(name: str, n_labels: int = 3, seed: int = 0) -> PreTrainedModel:
    """A classifier of one of ARCHITECTURES with random weights."""
    config = copy.deepcopy(ARCHITECTURES[name])
    config.num_labels = n_labels
    torch.manual_seed(seed)
    return enlarge(
        AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
    ).eval()


def random_tokens(lengths: Sequence[int], pairs: bool = True, seed: int = 1) -> list[Tokens]:
    """Examples of random wordpieces; with `pairs`, the second half is the second segment."""
    rng = np.random.default_rng(seed)
    made = []
    for number, length in enumerate(lengths):
        ids = rng.integers(5, len(VOCABULARY), length).astype(np.int32)
        ids[0], ids[-1] = 2, 3
        segment = (np.arange(length) >= length // 2) & pairs
        word = np.arange(-1, length - 1, dtype=np.int32)
        word[-1] = -1
        made.append(Tokens(str(number), ids, word, segment.astype(np.int8), length - 2))
    return made


def uniform_heads(model: PreTrainedModel, heads: Iterable[tuple[int, int]]) -> Disabled:
    """What gives (sublayer, head) pairs attention to all tokens alike."""
    grid = torch.zeros(1, len(sublayers(model)), n_heads(model), dtype=torch.bool)
    grid[0, *zip(*heads, strict=True)] = True
    return Disabled(grid, "uniform")


def enlarge(model: PreTrainedModel) -> PreTrainedModel:
    """Freshly initialised weights are so small that every pattern would be nearly uniform."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim > 1 and "embed" not in name:
                parameter.mul_(12)
            elif "embed" in name and parameter.ndim == 2:
                parameter.mul_(20)
    return model


def tokenizer() -> PreTrainedTokenizerFast:
    """A fast WordPiece tokenizer that can spell every lower-case word."""
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(VOCABULARY))}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    named = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    return PreTrainedTokenizerFast(tokenizer_object=inner, **named)


def save_bert(directory: Path, seed: int = 0, mlm: bool = False) -> Path:
    """A tiny random BERT with its tokenizer; with `mlm`, with a masked-LM head."""
    torch.manual_seed(seed)
    kind = AutoModelForMaskedLM if mlm else AutoModel
    enlarge(kind.from_config(ARCHITECTURES["bert"], trust_remote_code=False)).save_pretrained(
        directory
    )
    tokenizer().save_pretrained(directory)
    return directory


def write_card(folder: Path, directory: Path) -> Path:
    """The card of the model in `directory`, as model.json in `folder`."""
    card = describe(directory, "tiny", {"path": str(directory)})
    folder.mkdir(exist_ok=True)
    path = folder / "model.json"
    path.write_text(json.dumps(card), encoding="utf-8")
    return path
