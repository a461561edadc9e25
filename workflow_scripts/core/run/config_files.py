"""The study's files as they are written, checked before Snakemake makes values of them.

Snakemake reads YAML 1.1, in which `010` is 8, `1:30` is 90 and `no` is false, with a loader that
looks up Python names, and runs the expressions of a file with `__use_yte__`. Here nothing is
constructed: only the nodes of the YAML are looked at.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import yaml

from workflow_scripts.core.errors import InputError

STANDARD = "tag:yaml.org,2002:"
TEMPLATE = "__use_yte__"
# How each type of YAML's own is written here: as everybody, and every version of YAML, reads it.
WRITTEN = {
    "int": (r"[-+]?(0|[1-9][0-9]*)", "a whole number in decimal digits"),
    "float": (r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", "a decimal number"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "true or false"),
}
# Numbers to Python and to YAML 1.2, texts to the YAML that Snakemake reads.
EXPONENT = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]{1,2}"
OTHERS = {"null", "str", "merge", "map", "seq"}
MOST = 100_000  # values of a file; a few aliases of aliases stand for billions


def check_files(files: Iterable[Path]) -> None:
    """Raise InputError, with file and line, for what Snakemake would not read as it is written."""
    for path in files:
        root, is_json = _composed(path)
        if not isinstance(root, yaml.MappingNode):
            raise InputError(f"{path}: no mapping of keys at the top level; write `study: a-name`")
        _check_node(root, path, is_json, {})


def _composed(path: Path) -> tuple[yaml.Node | None, bool]:
    """The root of a file's nodes, and whether the file is JSON."""
    is_json = False
    try:
        text = path.read_bytes().decode("utf-8")
        with suppress(ValueError, RecursionError):  # it need not be JSON, where a tab is a blank
            json.loads(text)
            text, is_json = text.replace("\t", " "), True
        return yaml.compose(text, yaml.SafeLoader), is_json
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a file of YAML or JSON") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"{path}:{line}: a control character; remove it") from error
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, (error.context, error.problem)))
        raise InputError(
            f"{path}:{error.problem_mark.line + 1}: not YAML: {problem}; indent with blanks, close "
            "what is opened, and write one document"
        ) from error
    except RecursionError as error:
        raise InputError(f"{path}: too many brackets within each other; correct it") from error


def _check_node(node: yaml.Node, path: Path, is_json: bool, sizes: dict[int, int]) -> int:
    """How many values a node stands for, with its own aliases written out.

    Each node is looked at once; `sizes` are those of the nodes so far, by their id. Raises as
    `check_files` does, and where there are more than MOST.
    """
    if id(node) not in sizes:
        sizes[id(node)] = MOST  # until it is known: a node may contain itself
        _check_written(node, path, is_json)
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            _check_keys(node, path)
            parts = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            parts = node.value
        size = 1
        for part in parts:
            size += _check_node(part, path, is_json, sizes)
        if size > MOST:
            raise InputError(
                f"{path}:{node.start_mark.line + 1}: more than {MOST} values (an alias counts as "
                "all that it stands for); write fewer"
            )
        sizes[id(node)] = size
    return sizes[id(node)]


def _check_written(node: yaml.Node, path: Path, is_json: bool) -> None:
    """Raise InputError for a tag of another kind, and a value that has two readings."""
    where = f"{path}:{node.start_mark.line + 1}"
    kind = node.tag.removeprefix(STANDARD)
    if kind not in WRITTEN.keys() | OTHERS:
        words = f"{node.value}: a date" if kind == "timestamp" else f"the tag {node.tag}"
        raise InputError(f"{where}: {words} is not accepted; write a text, in quotes")
    if kind == "str" and node.style is None and not is_json and re.fullmatch(EXPONENT, node.value):
        number = f"{float(node.value):.20f}".rstrip("0")
        raise InputError(f"{where}: {node.value}: a text in YAML 1.1; write {number} or use quotes")
    pattern, words = WRITTEN.get(kind, ("", ""))
    if pattern and not re.fullmatch(pattern, str(node.value)):
        raise InputError(
            f"{where}: {node.value}: a form of {kind} that is easily misread; write {words}, or "
            "put it into quotes where it is a text"
        )


def _check_keys(node: yaml.MappingNode, path: Path) -> None:
    """Raise InputError for a key that stands twice: YAML takes the last one and drops the others.

    And for the key by which a file becomes a template, whose expressions Snakemake would run.
    """
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            where = f"{path}:{key.start_mark.line + 1}: {key.value}"
            if key.value in seen:
                raise InputError(f"{where}: a second time; remove one")
            if key.value == TEMPLATE:
                raise InputError(f"{where}: no templates, which run code; remove it")
            seen.add(key.value)
