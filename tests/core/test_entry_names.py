"""Names of entries: no two make one path, and none is too long for a file."""

from functools import reduce
from pathlib import Path

import pytest
import yaml

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[2]
LONGEST = 64  # characters of a name


@pytest.mark.parametrize(
    ("part", "names", "words"),
    [
        ("corpora.text", ["w", "w.training"], "'w.training' is not accepted; .*no dot"),
        ("models", ["atlas.html"], r"models\.atlas\.html: .* taken by a file or folder of "),
        ("models", ["BERT", "bert"], r"models\.bert: .* taken by models\.BERT "),
        ("corpora.text", ["Parsed"], r"corpora\.text\.Parsed: .* corpora\.treebanks\.parsed"),
        ("models", [(LONGEST + 1) * "m"], f"at most {LONGEST}"),
    ],
)
def test_names_that_would_share_a_path_are_refused(part: str, names: list[str], words: str) -> None:
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    entries = reduce(dict.__getitem__, part.split("."), study)
    entries |= {name: next(iter(entries.values())) for name in names}
    with pytest.raises(InputError, match=words):
        check(study, ROOT / "rules/schemas")
