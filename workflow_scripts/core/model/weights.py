"""Weights from a directory, refused where they are not those that its config.json describes.

What `transformers` does not find among the weights it makes anew at random, what it finds too much
it leaves out, and quantized numbers it takes for weights; here these are errors.
"""

import json
import math
import re
from pathlib import Path
from typing import NamedTuple

import torch
import transformers
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.model import own_code
from workflow_scripts.core.model.finite import is_finite

AGAIN = "save the model again with save_pretrained"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_LAYERS = 1000
REPEATED = ("num_hidden_layers", "decoder_layers", "num_decoder_layers")
REPEATED += ("num_hidden_groups", "inner_group_num")  # of ALBERT
HEADS = 3  # times the weights that are stored, a model may be with a head that is not
FLOATS = frozenset(("F64", "F32", "F16", "BF16"))  # what weights are stored as; else quantized
QUANTIZED = ("quantization_config", "compression_config", "quant_method")


class Stored(NamedTuple):
    """A tensor as the header of a safetensors file describes it."""

    dtype: str
    shape: tuple[int, ...]


def read_config(directory: Path) -> PretrainedConfig:
    """The config.json of a model's directory.

    Raises InputError where it cannot be read, or asks for code of the model's own or for weights
    that are quantized.
    """
    if not (directory / "config.json").is_file():
        raise InputError(f"{directory}: no config.json; give a directory in Hugging Face format")
    own_code.refuse(directory)
    try:
        config = AutoConfig.from_pretrained(directory, trust_remote_code=False)
    except Exception as error:  # of any kind, for a file of any content
        raise InputError(
            f"{directory}/config.json: cannot be read ({one_line(error)}); fix it"
        ) from error
    for key in QUANTIZED:
        if getattr(config, key, None) is not None:
            raise InputError(
                f"{directory}/config.json: {key}: quantized weights are not read; use the model "
                "that was quantized"
            )
    if getattr(config, "transformers_weights", None) is not None:
        raise InputError(
            f"{directory}/config.json: transformers_weights names another file of weights; remove "
            f"that key and name the file {WEIGHTS}"
        )
    return config


