"""What each product was made of: a record next to it, `.provenance/<name>.json`.

It has neither time nor host: two runs that give equal products give equal records. A job checks its
inputs against theirs; this module as a program checks a whole folder.
"""

import argparse
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests

FOLDER = ".provenance"
FORMAT = 1
# What is no product of a job: logs, times, records and reports.
NOT_PRODUCTS = ("logs", "benchmarks", FOLDER, digests.MARK, "report.html", "report.zip")
# What is read of a record.
READ = ("output", "sha256", "size", "inputs", "code", "params")
# The distributions that results may depend on, where they are installed.
DISTRIBUTIONS = "datasets gensim gguf h5py matplotlib numpy pandas peft pyarrow".split()
DISTRIBUTIONS += "scikit-learn scipy spacy tokenizers torch transformers".split()
# SHA-256, size in bytes and, of a directory, the number of files.
Content = dict[str, Any]


@dataclass(frozen=True)
class Origin:
    """What a job is given apart from its outputs; `config` is the whole config of the study."""

    inputs: Sequence[Path]
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
    found = {
        "sha256": digests.sha256(path, anew),
        "size": sum(file.stat().st_size for file in files),
    }
    return found | ({"files": len(files)} if path.is_dir() else {})


def read(product: Path) -> dict[str, Any] | None:
    """The record of a product; None where it has none. Raises InputError for a damaged record."""
    record = record_path(product)
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
        return found | {key: found[key] for key in READ}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{record}: not a record of {product.name} ({type(error).__name__}: {error}); "
            f"delete it and {product}, and snakemake makes both again"
        ) from error


def now_at(name: str, output: str, product: Path) -> Path:
    """Where an input is now, of a product that may have been copied with its folder."""
    if output == str(product) or Path(name).is_absolute() or Path(output).is_absolute():
        return Path(name)
    return Path(os.path.normpath(product.parent / os.path.relpath(name, Path(output).parent)))


def check(inputs: Iterable[Path]) -> dict[str, Content | None]:
    """The content of every input, None where it is missing; InputError if it is not as recorded."""
    found: dict[str, Content | None] = {}
    for path in inputs:
        now = found[str(path)] = content(path) if path.exists() else None
        record = read(path) if now else None
        if now and record and not same(now, record):
            raise InputError(
                f"{path}: is not what its job wrote ({_words(now)}; recorded {_words(record)}); "
                f"delete it, and snakemake makes it again, or delete {record_path(path)} where the "
                "change is meant"
            )
    return found


def forget(output: Path) -> None:
    """Remove the records of an output that is about to be replaced, and of the list next to it."""
    for path in (output, output.with_name(output.name + digests.LISTING)):
        record_path(path).unlink(missing_ok=True)


def write(origin: Origin, read: Mapping[str, Content | None], outputs: Iterable[Path]) -> None:
    """Write the records of outputs that are in place; `read` has the content of each input."""
    for output in outputs:
        record_path(output).parent.mkdir(exist_ok=True)
        record = _record(origin, read, output)
        text = json.dumps(record, indent=1, ensure_ascii=False, default=str) + "\n"
        digests.replace(record_path(output), text.encode())


def prune(folder: Path) -> None:
    """Delete the records of products that are gone: temporary ones, and those of failed jobs."""
    digests.prune()
    for product in recorded(folder):
        if not os.path.lexists(product):
            record_path(product).unlink()


def config_digest(config: Mapping[str, Any]) -> str:
    """Hex digest of a config, whatever the order of its keys."""
    text = json.dumps(config, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _record(origin: Origin, contents: Mapping[str, Content | None], output: Path) -> dict[str, Any]:
    params = {name: item for name, item in origin.params.items() if not callable(item)}
    weights = {_weights(Path(name)) for name in contents} - {None}
    return {
        "format": FORMAT,
        "output": str(output),
        **content(output),
        "inputs": dict(sorted(contents.items())),
        "code": origin.code,
        "params": dict(sorted(params.items())),
        "seed": params.get("seed"),
        "threads": origin.threads,
        "config": None if origin.config is None else config_digest(origin.config),
        "model_weights": sorted(weights),
        "versions": _versions(),
    }


@cache
def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _weights(path: Path) -> str | None:
    """The digest of the model's weights, where the file is a model's card."""
    if path.name != "model.json" or not path.is_file():
        return None
    card = json.loads(path.read_text(encoding="utf-8"))
    return card.get("weights") if isinstance(card, dict) else None


def same(now: Mapping[str, Any], recorded: Mapping[str, Any]) -> bool:
    """Whether what is known of a product now is what was recorded."""
    return all(recorded.get(key) == value for key, value in now.items())


def _words(of: Mapping[str, Any]) -> str:
    return f"{of['size']} bytes, SHA-256 {of['sha256'][:12]}"


def recorded(folder: Path) -> list[Path]:
    """The products that have a record, in a folder and in the folders below it."""
    records = sorted(folder.rglob(f"{FOLDER}/*.json"))
    return [record.parent.parent / record.name.removesuffix(".json") for record in records]


def verify(folder: Path) -> list[str]:
    """What is wrong in a folder of results, a line each."""
    found: dict[Path, dict[str, Any]] = {}  # the record of each product
    lines = []
    for product in recorded(folder):
        try:
            found[product] = read(product) or {}
        except InputError as error:
            lines.append(str(error))
            continue
        if not product.exists():
            lines.append(f"{product}: missing")
        elif not same(content(product, anew=True), found[product]):
            lines.append(f"{product}: differs from its record")
    now = dict(found)  # a product that differs from its record is in a line of its own already
    for product, record in found.items():
        for name, used in record["inputs"].items():
            path = now_at(name, record["output"], product)
            if not used or not path.exists():
                continue
            if path not in now:  # no product: a source, read once
                now[path] = content(path, anew=True)
            if now[path]["sha256"] != used["sha256"]:
                lines.append(f"{product}: was made from another version of {path}")
    return lines + [f"{path}: unrecorded" for path in _unrecorded(folder)]


def _unrecorded(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NOT_PRODUCTS or record_path(path).is_file():
            continue
        if path.is_dir():
            yield from _unrecorded(path)
        else:
            yield path


def main(arguments: list[str] | None = None) -> int:
    """Check a folder; the exit status is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of results, such as results/demo")
    folder = parser.parse_args(arguments).folder
    if not folder.is_dir():
        parser.error(f"{folder}: no such directory")
    lines = verify(folder)
    for line in lines:
        print(line)
    words = f"{len(lines)} things wrong" if lines else "all as recorded"
    print(f"{folder}: {len(recorded(folder))} records, {words}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
