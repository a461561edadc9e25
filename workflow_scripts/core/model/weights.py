"""Weights from a directory, refused where they are not those that its config.json describes.

What `transformers` does not find among the weights it makes anew at random, what it finds too much
it leaves out, and quantized numbers it takes for weights; here these are errors.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from workflow_scripts.core.errors import InputError, and_more, one_line
from workflow_scripts.core.model.running import is_finite
from workflow_scripts.core.run.model_sources import ADAPTER, SAFETENSORS

AGAIN = "save the model again with save_pretrained"
WEIGHTS, INDEX = SAFETENSORS
FLOATS = frozenset(("F64", "F32", "F16", "BF16"))  # what weights are stored as; else quantized
LABELS = 10**6  # for each of which the library makes a name
QUANTIZED = ("quantization_config", "compression_config", "quant_method")


def read_config(directory: Path) -> PretrainedConfig:
    """The config.json of a model's directory.

    Raises InputError where it cannot be read, is of quantized weights, or asks for code of the
    model's own: `transformers` would load its own class of the same type instead. And for an
    adapter, which `transformers` leaves out.
    """
    if (directory / ADAPTER).is_file():
        raise InputError(
            f"{directory / ADAPTER}: the adapter would be left out; install peft, which merges it "
            "into a model of the study, or save the whole model after merge_and_unload"
        )
    if not (directory / "config.json").is_file():
        raise InputError(f"{directory}: no config.json; give a directory in Hugging Face format")
    try:
        if json.loads((directory / "config.json").read_bytes()).get("num_labels", 0) > LABELS:
            raise ValueError(f"num_labels above {LABELS}")
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
    kind = type(config).__name__.removesuffix("Config")
    for auto_class, name in (getattr(config, "auto_map", None) or {}).items():
        if not str(name).rpartition(".")[2].startswith(kind):
            raise InputError(
                f"{directory}/config.json: auto_map asks for code of the model's own, "
                f"{auto_class}: {name}, which is never run; use a model that transformers has"
            )
    return config


def label_names(config: PretrainedConfig) -> list[str]:
    """The names of a classifier's labels, in the order of its outputs."""
    return [config.id2label[number] for number in sorted(config.id2label)]


def load(
    kind: type, directory: Path, whole: bool = False, config: PretrainedConfig | None = None
) -> tuple[PreTrainedModel, set[str]]:
    """The model of class `kind`, float32, and the names of its parameters that were made anew.

    Without `whole` these may be the head's and the pooler's, never others of the body. Raises
    InputError for weights that are not the config's, quantized or not finite.
    """
    config = config or read_config(directory)
    try:
        with quiet():  # what it would report is checked here
            model, report = kind.from_pretrained(
                directory,
                config=config,
                dtype=torch.float32,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
    except Exception as error:  # of any kind, for files of any content
        raise InputError(
            f"{directory}: the weights cannot be read, or are of other sizes than in config.json "
            f"({one_line(error)}); copy them again, or {AGAIN} (docs/inputs.md)"
        ) from error
    missing = set(report["missing_keys"])
    lacking = missing if whole else {name for name in missing if _is_in_body(model, name)}
    if lacking:
        raise _refusal(directory, f"{min(lacking)} is missing{and_more(lacking)}")
    unused = set(report["unexpected_keys"])
    # Older checkpoints hold by what they mask attention, such as GPT-2's and GPT-Neo's.
    masks = ".attn.masked_bias", ".attn.attention.masked_bias", ".attn.attention.bias"
    if surplus := {x for x in unused if _is_in_body(model, x) and not x.endswith(masks)}:
        raise _refusal(directory, f"{min(surplus)} is not among its parameters{and_more(surplus)}")
    no_weights = _no_weights(model)
    for name, stored in _stored_types(directory).items():
        quantized = name not in unused and stored not in FLOATS
        if quantized and not any(re.search(pattern, name) for pattern in no_weights):
            raise InputError(
                f"{directory}: {name} is stored as {stored}: quantized weights are not read; save "
                f"the model as one of {', '.join(sorted(FLOATS))}"
            )
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not is_finite(tensor):
            what = "NaN" if tensor.isnan().any() else "infinite numbers"
            raise InputError(f"{directory}: the weights hold {what}, in {name}; copy them again")
    return model, missing


@contextmanager
def quiet() -> Iterator[None]:
    """Within, transformers reports errors alone."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def indexed(directory: Path) -> set[str]:
    """The names of the files in the index of weights; empty where there is no index.

    Raises InputError for an index that names other files than safetensors, such as pickles:
    `transformers` reads whatever an index names, also where it is to use safetensors alone.
    """
    path = directory / INDEX
    if not path.is_file():
        return set()
    names = set(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values())
    for name in sorted(map(str, names)):
        if not name.endswith(".safetensors"):
            raise InputError(f"{path}: {name} is no file of safetensors; {AGAIN}")
    return names


def _stored_types(directory: Path) -> dict[str, str]:
    """As what each tensor in the files that were loaded is stored; no value is read."""
    alone = (directory / WEIGHTS).is_file()
    types = {}
    for name in [WEIGHTS] if alone else sorted(indexed(directory)):
        with safe_open(directory / name, "pt") as opened:
            for key in opened.keys():  # noqa: SIM118 - not a mapping
                types[key] = opened.get_slice(key).get_dtype()
    return types


def _no_weights(model: PreTrainedModel) -> set[str]:
    """Patterns of the tensors of a file that are no weights: they are left out, or integers."""
    prefix = f"{model.base_model_prefix}."  # which a file's names may lack
    integers = (name for name, buffer in model.named_buffers() if not buffer.is_floating_point())
    names = {rf"(^|\.){re.escape(name.removeprefix(prefix))}$" for name in integers}
    return names | set(model._keys_to_ignore_on_load_unexpected or ())


def _is_in_body(model: PreTrainedModel, name: str) -> bool:
    """Whether a parameter of this name belongs to one of the body's modules, but its pooler."""
    module = name.removeprefix(model.base_model_prefix + ".").partition(".")[0]
    return module != "pooler" and module in dict(model.base_model.named_children())


def _refusal(directory: Path, why: str) -> InputError:
    return InputError(
        f"{directory}: the weights are not those of the model in its config.json: {why}; {AGAIN}"
    )
