"""Models' cards: reading and writing one, whether it is current, and what a study needs of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.sources import inside_package
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance
from workflow_scripts.core.run.files import files_below

GGUF_ENDING = ".gguf"
# Types whose models read in both directions, unless their config has is_decoder.
ENCODERS = frozenset(
    "albert bert big_bird camembert convbert data2vec-text deberta deberta-v2 distilbert electra "
    "ernie esm eurobert flaubert funnel gte ibert luke megatron-bert mobilebert modernbert mpnet "
    "nomic_bert nystromformer rembert roberta roberta-prelayernorm roformer squeezebert xlm "
    "xlm-roberta xlm-roberta-xl xlnet xmod".split()
)
CONVERTED = "converted"  # what a model that must be converted becomes, next to attention/
SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")  # whole, or in shards
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"  # as PEFT saves one
NEEDED_TOKENS = {"cls": "a [CLS] token", "sep": "a [SEP] token", "mask": "a mask token"}


def is_gguf(source: Mapping[str, Any]) -> bool:
    """Whether a source of the config, or of a card, is a GGUF file and not a directory."""
    place = source.get("file") or source.get("path") or source.get("package") or ""
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
    encoder = config.get("model_type") in ENCODERS and not config.get("is_decoder")
    return "encoder" if encoder and (not causal or "XLNetLMHeadModel" in names) else "decoder"


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
    return inside_package(package) if package else Path(source.get("path", ""))


def converted_directory(card: Path) -> Path:
    """The directory of the converted model whose card is at `card`."""
    return card.parent.parent / CONVERTED


def read_card(path: Path) -> dict[str, Any]:
    """The content of a card, as `models.describe` gives it.

    A model that the study trained stands next to its card, which has its name as `trained`: so it
    is found wherever the study is. So is a converted model, whose `directory` is added.
    """
    card = json.loads(path.read_text(encoding="utf-8"))
    source = card.get("source", {})
    if "trained" in source:
        card["source"] = {"path": str(path.parent / source["trained"])}
    elif "converted" in card:
        card["directory"] = str(converted_directory(path))
    return card


def write_card(card: dict[str, Any], path: Path) -> None:
    """Write a model.json, indented for people."""
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def is_current(path: Path, source: dict[str, str]) -> bool:
    """Whether the card at `path` is that of the model from `source` as it is now.

    Of a local model its files are compared with the record; in a package, `source` has the digest.
    """
    if not path.is_file() or (card := read_card(path))["source"] != source:
        return False
    if "path" not in source:
        return True
    record = provenance.read(Path(card.get("directory", path))) or {"inputs": {}}
    made_of = {name: content["sha256"] for name, content in record["inputs"].items()}
    places = map(Path, local_directories(source))
    files = [file for place in places for file in files_below(place, deep=False)]
    return made_of == {str(file): digests.sha256(file) for file in files}


def in_words(source: dict[str, str]) -> str:
    """The source on a card, for people: "package p/model, version 1.0, sha256 5d7c06e027fc"."""
    shown = source | ({"sha256": source["sha256"][:12]} if "sha256" in source else {})
    return ", ".join(f"{key} {value}" for key, value in shown.items())


def check_abilities(card: dict[str, Any], needed: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError where the model of `card` lacks a token that `needed` names."""
    for kind, chapters in needed.items():
        if card["special"][kind] is None:
            users = " and ".join(chapters)
            raise InputError(
                f"{users}: needs {NEEDED_TOKENS[kind]}, which the tokenizer in {_place(card)} "
                f"lacks or leaves out of texts or pairs; use another model or remove {users}"
            )


def check_kind(card: dict[str, Any], kind: str) -> None:
    """Raise InputError for a model of another kind, and for an encoder without a padding token."""
    found = "encoder" if card.get("bidirectional", True) else "decoder"
    if found != kind:
        attend = "attend" if found == "encoder" else "do not attend"
        raise InputError(
            f"kind: {kind}: tokens of the model in {_place(card)} {attend} to later ones; "
            f"write kind: {found}"
        )
    if found == "encoder" and card["special"]["pad"] is None:
        raise InputError(f"{_place(card)}: the tokenizer has no padding token; use another model")


def _place(card: dict[str, Any]) -> str:
    return next(card["source"][key] for key in ("path", "package", "hub") if key in card["source"])
