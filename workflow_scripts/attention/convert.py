"""GGUF files, pickled weights and adapters as a directory that every job reads: safetensors."""

import json
import logging
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

from workflow_scripts.core.errors import InputError, and_more, one_line
from workflow_scripts.core.model import gguf_files, models, weights
from workflow_scripts.core.run import job
from workflow_scripts.core.run.model_sources import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    PICKLED,
    SAFETENSORS,
    base_of,
)

log = logging.getLogger(__name__)
HEADS = {  # the class of a base by the task of its adapter
    "CAUSAL_LM": transformers.AutoModelForCausalLM,
    "SEQ_CLS": transformers.AutoModelForSequenceClassification,
    "TOKEN_CLS": transformers.AutoModelForTokenClassification,
}


def main(source: dict, converted: job.Out, files: list[Path] = ()) -> None:
    """Write the model that `source` names (`files`: its files, where local, for the record).

    Weights keep their type, but those of GGUF files and of merged models become float32; a GGUF
    file's config states as `quantised` what most of its were.
    """
    place = models.resolve(source)
    converted.mkdir(parents=True)
    if not place.is_dir():
        log.info("%s: reading its tokens and weights", place.name)
        header = gguf_files.read_header(place)
        model = gguf_files.load(place, header)
        if header.quantised:
            model.config.quantised = header.quantised
        models.save(model, header.tokenizer, converted)
    elif (place / ADAPTER).is_file():
        _merge(place, converted)
    else:
        _unpickle(place, converted)


def _unpickle(place: Path, directory: Path) -> None:
    """Write pickled weights, whole or in shards, as safetensors; no other object is unpickled."""
    file = index = place / PICKLED[1]
    held, stored = {}, {}  # the file of each tensor
    try:
        if not (place / PICKLED[0]).is_file() and index.is_file():
            held = json.loads(index.read_bytes())["weight_map"]
        for name in sorted(set(held.values())) or PICKLED[:1]:
            file = place / Path(name).name
            lazily = zipfile.is_zipfile(file)  # not what torch 1.5 and before saved
            read = torch.load(file, map_location="cpu", weights_only=True, mmap=lazily)
            # Copies, as tied weights share memory.
            form = torch.contiguous_format
            tensors = {key: each.detach().clone(memory_format=form) for key, each in read.items()}
            written = f"{file.stem}.safetensors" if held else SAFETENSORS[0]
            save_file(tensors, directory / written, metadata={"format": "pt"})
            stored |= dict.fromkeys(tensors, written)
    except Exception as error:  # of any kind, for files of any content
        raise InputError(
            f"{file}: is missing or damaged, or holds more than tensors, which is never unpickled "
            f"({type(error).__name__}); copy it again, or save the model as safetensors yourself"
        ) from error
    if held:
        about = json.dumps({"metadata": {}, "weight_map": stored})
        (directory / SAFETENSORS[1]).write_text(about, encoding="utf-8")
    _copy_rest(place, directory)


def _copy_rest(place: Path, directory: Path) -> None:
    """Copy config and tokenizer; a file that is there stays."""
    for path in (path for pattern in models.NO_WEIGHTS for path in place.glob(pattern)):
        named = path.name in (*PICKLED, *SAFETENSORS, ADAPTER)
        if not named and not (directory / path.name).exists():
            shutil.copyfile(path, directory / path.name)


def _merge(adapter: Path, directory: Path) -> None:
    """Write an adapter's base with what the adapter adds, in float32."""
    if find_spec("peft") is None:
        weights.read_config(adapter)  # refuses it
    from peft import PeftModel, get_peft_model_state_dict

    try:
        with TemporaryDirectory() as folder, safe_open(adapter / ADAPTER_WEIGHTS, "pt") as opened:
            held, base = set(opened.keys()), Path(folder)
            about = json.loads((adapter / ADAPTER).read_bytes())
            _put_base(adapter, about.get("revision"), base)
            named = (about.get("auto_mapping") or {}).get("base_model_class", "AutoModel")
            kind = HEADS.get(about.get("task_type")) or getattr(transformers, named)
            model, anew = weights.load(kind, base)
            tuned = PeftModel.from_pretrained(model, adapter, torch_device="cpu")
            expected = get_peft_model_state_dict(tuned, save_embedding_layers=False).keys()
            unknown = held - expected - tuned.state_dict().keys()  # of which PEFT does not warn
            if differ := (expected - held) | unknown:
                raise ValueError(f"only one of the two has {min(differ)}{and_more(differ)}")
            merged = tuned.merge_and_unload()
            # A head that neither has is not saved, so that it is not taken for a trained one.
            anew = {name for name in anew if not any(key.endswith(name) for key in held)}
            state = {key: each for key, each in merged.state_dict().items() if key not in anew}
            merged.save_pretrained(directory, state_dict=state)
            own = (adapter / "tokenizer_config.json").is_file()
            _copy_rest(adapter if own else base, directory)
    except InputError:
        raise
    except Exception as error:  # of any kind, for files of any content
        raise InputError(
            f"{adapter}: the adapter cannot be merged with its base ({one_line(error)}); save the "
            "whole model after merge_and_unload"
        ) from error


def _put_base(adapter: Path, revision: str | None, directory: Path) -> None:
    """Put an adapter's base into a directory, without the adapter: transformers would load it."""
    base = base_of({"path": str(adapter)})
    if isinstance(base, str):
        if not re.fullmatch("[0-9a-f]{40}", revision or ""):
            raise InputError(
                f"{adapter / ADAPTER}: {base} is no directory here, and revision is {revision}; "
                "write the base's directory as base_model_name_or_path, or its commit as revision"
            )
        base = models.resolve({"hub": base, "revision": revision})
    if not any((base / name).is_file() for name in SAFETENSORS):
        return _unpickle(base, directory)
    for path in base.iterdir():
        if path.is_file() and path.name not in (ADAPTER, ADAPTER_WEIGHTS):
            (directory / path.name).symlink_to(path.resolve())


if __name__ == "__main__":
    job.run(main, globals())
