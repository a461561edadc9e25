"""What a model must be and have: declared by chapters, checked before any long job."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModel, GPT2Config, PreTrainedTokenizerFast

from tests.core.tiny_models import LAYERS, VOCABULARY, random_model, save_bert
from workflow_scripts.core.data.cards import check_abilities, check_kind
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.models import Source, describe


def card_of(directory: Path) -> dict:
    return describe(directory, "tiny", Source(path=str(directory)))


def save_plain_tokenizer(directory: Path, **special: str) -> None:
    """A tokenizer that adds no special tokens and knows only those given."""
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(VOCABULARY))}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    plain = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]", **special)
    plain.save_pretrained(directory)


@pytest.fixture
def decoder(tmp_path: Path) -> Path:
    """A tiny GPT-2, whose tokenizer has a padding token and no other special tokens."""
    sizes = {"n_layer": LAYERS, "n_head": 4, "n_embd": 32, "vocab_size": len(VOCABULARY)}
    random_model(GPT2Config(**sizes, n_positions=64)).save_pretrained(tmp_path)
    save_plain_tokenizer(tmp_path, pad_token="[PAD]")
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "words"), [("cls", "a [CLS]"), ("sep", "a [SEP]"), ("mask", "a mask")]
)
def test_a_missing_token_is_an_error_where_a_chapter_needs_it(
    tmp_path: Path, kind: str, words: str
) -> None:
    directory = save_bert(tmp_path)
    save_plain_tokenizer(directory, pad_token="[PAD]")
    card = card_of(directory)
    check_abilities(card, {})
    left_out = "" if kind == "mask" else ", or leaves it out of texts or pairs"
    with pytest.raises(InputError) as error:
        check_abilities(card, {kind: ["probes", "surface"]})
    assert str(error.value) == (
        f"probes and surface need {words} token; the tokenizer in {directory} has none{left_out}: "
        "use another model or remove probes and surface"
    )
    with pytest.raises(InputError, match=r"^surface needs .* or remove surface$"):
        check_abilities(card, {kind: ["surface"]})


def test_an_encoder_needs_a_padding_token_once_its_kind_is_right(tmp_path: Path) -> None:
    directory = save_bert(tmp_path)
    save_plain_tokenizer(directory, cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    card = card_of(directory)
    with pytest.raises(InputError, match="write kind: encoder"):
        check_kind(card, "decoder")
    with pytest.raises(InputError, match="no padding token"):
        check_kind(card, "encoder")


def test_a_decoder_is_no_encoder(decoder: Path) -> None:
    card = card_of(decoder)
    check_kind(card, "decoder")
    with pytest.raises(InputError, match=r"do not attend to later ones; write kind: decoder$"):
        check_kind(card, "encoder")


def test_a_bert_used_as_decoder_attends_in_one_direction(tmp_path: Path) -> None:
    directory = save_bert(tmp_path)
    config = AutoConfig.from_pretrained(directory, is_decoder=True, trust_remote_code=False)
    body = AutoModel.from_pretrained(directory, config=config, trust_remote_code=False).eval()
    assert not attention.is_bidirectional(attention.open_attention(body))
