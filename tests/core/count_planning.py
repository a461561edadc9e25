"""Count how often planning looks at a path: `count_planning.py study.yaml ...`, as JSON.

Next to it what a job would then have in its environment.
"""

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from snakemake.io import _IOFile

from tests.core.plan_studies import plan

LOOKS = ("__hash__", "__eq__", "match")
counted = 0


def counting(look: Callable) -> Callable:
    """The method, counting its calls."""

    @wraps(look)
    def counted_look(*given: Any) -> Any:
        global counted
        counted += 1
        return look(*given)

    return counted_look


if __name__ == "__main__":
    for name in LOOKS:
        setattr(_IOFile, name, counting(getattr(_IOFile, name)))
    counts = []
    for study in map(Path, sys.argv[1:]):
        counted = 0
        plan(study.absolute(), study.parent.absolute())
        counts.append(counted)
    print(json.dumps({"counts": counts, "environment": dict(os.environ)}))
