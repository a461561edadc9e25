"""GGUF files, whose weights are mostly quantised, as models with float32 weights."""

import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import gguf
import torch
from tokenizers import Tokenizer
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.errors import InputError, and_more, one_line
from workflow_scripts.core.model.weights import quiet

PLAIN = ("F64", "F32", "F16", "BF16")  # types of weights that are not quantised


class Header(NamedTuple):
    """A GGUF file, its tokenizer, config and number of weights; the type of most if quantised."""

    reader: Any  # gguf's
    tokenizer: FastTokenizer
    config: PretrainedConfig
    n_weights: int
    quantised: str | None


def read_header(file: Path) -> Header:
    """What a GGUF file states about its model, and how many weights it holds."""
    with _readable(file) as (place, reader):
        _check_blocks(reader)
        config = AutoConfig.from_pretrained(**place, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(**place, trust_remote_code=False)
        tokenizer = _with_own_tokens(tokenizer, len(reader.fields["tokenizer.ggml.tokens"].data))
    numbers: Counter[str] = Counter()
    for tensor in reader.tensors:
        if not tensor.name.startswith("rope_"):  # frequencies, which the config gives
            numbers[tensor.tensor_type.name] += int(tensor.n_elements)
    if not numbers:
        raise _unreadable(file, "it has no weights")
    _check_positions(file, reader, config)
    most = numbers.most_common(1)[0][0]
    return Header(reader, tokenizer, config, numbers.total(), None if most in PLAIN else most)


def load(file: Path, header: Header) -> PreTrainedModel:
    """The causal model in a GGUF file, in float32.

    Raises InputError where one of its weights is not read.
    """
    with _readable(file, header.reader) as (place, _):
        packed, report = AutoModelForCausalLM.from_pretrained(
            **place,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
            trust_remote_code=False,
            output_loading_info=True,
        )
    if lacking := sorted(report["missing_keys"]):
        raise _unreadable(file, f"{lacking[0]} is missing{and_more(lacking)}")
    weights = {weight.data_ptr(): weight.numel() for weight in packed.state_dict().values()}
    if header.n_weights > (loaded := sum(weights.values())):
        words = f"it holds {header.n_weights:,} weights, and transformers loads {loaded:,}"
        raise _unreadable(file, words)
    # A model from GGUF cannot be saved, so its weights move to one that can.
    given = packed.config.to_dict()
    given.pop("quantization_config", None)
    config = type(packed.config).from_dict(given)
    with torch.device("meta"):
        model = type(packed)(config)
    model.load_state_dict(packed.state_dict(), assign=True)
    model.tie_weights()
    return model


@contextmanager
def _readable(file: Path, reader: Any = None) -> Iterator[tuple[dict[str, Any], Any]]:
    """What names a GGUF file to transformers, alone in a folder, and the file's gguf.GGUFReader.

    Files next to it are not read. Transformers takes the same reader, where it would make four: one
    goes through all tokens, which takes seconds.
    """
    # Their progress bars would fill the log.
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()), quiet():
        (Path(folder) / "model.gguf").symlink_to(file.resolve())
        try:
            reader = reader or gguf.GGUFReader(file)
            with patch.object(gguf, "GGUFReader", lambda _: reader):
                yield {"pretrained_model_name_or_path": folder, "gguf_file": "model.gguf"}, reader
        except Exception as error:  # of any kind, for a file of any content
            raise _unreadable(file, one_line(error)) from error


def _check_blocks(reader: Any) -> None:
    """Raise ValueError unless the file has as many blocks as it declares, which take memory."""
    names = (tensor.name.split(".") for tensor in reader.tensors)
    found = {name[1] for name in names if name[0] == "blk"}
    for name, field in reader.fields.items():
        if name.endswith(".block_count") and field.contents() != len(found):
            raise ValueError(f"{name} is {field.contents()}, but it has {len(found)} blocks")


def _with_own_tokens(tokenizer: FastTokenizer, n: int) -> FastTokenizer:
    """With the file's `n` tokens alone: transformers adds <|endoftext|> to byte-level ones."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    own = [token for token in content["added_tokens"] if token["id"] < n]
    if own == content["added_tokens"]:
        return tokenizer
    given = {name: item for name, item in tokenizer.init_kwargs.items() if name != "gguf_file"}
    backend = Tokenizer.from_str(json.dumps(content | {"added_tokens": own}))
    return type(tokenizer)(**given | {"tokenizer_object": backend})


def _check_positions(file: Path, reader: Any, config: PretrainedConfig) -> None:
    """Raise InputError where the file scales its positions and the config does not."""
    scaled = [tensor.name for tensor in reader.tensors if tensor.name.startswith("rope_")]
    for name, field in reader.fields.items():
        if name.endswith(".rope.scaling.type") and field.contents() != "none":
            scaled.append(name)
    kept = getattr(config, "rope_parameters", None) or {}
    if scaled and kept.get("rope_type", "default") == "default":
        raise InputError(
            f"{file}: {scaled[0]}: transformers leaves out how this file scales positions, so its "
            "attention would differ; use the model's safetensors weights"
        )


def _unreadable(file: Path, why: str) -> InputError:
    return InputError(
        f"{file}: cannot be read as a GGUF model ({why}); download it again, or use another file "
        "or the model's safetensors weights"
    )
