"""The default study, config.yaml: its model's name, its folder, and what of it is there to test.

Tests that read results/ pass without a study, and with one that is unfinished or older than the
code: they are skipped, and state why. With ATLAS_DEMO=finished, as in CI after `make demo`, they
fail instead.
"""

import os
from pathlib import Path

import pytest
import yaml

from tests.parsed_rules import parsed
from workflow_scripts.core.integrity import provenance

ROOT = Path(__file__).parents[1]
_CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
MODELS = list(_CONFIG["models"])
MODEL = MODELS[0]
RESULTS = f"results/{_CONFIG['study']}"
DEMO = ROOT / RESULTS


def needs(*products: Path) -> None:
    """Skip a test that reads these products of the default study where one is missing."""
    missing = [path.relative_to(ROOT) for path in products if not path.is_file()]
    if missing:
        unfinished(f"{missing[0]} does not exist")


def needs_current(product: Path, rule: str) -> None:
    """Skip a test of a product that other code made, or from other inputs, than are there now.

    By the product's record (docs/internals.md).
    """
    needs(product, provenance.record_path(product))
    record = provenance.read(product)
    changed = [] if record["code"] == parsed()[0].rules[rule].code else ["its script"]
    for name, made_from in record["inputs"].items():
        path = ROOT / name
        if not path.exists() or not provenance.same(provenance.content(path), made_from):
            changed.append(name)
    if changed:
        unfinished(f"{product.relative_to(ROOT)} is older than {changed[0]}")


def unfinished(reason: str) -> None:
    """Skip the test, or fail it where the study is known to be finished."""
    (pytest.fail if os.environ.get("ATLAS_DEMO") == "finished" else pytest.skip)(
        f"the default study is not finished here: {reason}; make demo"
    )
