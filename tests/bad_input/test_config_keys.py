"""Every key of the schema, with every kind of wrong value: one line that names the key.

The keys come from the schema, so that a new one is tried by itself.
"""

import math
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import LARGEST, Strict, check, check_paths
from workflow_scripts.core.run.config_files import check_files

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
ROOT = schema.assemble(SCHEMAS)
BASE = {"study": "made-up", "models": {"tiny": {"path": "models/tiny"}}}
Keys = tuple[str | int, ...]
# A key that the schema lets people name, for each kind of name that it accepts.
NAMES = ("some", "n't")


def keys_of(declared: dict[str, Any], keys: Keys = ()) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Every key below a part of the schema, and its part; 0 is an item of a list."""
    declared = schema.resolve(declared, ROOT)
    if keys:
        yield keys, declared
    for name, part in declared.get("properties", {}).items():
        yield from keys_of(part, (*keys, name))
    if isinstance(declared.get("additionalProperties"), dict):
        yield from keys_of(declared["additionalProperties"], (*keys, NAMES[0]))
    if "items" in declared:
        yield from keys_of(declared["items"], (*keys, 0))


KEYS = dict(keys_of(ROOT))


def stands_in(keys: Keys, line: str) -> bool:
    """Whether a line names a key, with or without its place in lists."""
    names = (".".join(key for key in keys if isinstance(key, str)), ".".join(map(str, keys)))
    return any(name in line for name in names)


def study(keys: Keys, value: Any) -> dict[str, Any]:
    """The smallest study in which `keys` lead to `value`."""
    config: Any = deepcopy(BASE)
    parent = config
    for key, following in zip(keys, (*keys[1:], None), strict=True):
        inner: Any = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(key, int):
            parent.append(inner)
        elif following is None or key not in parent:
            parent[key] = inner
        parent = parent[key]
    return config


def wrong_values(declared: dict[str, Any]) -> Iterator[Any]:
    """Values that a part of the schema must refuse."""
    kind = declared.get("type")
    yield from (None, math.nan, math.inf, -math.inf, 10**30, -(10**30), 10**5000)
    yield from ([[]], [None], {"a": {}}, {1: 2}, b"bytes")
    if kind != "string":
        yield from ("no such value", "")
    if kind == "string":
        yield from (5, 1.5, True, "a\0b", "a\x1b[31m", "\ud800")
        if not declared.get("multiline"):
            yield "a\nb"
    if kind == "integer":
        yield from (1.5, 5.0, True, LARGEST + 1, "5")
    if kind == "number":
        yield from (True, "0.5", 1e400)
    if kind == "boolean":
        yield from (0, 1, "yes", "true")
    if kind in ("array", "object"):
        yield from (5, 0.5, False)
    if "minimum" in declared:
        yield declared["minimum"] - 1
    if "exclusiveMinimum" in declared:
        yield from (declared["exclusiveMinimum"], declared["exclusiveMinimum"] - 1)
    if "maximum" in declared:
        yield declared["maximum"] + 1
    if "exclusiveMaximum" in declared:
        yield declared["exclusiveMaximum"]
    if "pattern" in declared:
        yield from ("", "../up", "a b", "a/b/c", "$(x)", "a\n")
    if "enum" in declared:
        yield from (str(declared["enum"][0]).upper() + "x", 5, True)
    if declared.get("minItems"):
        yield []
    if declared.get("uniqueItems") and "default" in declared:
        yield declared["default"][:1] * 2
    if declared.get("format") in ("path", "data-path", "sdist"):
        yield from ("", "  ")


@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: ".".join(map(str, keys)))
def test_every_wrong_value_of_a_key_is_one_line(keys: Keys) -> None:
    declared = KEYS[keys]
    for value in wrong_values(declared):
        if _accepted(declared, value):
            continue
        with pytest.raises(InputError) as error:
            check(study(keys, value), SCHEMAS)
        line = str(error.value)
        assert line.startswith("config: ")
        assert stands_in(keys, line), (value, line)
        assert "\n" not in line
        assert len(line) < 1100


def test_every_size_has_a_maximum_that_a_machine_can_meet() -> None:
    sizes = {keys: part for keys, part in KEYS.items() if part.get("type") == "integer"}
    without = {keys for keys, part in sizes.items() if part.get("maximum", LARGEST) > 10**8}
    without -= {keys for keys in without if any("seed" in str(name) for name in keys)}
    assert not without, f"no maximum of at most 10**8 in the schema: {without}"
    assert len(sizes) > 60
    for keys in [keys for keys in sizes if keys[-1] == "bootstrap"]:
        with pytest.raises(
            InputError, match=f"{keys[-1]}: {LARGEST} is too large; .* most 10000\\b"
        ):
            check(study(keys, LARGEST), SCHEMAS)


def _accepted(declared: dict[str, Any], value: Any) -> bool:
    """Whether a list or mapping that is wrong for most keys is right for this one."""
    if declared.get("type") == "array":
        return value == [] or (value == [[]] and "items" not in declared)
    return declared.get("type") == "object" and value == {}


@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: ".".join(map(str, keys)))
def test_the_default_of_a_key_is_no_error(keys: Keys) -> None:
    if "default" in KEYS[keys]:
        errors = Strict(ROOT).iter_errors(study(keys, KEYS[keys]["default"]))
        assert [error for error in errors if tuple(error.absolute_path)[: len(keys)] == keys] == []


@pytest.mark.parametrize(
    "keys",
    [keys for keys in KEYS if isinstance(keys[-1], str) and keys[-1] not in NAMES],
    ids=lambda keys: ".".join(map(str, keys)),
)
def test_a_misspelt_key_is_one_line(keys: Keys) -> None:
    *parents, last = keys
    parent = KEYS[tuple(parents)] if parents else ROOT
    if parent.get("additionalProperties") is not False:
        return
    with pytest.raises(InputError) as error:
        check(study((*parents, f"{last}x"), 1), SCHEMAS)
    assert stands_in((*parents, f"{last}x: unknown key; accepted: "), str(error.value))
    assert last in str(error.value)


@pytest.mark.parametrize(
    "keys",
    [keys for keys, part in {(): ROOT, **KEYS}.items() if part.get("required")],
    ids=lambda keys: ".".join(map(str, keys)) or "study",
)
def test_a_missing_key_is_one_line(keys: Keys) -> None:
    part = KEYS[keys] if keys else ROOT
    for name in part["required"]:
        config = study(keys, {}) if keys else {key: BASE[key] for key in BASE if key != name}
        others = {other: "x" for other in part["required"] if other != name}
        if keys:
            config = study(keys, others)
        with pytest.raises(InputError) as error:
            check(config, SCHEMAS)
        line = str(error.value)
        assert stands_in((*keys, name), line) or stands_in(keys, line)
        assert "\n" not in line


def test_a_config_that_contains_itself_is_one_line(tmp_path: Path) -> None:
    text = "study: s\nmodels: &m {tiny: {path: p}, more: *m}\n"
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"study.yaml:2: more than 100000 values"):
        check_files([tmp_path / "study.yaml"])
    with pytest.raises(InputError, match=r"config: models.more.more.*keys within each other"):
        check(yaml.safe_load(text), SCHEMAS)


@pytest.mark.parametrize("key", [1, True, None, 1.5, "a\n", "a\tb", "", "a b", "../x", "-a"])
@pytest.mark.parametrize("part", [("models",), ("corpora", "text"), ("sdists",)])
def test_a_name_that_is_none_is_one_line(part: Keys, key: Any) -> None:
    config = study(part, {key: {"path": "p"}} if part != ("sdists",) else {key: {}})
    with pytest.raises(InputError) as error:
        check(config, SCHEMAS)
    assert str(error.value).startswith(f"config: {'.'.join(map(str, part))}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["a{b}.txt", "<a>.txt", "{"])
def test_a_path_that_snakemake_would_fill_in_is_one_line(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / name).write_text("Text.\n", encoding="utf-8")
    for path in (folder, folder / name):
        config = study(("corpora", "text", "mine"), {"path": str(path)})
        config["models"]["tiny"]["path"] = str(tmp_path)
        with pytest.raises(InputError, match=r"corpora.text.mine.path: .*rename it without them"):
            check_paths(check(config, SCHEMAS), SCHEMAS)
