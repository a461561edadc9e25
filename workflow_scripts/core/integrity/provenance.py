"""What each product was made of: a record next to it, `.provenance/<name>.json`.

A record holds the digest of the product and of every input, the code, the parameters and the
versions, but neither time nor host: two runs that give equal products give equal records. A job
checks its inputs against theirs; verify.py checks a whole folder.
"""

import hashlib
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests

FOLDER = ".provenance"
FORMAT = 1
PARTIAL = ".part"
# The ending of the record of a product that Snakemake has removed; others end in .json.
REMOVED = ".removed"
# What is read of a record.
READ = ("output", "sha256", "size", "inputs", "code", "params")
# The distributions that results may depend on, by the module that is imported.
DISTRIBUTIONS = {
    "datasets": "datasets",
    "gensim": "gensim",
    "gguf": "gguf",
    "h5py": "h5py",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "spacy": "spacy",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
}
# SHA-256, size in bytes and, of a directory, the number of files.
Content = dict[str, Any]


@dataclass(frozen=True)
class Origin:
    """What a job is given apart from its outputs; `config` is the whole config of the study."""

    inputs: tuple[Path, ...]
    code: str | None
    params: Mapping[str, Any]
    threads: int | None = None
    config: Mapping[str, Any] | None = None


def record_path(product: Path) -> Path:
    """The path of a product's record."""
    return product.parent / FOLDER / f"{product.name}.json"


def content(path: Path, anew: bool = False) -> Content:
    """SHA-256 and size in bytes of a file; of a directory, also the number of its files."""
    files = digests.files(path) if path.is_dir() else [path]
    found = {"sha256": digests.of(path, anew), "size": sum(file.stat().st_size for file in files)}
    return found | ({"files": len(files)} if path.is_dir() else {})


def read(product: Path, record: Path | None = None) -> dict[str, Any] | None:
    """The record of a product; None where it has none. Raises InputError for a damaged record."""
    record = record or record_path(product)
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
        known = {key: found[key] for key in READ}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{record}: not a record of {product.name} ({type(error).__name__}: {error}); "
            f"delete it and {product}, and snakemake makes both again"
        ) from error
    return found | known


def last(product: Path) -> dict[str, Any] | None:
    """The record of a product, also of one that is gone, or that Snakemake has removed."""
    return read(product) or (None if os.path.lexists(product) else read(product, _removed(product)))


def now_at(name: str, output: str, product: Path) -> Path:
    """Where an input is now, of a product that may have been copied with its folder."""
    if output == str(product) or Path(name).is_absolute() or Path(output).is_absolute():
        return Path(name)
    return Path(os.path.normpath(product.parent / os.path.relpath(name, Path(output).parent)))


def check(inputs: Iterable[Path]) -> dict[str, Content | None]:
    """The content of every input, after a comparison with its record; InputError if they differ.

    Inputs without a record, such as a user's texts, are digested. An input that does not exist has
    None; reporting it is up to the step.
    """
    return {str(path): _checked(path) if path.exists() else None for path in inputs}


def write_partial(
    origin: Origin, contents: Mapping[str, Content | None], outputs: Mapping[Path, Path]
) -> None:
    """Write the records of outputs that are still under partial paths, {final: partial}."""
    for output, partial in outputs.items():
        record = record_path(output)
        record.parent.mkdir(exist_ok=True)
        made = _record(origin, contents, output) | content(partial)
        text = json.dumps(made, indent=1, ensure_ascii=False)
        _partial(record).write_text(text + "\n", encoding="utf-8")


def forget(outputs: Iterable[Path]) -> None:
    """Remove the records of outputs, which are about to be replaced."""
    for output in outputs:
        record_path(output).unlink(missing_ok=True)


def put_in_place(outputs: Iterable[Path]) -> None:
    """Give the records that `write_partial` wrote their names, now that the outputs are there."""
    for output in outputs:
        os.replace(_partial(record_path(output)), record_path(output))


def remove_partial(outputs: Iterable[Path]) -> None:
    """Remove what a failed job left of its records."""
    for output in outputs:
        _partial(record_path(output)).unlink(missing_ok=True)


