"""Models as a study states them: GGUF files, pickled weights, adapters; and their kind."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.downloads import FOLDER
from workflow_scripts.core.run.sources import inside_package

GGUF_ENDING = ".gguf"
# Types whose models read in both directions, unless their config has is_decoder.
ENCODERS = frozenset(
    "albert bert big_bird camembert convbert data2vec-text deberta deberta-v2 distilbert electra "
    "ernie esm eurobert flaubert funnel gte ibert luke megatron-bert mobilebert modernbert mpnet "
    "nomic_bert nystromformer rembert roberta roberta-prelayernorm roformer squeezebert xlm "
    "xlm-roberta xlm-roberta-xl xlnet xmod".split()
)
# What the weights of masked-LM heads are called, in any of the encoders' classes.
MASKED_HEAD = re.compile(
    r"(.*\.)?(lm_\w+|vocab_\w+|generator_\w+|predictions|pred_layer|head|decoder)\."
)
SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")  # whole, or in shards
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"  # as PEFT saves one


def is_gguf(source: Mapping[str, Any]) -> bool:
    """Whether a source of the config, or of a card, is a GGUF file and not a directory."""
    places = (source.get(key) for key in ("file", "path", "package", "fetch"))
    place = next(filter(None, places), "")
    return place.lower().endswith(GGUF_ENDING)


def kind_of(source: Mapping[str, Any]) -> str:
    """Whether a source of the config is an encoder or a decoder, by its config.json.

    An encoder where there is none yet, as on the hub: whether that is right is checked with its
    weights.
    """
    if is_gguf(source):
        return "decoder"
    try:
        config = config_of(source)
    except (InputError, OSError, ValueError):  # said when the model is opened
        return "encoder"
    names = [str(name) for name in config.get("architectures") or ()]
    causal = any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names)
    encoder = config.get("model_type") in {None, *ENCODERS} and not config.get("is_decoder")
    return "encoder" if encoder and (not causal or "XLNetLMHeadModel" in names) else "decoder"


def predicts_masked(source: Mapping[str, Any]) -> bool | None:
    """Whether a source has a masked-LM head of its own, by its config.json and its weights.

    A model tuned for sentence vectors often keeps the architecture's name without the head. None
    where there is no config.json yet, as on the hub: its job says so then.
    """
    try:
        names = config_of(source).get("architectures")
        stored = set() if "hub" in source else _stored_names(_place_of(source))
    except (InputError, OSError, ValueError):
        return None
    masked = any(str(name).endswith("ForMaskedLM") for name in names or ())
    return masked and (not stored or any(map(MASKED_HEAD.match, stored)))


def labels_tokens(source: Mapping[str, Any]) -> bool | None:
    """Whether a source is a classifier of tokens, by its config.json; None where there is none."""
    try:
        names = config_of(source).get("architectures")
    except (InputError, OSError, ValueError):
        return None
    return any(str(name).endswith("ForTokenClassification") for name in names or ())


def _stored_names(directory: Path) -> set[str]:
    """The names of a directory's weights in safetensors; none where there are no such files."""
    whole, index = (directory / name for name in SAFETENSORS)
    if index.is_file():
        return set(json.loads(index.read_bytes())["weight_map"])
    if not whole.is_file():
        return set()
    with whole.open("rb") as file:  # its header is JSON, after 8 bytes with its length
        return set(json.loads(file.read(int.from_bytes(file.read(8), "little"))))


def config_of(source: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a model's config.json; of a hub's repository where it was fetched before.

    Raises OSError or ValueError where there is none.
    """
    if "hub" in source:
        from huggingface_hub import try_to_load_from_cache

        name, revision = source["hub"], source.get("revision")
        file = try_to_load_from_cache(name, "config.json", revision=revision)
        if not isinstance(file, str):
            raise FileNotFoundError(f"{name}: config.json is not fetched yet")
        return json.loads(Path(file).read_bytes())
    base = base_of(source)
    place = base if isinstance(base, Path) else _place_of(source)
    return json.loads((place / "config.json").read_bytes())


def must_convert(source: Mapping[str, Any]) -> bool:
    """Whether a source is read after a conversion: a GGUF file, pickled weights, an adapter.

    A repository of the hub is, where the source names the `file` of it.
    """
    if "hub" in source:
        return "file" in source
    place = _place_of(source)
    pickled = _has(place, PICKLED) and not _has(place, SAFETENSORS)
    return pickled or is_gguf(source) or (place / ADAPTER).is_file()


def base_of(source: Mapping[str, Any]) -> Path | str | None:
    """What an adapter changes: a local directory, also its own, or a repository of the hub.

    None for what is no adapter.
    """
    place = _place_of(source)
    if "hub" in source or not (place / ADAPTER).is_file():
        return None
    if _has(place, (*SAFETENSORS, *PICKLED)):
        return place
    name = str(json.loads((place / ADAPTER).read_bytes()).get("base_model_name_or_path"))
    return next((path for path in (place / name, Path(name)) if path.is_dir()), name)


def local_directories(source: Mapping[str, Any]) -> list[str]:
    """The directory or GGUF file of a local model, and that of an adapter's base elsewhere."""
    found, base = [source["path"]] if "path" in source else [], base_of(source)
    return [*found, str(base)] if isinstance(base, Path) and base != _place_of(source) else found


def _has(place: Path, names: Sequence[str]) -> bool:
    return any((place / name).is_file() for name in names)


def _place_of(source: Mapping[str, Any]) -> Path:
    package = source.get("package")
    if "fetch" in source:
        return Path(FOLDER, source["fetch"])
    return inside_package(package) if package else Path(source.get("path", ""))
