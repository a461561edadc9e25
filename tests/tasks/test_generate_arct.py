"""The generator of points with a planted cue."""

import json
from pathlib import Path

from tests.tasks.arct_builders import run
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import generate_arct


def test_generated_points_are_reasoned_and_repeatable(tmp_path: Path) -> None:
    """The right warrant names a good effect where the claim supports the plan, else a bad one."""
    numbers = {"train": 60, "dev": 20, "test": 20, "productivity": 0.9, "coverage": 0.7}
    for name in ("one", "two"):
        call(generate_arct.main, {"generated": tmp_path / name, "numbers": numbers, "seed": 4})
    for path in (tmp_path / "one").rglob("*.*"):
        assert (
            path.read_bytes()
            == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
        )
    meanings = {}
    for good, pairs in generate_arct.PHRASES.items():
        for plain, negated in pairs:
            meanings |= {plain: good, negated: not good}
    short = {f"{new} ": f"{old} " for old, new in generate_arct.CONTRACTED.items()}
    frame, _ = run(tmp_path, tmp_path / "one")
    for row in frame[frame["version"] != "swapped"].itertuples():
        for number, text in enumerate((row.warrant0, row.warrant1)):
            for new, old in short.items():
                text = text.replace(new, old)
            [good] = {
                value
                for phrase, value in meanings.items()
                if text.endswith(f" {phrase}")
                and text.removesuffix(f" {phrase}") in generate_arct.EFFECTS
            }
            supports = "should not" not in row.claim
            assert (good == supports) == (number == row.label)
    planted = json.loads((tmp_path / "one/planted.json").read_text())
    assert planted["train"] == {"applicable": 42, "productive": 38}
