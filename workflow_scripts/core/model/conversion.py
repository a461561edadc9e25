"""What is not read as it is becomes safetensors once: GGUF files, pickled weights, adapters."""

import json
import re
import shutil
import zipfile
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import transformers
from safetensors import safe_open
from safetensors.torch import save_file

from workflow_scripts.core.data.cards import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    PICKLED,
    SAFETENSORS,
    base_of,
)
from workflow_scripts.core.errors import InputError, and_more, one_line
from workflow_scripts.core.model import gguf_files, models, weights

# The class of a base by the task of its adapter.
HEADS = {
    "CAUSAL_LM": transformers.AutoModelForCausalLM,
    "SEQ_CLS": transformers.AutoModelForSequenceClassification,
    "TOKEN_CLS": transformers.AutoModelForTokenClassification,
}
NOT_COPIED = (*PICKLED, ADAPTER, *SAFETENSORS)


def convert(source: models.Source, directory: Path) -> None:
    """Write the model that `source` names, with config and tokenizer, to a new directory.

    Weights keep their type, but those of GGUF files and of merged models become float32; a GGUF
    file's config states as `quantised` what most of its were. Raises InputError where the model
    cannot be read.
    """
    place = models.resolve(source)
    directory.mkdir(parents=True)
    if not place.is_dir():
        (tokenizer, quantised), model = gguf_files.read_header(place), gguf_files.load(place)
        if quantised:
            model.config.quantised = quantised
        models.save(model, tokenizer, directory)
    elif (place / ADAPTER).is_file():
        _merge(place, directory)
    else:
        _unpickle(place, directory)


def _unpickle(place: Path, directory: Path) -> None:
    """Write a directory of pickled weights as one of safetensors: the same names, types, shards."""
    stored: dict[str, str] = {}
    whole, index = (place / name for name in PICKLED)
    held = _read_index(index) if index.is_file() and not whole.is_file() else {}
    for name in sorted(set(held.values())) or [whole.name]:
        file = SAFETENSORS[0] if name == whole.name else f"{Path(name).stem}.safetensors"
        stored |= dict.fromkeys(_rewrite(place / name, directory / file), file)
    if lacking := held.keys() - stored.keys():
        raise InputError(
            f"{index}: {min(lacking)} is in none of its files{and_more(lacking)}; copy them again"
        )
    if held:
        content = {"metadata": {}, "weight_map": stored}
        (directory / SAFETENSORS[1]).write_text(json.dumps(content), encoding="utf-8")
    _copy_rest(place, directory)


def _read_index(index: Path) -> dict[str, str]:
    """The file that holds each tensor, by its name; InputError for other places than next to it."""
    try:
        held = json.loads(index.read_bytes())["weight_map"]
        if all(Path(name).name == name for name in held.values()):
            return held
        raise ValueError("it names other folders")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{index}: cannot be read as an index of weights ({one_line(error)}); copy it again"
        ) from error


def _rewrite(pickled: Path, file: Path) -> list[str]:
    """Write a file of pickled tensors as safetensors; their names. Nothing else is unpickled."""
    try:
        lazily = zipfile.is_zipfile(pickled)  # not what was saved before torch 1.6
        tensors = torch.load(pickled, map_location="cpu", weights_only=True, mmap=lazily)
        # Tied weights share memory, which safetensors refuses.
        copies = {
            name: tensor.detach().clone(memory_format=torch.contiguous_format)
            for name, tensor in tensors.items()
        }
        save_file(copies, file, metadata={"format": "pt"})
    except Exception as error:  # of any kind, for a file of any content
        raise InputError(
            f"{pickled}: is missing or damaged, or holds more than tensors, which is not unpickled "
            f"({type(error).__name__}); copy it again, or save the model as safetensors where you "
            "trust it"
        ) from error
    return list(copies)


def _copy_rest(place: Path, directory: Path) -> None:
    """Copy what loading reads apart from weights; what is there stays."""
    for path in (path for pattern in models.NO_WEIGHTS for path in place.glob(pattern)):
        if path.name not in NOT_COPIED and not (directory / path.name).exists():
            shutil.copyfile(path, directory / path.name)


def _merge(adapter: Path, directory: Path) -> None:
    """Write an adapter's base with what the adapter adds, in float32."""
    if find_spec("peft") is None:
        raise weights.no_adapter(adapter)
    from peft import PeftModel, get_peft_model_state_dict

    about = json.loads((adapter / ADAPTER).read_bytes())
    with TemporaryDirectory() as folder:
        base = Path(folder)
        _put_base(adapter, about.get("revision"), base)
        named = (about.get("auto_mapping") or {}).get("base_model_class", "AutoModel")
        kind = HEADS.get(about.get("task_type")) or getattr(transformers, named)
        model, anew = weights.load(kind, base)
        try:
            with safe_open(adapter / ADAPTER_WEIGHTS, "pt") as opened:
                held = set(opened.keys())
            tuned = PeftModel.from_pretrained(model, adapter, torch_device="cpu")
            expected = get_peft_model_state_dict(tuned, save_embedding_layers=False).keys()
            unknown = held - expected - tuned.state_dict().keys()  # of which PEFT does not warn
            if differ := (expected - held) | unknown:
                raise ValueError(f"only one of the two has {min(differ)}{and_more(differ)}")
            merged = tuned.merge_and_unload()
        except Exception as error:  # of any kind, for files of any content
            raise InputError(
                f"{adapter}: the adapter cannot be merged with its base ({one_line(error)}); save "
                "the whole model after merge_and_unload"
            ) from error
        # A head that neither of both holds is not made up here.
        anew = {name for name in anew if not any(key.endswith(name) for key in held)}
        state = {name: part for name, part in merged.state_dict().items() if name not in anew}
        merged.save_pretrained(directory, state_dict=state)
        _copy_rest(adapter if (adapter / "tokenizer_config.json").is_file() else base, directory)


def _put_base(adapter: Path, revision: str | None, directory: Path) -> None:
    """Put an adapter's base into a directory, without the adapter: transformers would load it."""
    base = base_of({"path": str(adapter)})
    if isinstance(base, str):
        if not re.fullmatch("[0-9a-f]{40}", revision or ""):
            raise InputError(
                f"{adapter / ADAPTER}: {base} is no directory here, and revision is {revision}; "
                "write the base's directory as base_model_name_or_path, or its commit as revision"
            )
        base = models.resolve(models.Source(hub=base, revision=revision))
    if not any((base / name).is_file() for name in SAFETENSORS):
        return _unpickle(base, directory)
    for path in base.iterdir():
        if path.is_file() and path.name not in (ADAPTER, ADAPTER_WEIGHTS):
            (directory / path.name).symlink_to(path.resolve())
