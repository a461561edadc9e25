"""No key of a source is dropped: it is passed on as part of the source, or a rule reads it."""

import ast
import re
from pathlib import Path

import pytest

from workflow_scripts.core.run import schema

ROOT = Path(__file__).parents[2]
RULES = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
# The tables of entries in rules/common.smk, each with its definition in the schema.
TABLES = {
    "TEXTS": "text",
    "TREEBANKS": "treebank",
    "COREFERENCE": "coreference",
    "FRAMES": "frames",
    "VECTORS": "vectors",
    "TASKS": "task",
    "ARCT": "arct",
}
CALL = re.compile(r'source=(?:source|without)\((\w+), (?:"\w+", )?([^\n]+)\),\n')


def settings(table: str) -> tuple[str, ...]:
    """The keys that are not passed on as part of the source."""
    calls = [match[2] for match in CALL.finditer(RULES) if match[1] == table]
    assert len(calls) == 1, f"{table}: expected one rule that reads the source, not {len(calls)}"
    text = calls[0]
    if text.isupper():
        text = re.search(rf"^{text} = (.+)$", RULES, re.MULTILINE)[1]
    return ast.literal_eval(text)


@pytest.mark.parametrize("table", TABLES)
def test_a_key_that_is_no_part_of_the_source_is_read_by_a_rule(table: str) -> None:
    known = schema.assemble(ROOT / "rules/schemas")["$defs"][TABLES[table]]["properties"]
    keys = settings(table)
    assert keys
    assert set(keys) <= known.keys()
    for key in keys:
        looked_up = rf'lookup\("\{{\w+\}}/{key}", within=(?:{table}|CORPORA)\)'
        read = rf'{looked_up}|{table}(?:\["{key}"\]|\.get\("{key}")'
        assert re.search(read, RULES), f"{TABLES[table]}: no rule reads {key}"
