"""No key of a source is dropped: it is passed on as part of the source, or a rule reads it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import Any

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import Wildcards

from tests.parsed_rules import ROOT, parse
from workflow_scripts.core.run import downloads, schema

# The part of the config with sources of each kind, whose name is that of its schema.
KINDS = {
    "text": "corpora.text",
    "treebank": "corpora.treebanks",
    "coreference": "corpora.coreference",
    "frames": "corpora.frames",
    "vectors": "corpora.vectors",
    "task": "tasks",
    "arct": "tasks",
}
SHOWS_THE_CONFIG = "report.smk"  # every key reaches its rules


def values(kind: str) -> dict[str, str]:
    """A source with all keys, those that exclude each other too, each with a value of its own."""
    definition = schema.assemble(ROOT / "rules/schemas")["$defs"][kind]
    return {key: f"{kind}: {key}" for key in definition["properties"]}


def with_sources(config: dict[str, Any]) -> dict[str, Any]:
    """The config with such a source of each kind, named by it."""
    for kind, part in KINDS.items():
        reduce(dict.__getitem__, part.split("."), config)[kind] = values(kind)
    return config


def strings(value: Any) -> Iterator[str]:
    """The strings in a param."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)
    elif isinstance(value, str):
        yield value


def evaluated(value: Any, wildcards: Wildcards) -> Any:
    """A param; None where it is of wildcards that name no source, or of inputs."""
    try:
        return value(wildcards) if callable(value) else value
    except (WorkflowError, LookupError, ValueError, TypeError):
        return None


def read() -> list[tuple[str, str, str]]:
    """Each rule, param and value that the param takes from a source."""
    locate = downloads.locate
    downloads.locate = lambda config, schemas: with_sources(locate(config, schemas))
    workflow = parse(ROOT / "config.yaml")
    rules = [r for r in workflow.rules if Path(r.snakefile).name != SHOWS_THE_CONFIG]
    names = {name for rule in rules for name in rule.wildcard_names}
    found = []
    for kind in KINDS:
        wildcards, known = Wildcards(fromdict=dict.fromkeys(names, kind)), {*values(kind).values()}
        for rule in rules:
            for param, value in rule.params.items():
                texts = known & {*strings(evaluated(value, wildcards))}
                found += [(rule.name, param, text) for text in texts]
    return found


@cache
def params() -> list[list[str]]:
    """What `read` finds, in a process of its own, which Snakemake changes."""
    command = [sys.executable, "-m", "tests.core.test_source_keys"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_source_reaches_a_rule(kind: str) -> None:
    """As part of the source, which one rule reads, or as a param of its own."""
    own = {*values(kind).values()}
    assert {text for _, _, text in params()} & own == own
    whole = [(rule, text) for rule, param, text in params() if param == "source" and text in own]
    assert len({rule for rule, _ in whole}) == 1
    assert 1 < len(whole) < len(own)


if __name__ == "__main__":
    print(json.dumps(read()))
