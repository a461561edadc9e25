"""Names of entries: no two make one path, and none makes a path that a file system refuses."""

import re
from functools import reduce
from pathlib import Path

import pytest
import yaml

from tests.parsed_rules import parsed_rules
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity.provenance import record_path
from workflow_scripts.core.run.config import check
from workflow_scripts.core.run.job import PARTIAL

ROOT = Path(__file__).parents[2]
LONGEST = 64  # characters of a name
# The longest value of each wildcard; others are names of entries.
VALUES = {
    "family": "bilstm",
    "init": "pretrained",
    "requirement": 128 * "r",
    "run": "pretrained",
    "scatteritem": f"{2**31}-of-{2**31}",
    "seed": str(2**31),
    "task": "mrpc",
    "trained_on": "original",
}


@pytest.mark.parametrize(
    ("part", "names", "words"),
    [
        ("corpora.text", ["w", "w.training"], "'w.training' is not accepted; .*no dot"),
        ("models", ["atlas.html"], r"models\.atlas\.html: .* taken by a file or folder of "),
        ("models", ["BERT", "bert"], r"models\.bert: .* taken by models\.BERT "),
        ("models", ["café"], "'café' is not accepted; accepted: .*letters"),
        ("corpora.text", ["Parsed"], r"corpora\.text\.Parsed: .* corpora\.treebanks\.parsed"),
        ("corpora.treebanks", ["Mnli"], r"corpora\.treebanks\.Mnli: .* tasks\.mnli"),
        ("models", [(LONGEST + 1) * "m"], f"at most {LONGEST}"),
    ],
)
def test_names_that_would_share_a_path_are_refused(part: str, names: list[str], words: str) -> None:
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    entries = reduce(dict.__getitem__, part.split("."), study)
    entries |= {name: next(iter(entries.values())) for name in names}
    with pytest.raises(InputError, match=words):
        check(study, ROOT / "rules/schemas")


def test_the_longest_names_fit_into_every_file_name() -> None:
    """Of products and their records while they are written, of logs and of benchmarks."""
    longest = 0
    for rule in parsed_rules().values():
        products = [Path(filled(path)) for path in rule.output]
        written = [path.with_name(path.name + PARTIAL) for path in map(record_path, products)]
        about = [filled(path) for path in (*rule.log, rule.benchmark or "")]
        for path in [*products, *written, *map(Path, about)]:
            longest = max([longest, *map(len, path.parts)])
    assert 2 * LONGEST < longest <= 255


def filled(path: str) -> str:
    """A path with the longest value of each of its wildcards."""
    return re.sub(r"\{(\w+)[^}]*\}", lambda m: VALUES.get(m[1], LONGEST * "n"), path)
