"""What the preflight opens of translation, with the readers of its rules: pairs, translator."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.first_records import LINES, is_large
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.model import translator_checks as checks
from workflow_scripts.core.model import translators, unloaded, weights
from workflow_scripts.core.run.findings import Findings
from workflow_scripts.core.run.units import size
from workflow_scripts.translation import translation_pairs
from workflow_scripts.translation.translation_pairs import read_pairs
from workflow_scripts.translation.translator_card import parts_of

GENERATED = 60  # pairs of each split that are written to see that the grammar writes them


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Open the pairs of sentences and the pretrained translator."""
    part = config["translation"]
    if sizes := part["data"].get("generate"):
        found.look("translation.data.generate", partial(generated, sizes, config["seed"]))
    for split, pair in files(part["data"]).items():
        found.look(f"translation.data.{split}", partial(aligned, pair))
    if entry := part.get("model"):
        found.look("translation.model", partial(translator, entry, network))


def files(data: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """The files of each split and domain that are read, source and target."""
    splits = {split: data[split] for split in translation_pairs.SPLITS if split in data}
    return splits | dict(data.get("domains", {}))


def aligned(pair: Mapping[str, str]) -> tuple[None, str]:
    """The pairs of two files, the first ones where the files are large."""
    source, target = Path(pair["source"]), Path(pair["target"])
    large = any(path.exists() and is_large(path) for path in (source, target))
    n = sum(1 for _ in islice(read_pairs(source, target), LINES if large else None))
    return None, f"the first {n} pairs" if large else f"{n} pairs"


def generated(sizes: Mapping[str, int], seed: int) -> tuple[None, str]:
    """The first pairs of the study's own grammar."""
    few = {split: min(n, GENERATED) for split, n in sizes.items()}
    splits = translation_pairs.read({"generate": few}, seed)
    counted = ", ".join(f"{split} {len(pairs)}" for split, pairs in splits.items())
    return None, f"pairs written: {counted}"


def translator(entry: Mapping[str, Any], network: Network) -> tuple[None, str]:
    """The pretrained translator. Raises InputError with what is wrong.

    Of one on the hub that is not on this machine, all but the weights is downloaded.
    """
    languages, origin = parts_of(dict(entry))
    directory, there = unloaded.find(origin.to_config(), network)
    config = weights.read_config(directory)
    checks.check_kind(directory, config)
    on_disk, looked = unloaded.weigh(directory, there, config)
    if looked == unloaded.LOADS:
        translators.describe(directory, "translator", languages)
    else:
        translators.load_tokenizer(directory, languages)
    layers = f"{config.num_hidden_layers} layers of {config.num_attention_heads} heads"
    return None, f"{config.model_type}, an encoder of {layers}, weights {size(on_disk)}: {looked}"
