"""The benchmark of the atlas finds on the page what it times."""

import importlib
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.web.conftest import Study

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_a_recolouring_is_seen_for_each_measure(
    browser: Browser, hostile: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))  # as Python does for a script
    benchmark = importlib.import_module("atlas")
    paint, colours = benchmark.timed(browser, hostile.path)
    assert paint["content"] > 0
    shown = min(len(hostile.measures()), benchmark.MEASURES)
    assert shown - 1 <= len(colours) <= benchmark.MEASURES
    assert min(colours) > 0
