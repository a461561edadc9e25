"""A browser for the session, the pages that it shows, and what no page may do."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.atlas.made_up import made_up
from tests.atlas.made_up_decoder import with_decoder
from tests.atlas.made_up_evidence import with_evidence
from tests.default_study import DEMO, needs_current
from tests.web.browser import installed
from workflow_scripts.atlas.atlas_page import build

WIDE, NARROW = (1280, 900), (390, 844)
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class Study:
    """A page on disk and the atlas that it shows."""

    path: Path
    atlas: dict[str, Any]

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return self.path.as_uri()

    def measures(self, model: str | None = None) -> list[dict[str, Any]]:
        """The measures of a model, by default the first."""
        model = model or self.atlas["models"][0]["name"]
        return [measure for measure in self.atlas["measures"] if measure["model"] == model]

    @property
    def opening(self) -> dict[str, Any]:
        """The measure that the page opens on: the kinds of heads, where there are such."""
        measures = self.measures()
        kinds = [measure for measure in measures if measure["id"] == "behaviour.stratum"]
        return (kinds or measures)[0]


@dataclass
class Opener:
    """Opens pages without a network and keeps what went wrong in them."""

    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __call__(
        self,
        study: Study,
        fragment: str = "",
        size: tuple[int, int] = WIDE,
        scheme: str = "light",
        url: str | None = None,
    ) -> Page:
        """The page of `study` at a fragment, or another `url`, in a window of `size`."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        context.set_default_timeout(10_000)
        context.set_offline(True)
        self.contexts.append(context)
        page = context.new_page()
        address = url or study.url
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        allowed = {address, study.url}
        page.on("request", lambda request: self._request(request.url, allowed))
        page.goto(address + (f"#{fragment}" if fragment else ""))
        if url is None:
            page.wait_for_selector("[data-view]")
        return page

    def close(self) -> None:
        """Close all, and fail where something went wrong."""
        broken = [
            page.url[:200]
            for context in self.contexts
            for page in context.pages
            if page.evaluate("'broken' in window")
        ]
        for context in self.contexts:
            context.close()
        assert broken == [], "a text of the corpus ran as code"
        assert self.problems == []

    def _console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"console {message.type}: {message.text}")

    def _request(self, url: str, allowed: set[str]) -> None:
        # A blob is a file that the page itself made to be saved.
        if url.partition("#")[0] not in allowed and not url.startswith("blob:"):
            self.problems.append(f"request: {url[:200]}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    if os.environ.get("ATLAS_BROWSER") == "none":
        pytest.skip("ATLAS_BROWSER=none: this needs a browser")
    path = installed()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Browser) -> Iterator[Opener]:
    """Opens pages; the test fails where one writes an error, asks for anything or runs a text."""
    opener = Opener(browser)
    yield opener
    opener.close()


@pytest.fixture(scope="session")
def demo() -> Study:
    """The default study's own page."""
    needs_current(DEMO / "atlas.html", "atlas_page")
    needs_current(DEMO / "atlas.json", "atlas_data")
    atlas = json.loads((DEMO / "atlas.json").read_text(encoding="utf-8"))
    return Study(DEMO / "atlas.html", atlas)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Study]:
    """Writes the page of a made-up atlas, once for the same arguments."""

    @cache
    def write(*arguments: Any, **options: Any) -> Study:
        atlas = with_evidence(made_up(*arguments, **options))
        path = tmp_path_factory.mktemp("atlas") / "atlas.html"
        path.write_text(build(atlas), encoding="utf-8")
        return Study(path, atlas)

    return write


@pytest.fixture(scope="session")
def hostile(made: Callable[..., Study]) -> Study:
    """Two models, the second with other tokens, two translators, and texts that would run."""
    return made(4, 3, n_models=2, tokens=30, n_translators=2)


@pytest.fixture(scope="session")
def large(made: Callable[..., Study]) -> Study:
    """As many heads as BERT-large has."""
    return made(24, 16, tokens=48, hostile=False)


@pytest.fixture(scope="session")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """An encoder, and a decoder with as many heads as SmolLM2-135M."""
    atlas = with_evidence(with_decoder())
    path = tmp_path_factory.mktemp("atlas") / "atlas.html"
    path.write_text(build(atlas), encoding="utf-8")
    return Study(path, atlas)


@pytest.fixture(scope="session", params=["demo", "hostile"])
def study(request: pytest.FixtureRequest) -> Study:
    """Each of the small studies."""
    return request.getfixturevalue(request.param)