def load(
    kind: type, directory: Path, whole: bool = False, config: PretrainedConfig | None = None
) -> tuple[PreTrainedModel, set[str]]:
    """The model of class `kind`, float32, and the names of its parameters that were made anew.

    Without `whole` these may be the head's and the pooler's, never others of the body. Raises
    InputError for weights that cannot be read, of another architecture or size, that are quantized
    or not finite.
    """
    config = config or read_config(directory)
    header = read_header(directory)
    _check_size(kind, directory, config, header)
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # what it would report is checked here
    try:
        model, report = kind.from_pretrained(
            directory,
            config=config,
            dtype=torch.float32,
            trust_remote_code=False,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    except Exception as error:  # of any kind, for files of any content
        raise InputError(
            f"{directory}: the weights cannot be read ({one_line(error)}); copy them again"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    for name, found, expected in sorted(report["mismatched_keys"]):
        raise _refusal(directory, f"{name} is {[*found]}, where {[*expected]} is expected")
    missing = set(report["missing_keys"])
    lacking = missing if whole else {name for name in missing if _of_body(model, name)}
    if lacking:
        raise _refusal(directory, f"{min(lacking)} is missing{_more(lacking)}")
    unused = set(report["unexpected_keys"])
    if surplus := {name for name in unused if _of_body(model, name) and not _is_mask(name)}:
        raise _refusal(directory, f"{min(surplus)} is not among its parameters{_more(surplus)}")
    unread = _unread(model)
    read = {name for name in header.keys() - unused if not _matches(unread, name)}
    check_types(directory, {name: header[name] for name in read})
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not is_finite(tensor):
            what = "NaN" if tensor.isnan().any() else "infinite numbers"
            raise InputError(f"{directory}: the weights hold {what}, in {name}; copy them again")
    return model, missing


def read_header(directory: Path) -> dict[str, Stored]:
    """The tensors in the files that are loaded, by name; no value is read.

    Raises InputError where there is none, a shard of the index is missing or a file is damaged.
    """
    header = {}
    for file in files(directory):
        try:
            with safe_open(file, "pt") as opened:
                for key in opened.keys():  # noqa: SIM118 - not a mapping
                    tensor = opened.get_slice(key)
                    header[key] = Stored(tensor.get_dtype(), tuple(tensor.get_shape()))
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{file}: the weights cannot be read ({one_line(error)}); copy them again"
            ) from error
    return header


def check_types(directory: Path, header: dict[str, Stored]) -> None:
    """Raise InputError where one of these weights is stored as integers or in 8 bits."""
    for name, stored in sorted(header.items()):
        if stored.dtype not in FLOATS:
            raise InputError(
                f"{directory}: {name} is stored as {stored.dtype}: quantized weights are not read; "
                f"save the model as one of {', '.join(sorted(FLOATS))}"
            )


def files(directory: Path) -> list[Path]:
    """The weight files that `transformers` loads: model.safetensors alone, else the index's shards.

    Raises InputError where there is none or a shard is missing.
    """
    if (directory / WEIGHTS).is_file():
        return [directory / WEIGHTS]
    there = {path.name for path in directory.glob("*.safetensors")}
    shards = sorted(indexed(directory))
    for shard in shards:
        if shard not in there:
            raise InputError(f"{directory}: {INDEX} names {shard}, which is missing; copy it again")
    if not shards:
        pickles = sorted(path.name for path in directory.glob("pytorch_model*.bin"))
        but = f" but {pickles[0]}, a pickle, which is never read" if pickles else ""
        but = f" named {WEIGHTS} or in {INDEX}, but {min(there)}" if there else but
        raise InputError(f"{directory}: no *.safetensors weights{but}; {AGAIN} (docs/data.md)")
    return [directory / shard for shard in shards]


def indexed(directory: Path) -> set[str]:
    """The names of the files in the index of weights; empty where there is no index.

    Raises InputError for an index that names other files than safetensors, such as pickles:
    `transformers` reads whatever an index names, also where it is to use safetensors alone.
    """
    path = directory / INDEX
    if not path.is_file():
        return set()
    try:
        names = set(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not an index of weights ({error!r}); {AGAIN}") from error
    for name in sorted(map(str, names)):
        if not name.endswith(".safetensors"):
            raise InputError(f"{path}: {name} is no file of safetensors; {AGAIN}")
    return names


def _check_size(
    kind: type, directory: Path, config: PretrainedConfig, header: dict[str, Stored]
) -> None:
    """Raise InputError where the model is so much larger than its weights that none could be made.

    What the weights lack would be made anew, in all of the memory if need be.
    """
    for key in REPEATED:
        number = getattr(config, key, None)
        if number is not None and not 1 <= number <= MOST_LAYERS:
            raise InputError(
                f"{directory}/config.json: {key} is {number}, not between 1 and {MOST_LAYERS}; "
                "correct it"
            )
    try:
        with torch.device("meta"):
            model = kind.from_config(config, trust_remote_code=False)
    except Exception as error:  # of any kind, for a config of any content
        raise InputError(
            f"{directory}/config.json: describes no model ({one_line(error)}); correct it"
        ) from error
    expected = sum(parameter.numel() for parameter in model.parameters())
    stored = sum(math.prod(tensor.shape) for tensor in header.values())
    if expected > HEADS * stored:
        raise _refusal(directory, f"they are {stored:,} numbers, where {expected:,} are expected")


def _unread(model: PreTrainedModel) -> set[str]:
    """Patterns of the tensors of a file that are no weights: they are left out, or integers."""
    prefix = f"{model.base_model_prefix}."  # which a file's names may lack
    integers = (name for name, buffer in model.named_buffers() if not buffer.is_floating_point())
    names = {rf"(^|\.){re.escape(name.removeprefix(prefix))}$" for name in integers}
    return names | set(model._keys_to_ignore_on_load_unexpected or ())


def _matches(patterns: set[str], name: str) -> bool:
    return any(re.search(pattern, name) for pattern in patterns)


def _is_mask(name: str) -> bool:
    """Whether this is the constant by which older checkpoints mask attention, such as GPT-2's."""
    return name.endswith(".attn.masked_bias")


def _of_body(model: PreTrainedModel, name: str) -> bool:
    """Whether a parameter of this name belongs to one of the body's modules, but its pooler."""
    module = name.removeprefix(model.base_model_prefix + ".").partition(".")[0]
    return module != "pooler" and module in dict(model.base_model.named_children())


def _refusal(directory: Path, why: str) -> InputError:
    return InputError(
        f"{directory}: the weights are not those of the model in its config.json: {why}; {AGAIN}"
    )


def _more(names: set[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
