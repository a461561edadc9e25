"""Names of entries: no two make one path, and none makes a path that a file system refuses."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.parsed_rules import parsed_rules
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity.provenance import record_path
from workflow_scripts.core.run.config import check
from workflow_scripts.core.run.job import PARTIAL

ROOT = Path(__file__).parents[2]
STUDY = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
LONGEST = 64  # characters of a name
NO_DOT = "no dot"
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
        ("corpora.text", ["w", "w.training"], ["'w.training'", NO_DOT]),
        ("corpora.text", ["w", "w.annotation"], ["'w.annotation'", NO_DOT]),
        ("corpora.vectors", ["w.vectors"], ["'w.vectors'", NO_DOT]),
        ("corpora.treebanks", ["mnli.pretrained.1"], ["'mnli.pretrained.1'", NO_DOT]),
        ("corpora.frames", ["wikipedia.shards"], ["'wikipedia.shards'", NO_DOT]),
        ("models", ["atlas.html"], ["models.atlas.html:", "taken by a file or folder of "]),
        ("models", [".hidden"], ["'.hidden'", "letters"]),
        ("models", ["café"], ["'café'", "letters"]),
        ("models", ["cafe\u0301"], ["letters"]),
        ("models", ["BERT", "bert"], ["models.bert:", "taken by models.BERT "]),
        (
            "models",
            ["Figures"],
            ["models.Figures:", "taken by a file or folder of results/<study>/ "],
        ),
        ("corpora.text", ["Wiki", "wiki"], ["corpora.text.Wiki", "corpora.text.wiki"]),
        ("corpora.text", ["Parsed"], ["corpora.text.Parsed", "corpora.treebanks.parsed"]),
        ("corpora.treebanks", ["Mnli"], ["corpora.treebanks.Mnli", "tasks.mnli"]),
        ("corpora.text", [(LONGEST + 1) * "w"], [f"at most {LONGEST}"]),
        ("models", [300 * "m"], [f"at most {LONGEST}"]),
    ],
)
def test_names_that_would_share_a_path_are_refused(
    part: str, names: list[str], words: list[str]
) -> None:
    study = deepcopy(STUDY)
    entries: Any = study
    for key in part.split("."):
        entries = entries[key]
    entries |= {name: next(iter(entries.values())) for name in names}
    with pytest.raises(InputError) as refused:
        check(study, ROOT / "rules/schemas")
    message = str(refused.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("name", ["wiki-103", "ud_en-ewt", "2wiki", "GUM", LONGEST * "w"])
def test_names_in_use_are_accepted(name: str) -> None:
    study = deepcopy(STUDY)
    study["models"][f"{name[:60]}-1.5"] = {"path": "model"}
    study["corpora"]["text"][name] = study["corpora"]["text"]["wikipedia"]
    check(study, ROOT / "rules/schemas")


@pytest.mark.parametrize("long", [{"study": 65 * "s"}, {"requirement": f"{130 * 'p'}==1"}])
def test_other_names_in_paths_are_not_longer_either(long: dict[str, str]) -> None:
    study = deepcopy(STUDY)
    if "requirement" in long:
        study["sdists"]["vader"] |= long
    else:
        study |= long
    with pytest.raises(InputError, match="at most"):
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
