"""Made-up studies and the verdicts on them, each made once for all tests of a process."""

import tempfile
from functools import cache
from pathlib import Path

import pandas as pd

from tests.claims.judged import judged
from tests.claims.made_up_study import MODEL, made_up_study


@cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory()  # removed as the process ends


@cache
def results_of(*seeds: int) -> Path:
    """The results of a made-up study of these seeds; tests must not change them."""
    return made_up_study(Path(_folder().name, "-".join(map(str, seeds))), seeds)


def verdicts_on(*seeds: int) -> pd.DataFrame:
    """The claims table of that study, a copy that a test may change."""
    return _verdicts(seeds).copy()


@cache
def _verdicts(seeds: tuple[int, ...]) -> pd.DataFrame:
    results = results_of(*seeds)
    return judged(results, MODEL, results.parent)