def prune(folder: Path, failed: Container[str] = ()) -> None:
    """Set aside the records of products that are gone, such as temporary ones after their readers.

    Snakemake compares the parameters of what it has removed, too. The records of what `failed` jobs
    should have made are deleted.
    """
    digests.prune()
    for record in list(records(folder)):
        product = product_of(record)
        if os.path.lexists(product):
            continue
        if str(product) not in failed:
            record.replace(_removed(product))
            continue
        record.unlink()
        if not any(record.parent.iterdir()):
            record.parent.rmdir()


def config_digest(config: Mapping[str, Any]) -> str:
    """Hex digest of a config, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(_plain(config), sort_keys=True).encode()).hexdigest()[:16]


def _record(origin: Origin, contents: Mapping[str, Content | None], output: Path) -> dict[str, Any]:
    params = {name: _plain(item) for name, item in origin.params.items() if not callable(item)}
    weights = {_weights(Path(name)) for name in contents} - {None}
    return {
        "format": FORMAT,
        "output": str(output),
        "sha256": "",
        "size": 0,
        "inputs": dict(sorted(contents.items())),
        "repeated": sorted((Counter(map(str, origin.inputs)) - Counter(list(contents))).elements()),
        "code": origin.code,
        "params": dict(sorted(params.items())),
        "seed": params.get("seed"),
        "threads": origin.threads,
        "config": None if origin.config is None else config_digest(origin.config),
        "model_weights": sorted(weights),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    """Of Python and of the distributions that this process has imported."""
    loaded = {
        name: version(name) for module, name in DISTRIBUTIONS.items() if module in sys.modules
    }
    return {"python": platform.python_version()} | loaded


def _weights(path: Path) -> str | None:
    """The digest of the model's weights, where the file is a model's card."""
    if path.name != "model.json" or not path.is_file():
        return None
    card = json.loads(path.read_text(encoding="utf-8"))
    return card.get("weights") if isinstance(card, dict) else None


def _checked(path: Path) -> dict[str, Any]:
    record = read(path)
    if record is None:
        return content(path)
    if misplaced(path, record):
        raise InputError(
            f"{path}: the record next to it is of {record['output']}; put back what was there, or "
            "delete it, and snakemake makes it again"
        )
    now = content(path)
    if not same(now, record):
        raise InputError(
            f"{path}: is not what its job wrote ({_words(now)}; recorded {_words(record)}); delete "
            f"it, and snakemake makes it again, or delete {record_path(path)} where the "
            "change is meant"
        )
    return {key: record[key] for key in ("sha256", "size", "files") if key in record}


def misplaced(product: Path, record: Mapping[str, Any], folder: Path | None = None) -> bool:
    """Whether the record next to a product is of another one.

    Paths are compared below results/<study>, which may have been copied or renamed; of products
    elsewhere below `folder`, or else by name.
    """
    ours, theirs = Path(os.path.relpath(product)).parts, Path(record["output"]).parts
    if ours[0] == theirs[0] == "results":
        return ours[2:] != theirs[2:]
    kept = product.relative_to(folder).parts if folder else (product.name,)
    return theirs[-len(kept) :] != kept


def same(now: Mapping[str, Any], recorded: Mapping[str, Any]) -> bool:
    """Whether what is known of a product now is what was recorded."""
    return all(recorded.get(key) == value for key, value in now.items())


def _words(of: Mapping[str, Any]) -> str:
    return f"{of['size']} bytes, SHA-256 {of['sha256'][:12]}"


def _plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _partial(record: Path) -> Path:
    return record.with_name(record.name + PARTIAL)


def _removed(product: Path) -> Path:
    return record_path(product).with_suffix(REMOVED)


def product_of(record: Path) -> Path:
    """The product that a record is of."""
    return record.parent.parent / record.name.removesuffix(".json")


def records(folder: Path) -> Iterator[Path]:
    """All records in a folder, and in the folders below it."""
    yield from sorted(path for path in folder.rglob(f"{FOLDER}/*.json") if path.is_file())
